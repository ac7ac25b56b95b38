package sim

import (
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// relax ends the faults of the networks; from now on operators clear up.
func (x *wallets) relax() {
	x.calm = true
	for _, n := range x.networks {
		n.recover()
		want(n.node.Restore(), "restoring what was dropped")
	}
}

// goOn makes one step towards the end: of the wallet, the chain, or an operator who
// releases payments. Prices still rise and fall: most withdrawals are paid here, and what waits must be outbid, or
// paid once the spike is over.
func (x *wallets) goOn(n *network) {
	w := x.world
	if x.rewrite(n) {
		return
	}
	switch x.chance.Below(12) {
	case 0:
		n.mine(1)
	case 1:
		if s := w.process.board.State(n.id); s.Stopped() {
			x.pause(n, false)
		}
	case 2:
		x.thaw(n)
	case 3:
		x.approve()
	case 4:
		x.release()
	case 5:
		n.spike(x.chance)
	default:
		x.step(n)
	}
}

// thaw unfreezes the account of an unpaid withdrawal.
func (x *wallets) thaw(n *network) {
	d := x.among(func(d *bourse.Withdrawal) bool {
		return (d.Network == n.id || d.Transfer()) && (d.Open() || d.Unsigned())
	})
	if d != nil {
		x.ask(&bourse.Command{Kind: bourse.CommandFreezeAccount, Account: d.Account}, false)
	}
}

// approve approves a withdrawal that needs a new approval because its account was frozen
// meanwhile.
func (x *wallets) approve() {
	d := x.among(func(d *bourse.Withdrawal) bool { return d.Open() && !d.Approved && d.NotBefore == 0 })
	if d != nil {
		x.ask(&bourse.Command{
			Kind: bourse.CommandDecideWithdrawal, On: true, Wallet: &bourse.WalletCommand{ID: d.ID},
		}, false)
	}
}

// release gives up a withdrawal for which the signer can sign nothing more.
func (x *wallets) release() {
	d := x.among(func(d *bourse.Withdrawal) bool { return x.rivals[d.ID] && d.Unsigned() })
	if d != nil {
		x.ask(&bourse.Command{
			Kind: bourse.CommandReleaseWithdrawal, Wallet: &bourse.WalletCommand{ID: d.ID},
		}, false)
	}
}

// settled reports whether every withdrawal is final, every deposit that needs no operator
// is credited, and the exchange is at the tip of every network.
func (x *wallets) settled() bool { return x.open() == "" }

// open names one thing that is not settled.
func (x *wallets) open() string {
	for _, n := range x.networks {
		if n.rewriting.phase != neverRewritten {
			return fmt.Sprintf("the chain of network %d is rewritten", n.id)
		}
		if open := n.left(); open != "" {
			return open
		}
	}
	for d := range x.world.truth.pair.Oracle.Withdrawals {
		if d.Status != bourse.WalletDone && d.Status != bourse.WalletCanceled && !x.stranded(d) {
			return fmt.Sprintf("withdrawal %+v", *d)
		}
	}
	for d := range x.world.truth.pair.Oracle.Deposits {
		if d.Status == bourse.WalletPending && (!d.Mined || !d.NeedsOperator()) {
			return fmt.Sprintf("deposit %+v", *d)
		}
	}
	return ""
}

// left names one thing that a network's wallet has not done yet.
func (n *network) left() string {
	p := n.world.process
	if s, h := p.board.State(n.id), p.worker(n).Health(); s.Tip != n.node.Head() || s.Part != 0 || !h.Operating {
		return fmt.Sprintf("network %d is at %+v, its chain at %+v, with %+v", n.id, s, n.node.Head(), h)
	}
	for _, d := range p.board.Unsigned(n.id) {
		if !d.Signed || !n.rough {
			return fmt.Sprintf("withdrawal %+v is not signed", d)
		}
	}
	for _, s := range p.board.Signed(n.id) {
		if s.State != bourse.SignedMined && !n.rough {
			return fmt.Sprintf("transaction %x of withdrawal %d, %d, is not mined", s.Tx, s.Wallet, s.State)
		}
	}
	return ""
}

// stranded reports whether a withdrawal was signed on a network that reorganised beyond
// its confirmations: its inputs may be gone for good, which only an operator can resolve.
func (x *wallets) stranded(d *bourse.Withdrawal) bool {
	return d.Network != 0 && x.networks[d.Network-1].rough && d.Signed
}

// check compares the ledger with each chain whose last block the exchange has just
// processed (I10).
func (x *wallets) check() {
	for _, n := range x.networks {
		s := x.world.process.board.State(n.id)
		if s.Part == 0 && s.Tip != n.checked && s.Tip == n.node.Head() {
			n.checked = s.Tip
			n.checkOwned()
		}
	}
}

func (n *network) checkOwned() {
	e := n.world.process.engine
	owned, owes := map[bourse.AssetID]bourse.Amount{}, map[bourse.AssetID]bourse.Amount{}
	e.Owned(n.id, func(a bourse.AssetID, amount bourse.Amount) { owned[a] = amount })
	e.Holdings(func(bourse.Balance) {}, func(a bourse.AssetID, account bourse.AccountID, owed, _ bourse.Amount) {
		if account == bourse.NetworkAccount(n.id) {
			owes[a] = owed
		}
	})

	for i := range n.listed {
		l := &n.listed[i]
		var sum bourse.Amount
		for _, address := range n.addresses() {
			has := n.has(address, l)
			sum = sum.Plus(has)
		}
		if owned[l.asset] != sum || owes[l.asset] != sum {
			fail("at height %d of %s the chain says %s of %s, custody %s, the ledger %s",
				n.node.Head().Height, n.params.Symbol, sum.Format(0), l.contract,
				owned[l.asset].Format(0), owes[l.asset].Format(0))
		}
	}
	n.world.count(ChainCompared)
}

// has returns an address's balance in ledger units, without what no block showed.
func (n *network) has(address string, l *listed) bourse.Amount {
	units, err := n.node.Balance(address, l.contract)
	want(err, "a balance")
	a, _ := units.Minus(n.node.Hidden(address, l.contract)).Mul(l.unit)
	return a
}

// addresses returns every address of the exchange that receives payments.
func (n *network) addresses() []string {
	list := slices.Clone(n.colds)
	for _, index := range []uint32{chain.IndexHot, chain.IndexChange, 1, 2, 3, 4, 5, 6, 7, 8} {
		if address := n.codec.Destination(index).Address; !slices.Contains(list, address) {
			list = append(list, address)
		}
	}
	return list
}

// checkBoard compares the wallets' board with one that never restarted.
func (x *wallets) checkBoard(got, wanted *wallet.Board) {
	for _, n := range x.networks {
		if is, was := got.State(n.id), wanted.State(n.id); is != was {
			fail("the board shows of network %d %+v, and it was %+v", n.id, is, was)
		}
		if is, was := got.Signed(n.id), wanted.Signed(n.id); !deepEqual(is, was) {
			fail("the board shows of network %d the transactions %+v, and they were %+v", n.id, is, was)
		}
		if is, was := got.Unsigned(n.id), wanted.Unsigned(n.id); !slices.Equal(is, was) {
			fail("the board shows of network %d the withdrawals %+v, and they were %+v", n.id, is, was)
		}
	}
}

// checkPaid compares withdrawals with the payments on the chain (I9). A request repeated
// a day later, when its key is forgotten, is another withdrawal to the same address.
func (x *wallets) checkPaid() {
	due := map[string]bourse.Amount{}
	for d := range x.world.truth.pair.Oracle.Withdrawals {
		switch {
		case d.Status != bourse.WalletDone || d.Refunded: // released after the network took its given up transaction
		case d.Transfer():
			x.world.count(TransferPaid)
		case d.Internal == 0:
			due[d.Address] = due[d.Address].Plus(d.Amount)
		}
	}

	for d := range x.world.truth.pair.Oracle.Withdrawals {
		if d.Internal != 0 {
			continue
		}

		n := x.networks[d.Network-1]
		at := slices.IndexFunc(n.listed, func(l listed) bool { return l.asset == d.Asset })
		got := n.has(d.Address, &n.listed[at])

		switch {
		case d.Status == bourse.WalletDone && !d.Refunded && got == due[d.Address]:
			x.world.count(WithdrawalPaid)
		case x.stranded(d) && got.IsZero():
		case (d.Status == bourse.WalletCanceled || d.Refunded) && got == due[d.Address]:
			x.world.count(WithdrawalCanceled)
		default:
			fail("withdrawal %d of %s has status %d, and the chain paid %s: %+v",
				d.ID, d.Amount.Format(0), d.Status, got.Format(0), *d)
		}
	}

	for d := range x.world.truth.pair.Oracle.Deposits {
		if d.Status == bourse.WalletDone && d.From == 0 {
			x.world.count(DepositCredited)
		}
	}
}
