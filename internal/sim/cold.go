package sim

import (
	"slices"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
)

// cold is a request of an operator about cold storage: an order to move money there, a transaction from there that people
// signed, or the end of either. What was given up may be mined still.
func (x *wallets) cold(n *network, l *listed) {
	about := &bourse.WalletCommand{Network: n.id}
	switch x.chance.Below(6) {
	case 0:
		x.ask(&bourse.Command{Kind: bourse.CommandCool, Wallet: about}, false)
	case 1:
		x.ask(&bourse.Command{Kind: bourse.CommandWarm, Wallet: about}, false)
	case 2, 3:
		if s := n.thawed(l); s != nil {
			x.ask(&bourse.Command{Kind: bourse.CommandWarm, On: true, Wallet: &bourse.WalletCommand{Signed: s}}, false)
		}
	default:
		amount := l.ledger(l.least + x.chance.Below(100*l.least))
		x.ask(&bourse.Command{Kind: bourse.CommandCool, On: true, AssetID: l.asset, Amount: amount, Wallet: about}, false)
	}
}

// thawed returns a transaction that moves all of a coin's free outputs from cold storage to the hot wallet, and outbids
// those that were given up; nil if there are none, or the node does not tell the price.
func (n *network) thawed(l *listed) *bourse.SignedTx {
	if !n.params.Shape.Outputs {
		return nil
	}
	board, first := n.world.process.board, n.codec.Shape().Cold
	outputs := slices.DeleteFunc(board.FreeCold(n.id, first), func(u bourse.Unspent) bool { return u.Asset != l.asset })
	if len(outputs) == 0 {
		return nil
	}
	slices.SortFunc(outputs, func(a, b bourse.Unspent) int { return a.Tx.Compare(b.Tx) })

	keys := devnet.NewKeys(n.params, coldSeed)
	people := devnet.NewClient(n.params, keys.Public(), wire{n}, devnet.ClientOptions{Timeout: time.Hour})
	p := &chain.Payment{ // of theirs, which is one from cold storage to the exchange
		Kind: bourse.SignedCool, Coin: l.contract, To: n.codec.Destination(chain.IndexHot), CostCap: bourse.Units(1 << 62),
	}
	s := &bourse.SignedTx{Network: n.id, Kind: bourse.SignedWarm}
	for _, u := range outputs {
		units, _ := u.Amount.Div64(l.unit)
		s.Inputs = append(s.Inputs, u.Outpoint)
		p.Inputs = append(p.Inputs, chain.Input{Outpoint: u.Outpoint, Owner: u.Address - first, Coin: l.contract, Amount: units})
		p.Amount = p.Amount.Plus(units)
	}
	for _, old := range board.GivenUpWarms(n.id, uint64(l.confirms)) {
		p.Replaces = append(p.Replaces, old.Raw)
	}

	fees, err := people.Outbid(n.world.ctx, l.contract, p.Replaces)
	left, enough := p.Amount.Sub(fees.Of(len(p.Inputs)))
	if err != nil || !enough || left.IsZero() {
		return nil
	}
	p.Amount = left
	u, err := people.Prepare(n.world.ctx, p)
	if err != nil {
		return nil
	}
	s.Raw, s.Tx, err = keys.Sign(u.Raw)
	want(err, "signing for cold storage")
	s.Cost = bourse.AssetAmount{Asset: l.asset, Amount: l.ledger(u.Cost.Lo)}
	return s
}

// noteMoves counts moves to and from cold storage: those from there, those that were given up, and those of them that
// blocks have. One that was given up is no theft, whose sign is the halt of its network.
func (w *world) noteMoves(ev *bourse.Events) {
	for i := range ev.Wallet.Signed {
		s := &ev.Wallet.Signed[i]
		switch {
		case s.Kind != bourse.SignedCool && s.Kind != bourse.SignedWarm:
		case s.State == bourse.SignedDropped:
			w.wallets.ended[s.Tx] = true
			w.count(MoveEnded)
		case s.State == bourse.SignedMined && w.wallets.ended[s.Tx]:
			w.count(EndedMoveMined)
			if n := w.wallets.networks[s.Network-1]; !n.rough && n.stolen(ev) {
				fail("the network %d halts as after a theft, by the move %x", n.id, s.Tx)
			}
		case s.State == bourse.SignedMined && s.Kind == bourse.SignedWarm:
			w.count(Warmed)
		}
	}
}

// stolen reports whether events show the network halted for a foreign transaction.
func (n *network) stolen(ev *bourse.Events) bool {
	return slices.ContainsFunc(ev.Wallet.Networks, func(s bourse.NetworkState) bool {
		return s.Network == n.id && s.Halted == bourse.HaltStrangeSpend
	})
}
