package wallet_test

import (
	"context"
	"log/slog"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// step lets a worker do a piece, through a crash if one comes.
func (w *world) step(n *network) (more bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(crashed); !ok {
				panic(r)
			}
			w.restart()
			more = true
		}
	}()
	more, err := n.worker.Step(w.tb.Context())
	if err != nil {
		w.tb.Fatalf("network %d: %v", n.id, err)
	}
	return more
}

// settle lets the workers work until there is nothing more to do.
func (w *world) settle() {
	for _, n := range w.networks {
		for i := 0; w.step(n); i++ {
			if i > 1000 {
				w.tb.Fatalf("network %d never comes to rest", n.id)
			}
		}
	}
}

// mine puts blocks on a chain one by one, and lets the exchange see each.
func (w *world) mine(id bourse.NetworkID, blocks int) {
	w.tb.Helper()
	for range blocks {
		w.now += bourse.Second
		if _, err := w.network(id).node.Mine(1); err != nil {
			w.tb.Fatal(err)
		}
		w.settle()
	}
}

// pay sends money from outside to an account, in the network's units.
func (w *world) pay(l *listing, account bourse.AccountID, amounts ...uint64) chain.Hash {
	w.tb.Helper()
	n := w.network(l.network)
	to := n.client.Destination(uint32(account))
	var pays []chain.Pay
	for _, units := range amounts {
		pays = append(pays, chain.Pay{To: to, Coin: l.coin(), Amount: bourse.Units(units)})
	}
	hash, err := n.node.Send(pays...)
	if err != nil {
		w.tb.Fatal(err)
	}
	return hash
}

// credit hands out money that the exchange backs by its own.
func (w *world) credit(l *listing, account bourse.AccountID, units uint64) {
	w.must(bourse.Command{Kind: bourse.CommandCredit, Account: account, AssetID: l.asset, Amount: l.ledger(units)})
}

// withdraw asks for a payment to an address that nobody else is paid to.
func (w *world) withdraw(l *listing, account bourse.AccountID, units uint64) (bourse.WalletID, bourse.Reason) {
	w.tb.Helper()
	address, err := w.network(l.network).node.NewAddress()
	if err != nil {
		w.tb.Fatal(err)
	}
	asked := &bourse.Withdraw{Network: l.network, Asset: l.asset, Amount: l.ledger(units), Fee: l.ledger(l.fee), Address: address}
	out := w.commit(&bourse.Command{Kind: bourse.CommandWithdraw, Account: account, Wallet: &bourse.WalletCommand{Withdraw: asked}})
	if out.Reason == 0 {
		w.outside[bourse.WalletID(out.ID)] = address
	}
	return bourse.WalletID(out.ID), out.Reason
}

func (w *world) mustWithdraw(l *listing, account bourse.AccountID, units uint64) bourse.WalletID {
	w.tb.Helper()
	id, reason := w.withdraw(l, account, units)
	if reason != 0 {
		w.tb.Fatalf("a withdrawal of %s was refused: %s", l.symbol, reason)
	}
	return id
}

func (w *world) cancel(id bourse.WalletID) bourse.Reason {
	return w.commit(&bourse.Command{
		Kind: bourse.CommandCancelWithdrawal, Account: w.withdrawals[id].Account, Wallet: &bourse.WalletCommand{ID: id},
	}).Reason
}

func (w *world) pause(id bourse.NetworkID, on bool) {
	w.must(bourse.Command{Kind: bourse.CommandPauseWithdrawals, On: on, Wallet: &bourse.WalletCommand{Network: id}})
}

func (w *world) freeze(account bourse.AccountID, on bool) {
	w.must(bourse.Command{Kind: bourse.CommandFreezeAccount, Account: account, On: on})
}

// paid returns what arrived of a withdrawal on the chain, in ledger units.
func (w *world) paid(id bourse.WalletID) bourse.Amount {
	w.tb.Helper()
	d := w.withdrawals[id]
	l := listed(d.Network, d.Asset)
	has, err := w.network(d.Network).node.Balance(w.outside[id], l.coin())
	if err != nil {
		w.tb.Fatal(err)
	}
	scaled, _ := has.Mul(l.unit)
	return scaled
}

func listed(n bourse.NetworkID, a bourse.AssetID) *listing {
	for i := range listings {
		if listings[i].network == n && listings[i].asset == a {
			return &listings[i]
		}
	}
	return nil
}

// wants fails unless a withdrawal has a status and the chain shows its payment,
// or none.
func (w *world) wants(id bourse.WalletID, status bourse.WalletStatus, paid bool) {
	w.tb.Helper()
	d, got := w.withdrawals[id], w.paid(id)
	want := bourse.Amount{}
	if paid {
		want = d.Amount
	}
	if d.Status != status || got != want {
		w.tb.Fatalf("withdrawal %d has status %d, not %d, and the chain paid %s, not %s",
			id, d.Status, status, got.Format(0), want.Format(0))
	}
}

// deposit returns the deposit of a transaction's output.
func (w *world) deposit(tx chain.Hash, index uint32) bourse.Deposit {
	w.tb.Helper()
	for _, d := range w.deposits {
		if d.Tx == tx && d.Index == index {
			return d
		}
	}
	w.tb.Fatalf("output %d of %x is no deposit", index, tx)
	return bourse.Deposit{}
}

func (w *world) balance(account bourse.AccountID, asset bourse.AssetID) bourse.Amount {
	b := w.engine.Balance(account, asset)
	return b.Available.Plus(b.Held)
}

// finish wants that everything comes to a good end once nothing goes wrong any
// more: each withdrawal is paid once or not at all, and everybody has what he
// was given less what he took out.
func (w *world) finish() {
	w.tb.Helper()
	for _, n := range w.networks {
		n.faults.Clear()
		n.faults.Start()
		n.node.Lag(0, false)
		if err := n.node.Restore(); err != nil {
			w.tb.Fatal(err)
		}
		w.pause(n.id, false)
	}
	for account := range bourse.AccountID(people) {
		w.freeze(account+1, false)
	}
	w.settle()
	for range 12 {
		for _, n := range w.networks {
			if s := w.board.State(n.id); s.Stopped() { // a late consequence of a deep reorganisation
				w.pause(n.id, false)
			}
			w.mine(n.id, 1)
		}
	}
	for _, n := range w.networks {
		if h := n.worker.Health(); !h.Operating || w.board.State(n.id).Tip != n.node.Head() {
			w.tb.Fatalf("network %d: %+v at %+v", n.id, h, w.board.State(n.id))
		}
		w.checkOwned(n)
	}
	w.account()
	hash := w.engine.StateHash()
	w.replay()
	if w.engine.StateHash() != hash {
		w.tb.Fatal("the journal tells another story")
	}
}

// account holds statuses, the chain and balances against each other.
func (w *world) account() {
	w.tb.Helper()
	want := map[place]bourse.Amount{}
	for at, amount := range w.handed {
		want[at] = amount
	}
	for _, d := range w.deposits {
		if d.Status == bourse.WalletDone {
			at := place{d.Account, d.Asset}
			want[at] = want[at].Plus(d.Amount)
		}
	}
	for id, d := range w.withdrawals {
		at := place{d.Account, d.Asset}
		if d.Status == bourse.WalletDone {
			want[at] = want[at].Minus(d.Amount.Plus(d.Fee))
		}
		if d.Internal != 0 {
			continue
		}
		got := w.paid(id)
		switch {
		case d.Status == bourse.WalletDone && got == d.Amount:
		case d.Status == bourse.WalletDone && w.rough && got.IsZero():
		case d.Status != bourse.WalletDone && got.IsZero():
		default:
			w.tb.Fatalf("withdrawal %d of %s has status %d and the chain paid %s: %+v", id, d.Amount.Format(0), d.Status, got.Format(0), d)
		}
	}
	for account := bourse.AccountID(1); account <= people; account++ {
		for i := range listings {
			at := place{account, listings[i].asset}
			if got := w.balance(at.account, at.asset); got != want[at] {
				w.tb.Fatalf("account %d has %s of %s, and should have %s", account, got.Format(0), listings[i].symbol, want[at].Format(0))
			}
		}
	}
}

// reasons keeps the reasons of log lines.
type reasons struct {
	slog.Handler
	list *[]string
}

func (r reasons) Enabled(context.Context, slog.Level) bool { return true }

func (r reasons) Handle(_ context.Context, line slog.Record) error {
	line.Attrs(func(a slog.Attr) bool {
		if a.Key == "reason" {
			*r.list = append(*r.list, a.Value.String())
		}
		return true
	})
	return nil
}

// Outbid passes a question on.
func (e eye) Outbid(ctx context.Context, coin chain.CoinID, replaces [][]byte) (chain.Fees, error) {
	e.w.outbids = append(e.w.outbids, len(replaces))
	return e.Network.Outbid(ctx, coin, replaces)
}
