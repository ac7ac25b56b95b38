package wallet_test

import (
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

func ofOutputs(l *listing) bool { return l.outputs() }

// keeping starts the exchange again with a hot wallet of one large output, and a number of outputs below which change
// is split.
func (w *world) keeping(l *listing, outputs int) {
	w.tb.Helper()
	w.drain(l)
	w.outputs = outputs
	w.restart()
	w.pay(l, 1, 20_000*l.least)
	w.mine(l.network, int(l.confirms))
}

// changes returns the number of outputs of change of a withdrawal's transaction.
func (w *world) changes(l *listing, id bourse.WalletID) (count int) {
	w.tb.Helper()
	n := w.network(l.network)
	d, err := n.client.Decode(w.signed(l, w.withdrawals[id].Tx).Raw)
	if err != nil {
		w.tb.Fatal(err)
	}
	for _, p := range d.Pays {
		if p.To == n.client.Destination(chain.IndexChange) {
			count++
		}
	}
	return count
}

// mined counts the withdrawals that one more block pays.
func (w *world) mined(l *listing, ids []bourse.WalletID) (count int) {
	w.tb.Helper()
	before := map[bourse.WalletID]bool{}
	for _, id := range ids {
		before[id] = !w.paid(id).IsZero()
	}
	w.mine(l.network, 1)
	for _, id := range ids {
		if !before[id] && !w.paid(id).IsZero() {
			count++
		}
	}
	return count
}

// TestChangeIsSplit pays one withdrawal. Its change is split, so that the next block has many, and change is split no
// more.
func TestChangeIsSplit(t *testing.T) {
	eachThat(t, ofOutputs, func(t *testing.T, w *world, l *listing) {
		w.keeping(l, 30)
		first := w.mustWithdraw(l, 1, 10*l.least)
		w.settle()
		if got := w.changes(l, first); got < 20 || got > 30 {
			t.Errorf("%d outputs of change", got)
		}
		second := w.mustWithdraw(l, 1, 10*l.least) // the first one's change counts already
		w.settle()
		if tx := w.withdrawals[second].Tx; tx != (bourse.TxHash{}) && w.changes(l, second) > 2 {
			t.Errorf("%d outputs of change beside those that wait", w.changes(l, second))
		}
		w.mine(l.network, 2)

		var ids []bourse.WalletID
		for range 25 {
			ids = append(ids, w.mustWithdraw(l, 1, l.least))
		}
		w.settle()
		for _, id := range ids {
			if got := w.changes(l, id); got > 2 {
				t.Errorf("%d outputs of change, and there are enough", got)
			}
		}
		if got := w.mined(l, ids); got != len(ids) {
			t.Errorf("a block paid %d of %d", got, len(ids))
		}
		if got := len(w.board.Unspent(l.network)); got < 30 || got > 50 {
			t.Errorf("%d outputs", got)
		}
		w.finish()
	})
}

// TestChangeForAllThatWait asks for more withdrawals than outputs are kept. The first block splits change for all of
// them.
func TestChangeForAllThatWait(t *testing.T) {
	eachThat(t, ofOutputs, func(t *testing.T, w *world, l *listing) {
		w.keeping(l, 1)
		var ids []bourse.WalletID
		for range 60 {
			ids = append(ids, w.mustWithdraw(l, 1, l.least))
		}
		w.settle()
		paid := w.mined(l, ids)
		if rest := w.mined(l, ids); paid+rest != len(ids) {
			t.Errorf("two blocks paid %d and %d of %d", paid, rest, len(ids))
		}
		w.finish()
	})
}

// TestSmallOutputsAreMerged has many small deposits. Payments spend some of them besides, as long as they are many.
func TestSmallOutputsAreMerged(t *testing.T) {
	native := func(l *listing) bool { return l.outputs() && l.network != onTEST }
	eachThat(t, native, func(t *testing.T, w *world, l *listing) {
		w.keeping(l, 2)
		w.pay(l, 1, slices.Repeat([]uint64{l.least}, 30)...)
		w.mine(l.network, int(l.confirms))
		small := func() (count int) {
			for _, u := range w.board.Unspent(l.network) {
				if u.Amount == l.ledger(l.least) {
					count++
				}
			}
			return count
		}
		if got := small(); got != 30 {
			t.Fatalf("%d small outputs", got)
		}
		for _, want := range []int{10, 0, 0} {
			id := w.mustWithdraw(l, 1, 5*l.least)
			w.mine(l.network, 2)
			w.wants(id, bourse.WalletDone, true)
			if got := small(); got != want {
				t.Errorf("%d small outputs are left, not %d", got, want)
			}
		}
		w.finish()
	})
}

// TestMergesOutbidNothing releases a payment that spends small outputs besides. The next one has an output of its own,
// and leaves them alone: to spend them it would have to outbid what was released, which it does not need.
func TestMergesOutbidNothing(t *testing.T) {
	native := func(l *listing) bool { return bumped(l) && l.outputs() }
	eachThat(t, native, func(t *testing.T, w *world, l *listing) {
		w.keeping(l, 2)
		w.credit(l, 3, 100*l.least)
		w.pay(l, 1, slices.Repeat([]uint64{l.least}, 40)...)
		w.mine(l.network, int(l.confirms))
		id := w.mustWithdraw(l, 1, 10*l.least)
		w.settle()
		released := w.signed(l, w.withdrawals[id].Tx)
		if len(released.Inputs) < 15 {
			t.Fatalf("it spends %d outputs", len(released.Inputs))
		}
		must(t, w.network(l.network).node.Forget(released.Tx))
		w.must(bourse.Command{Kind: bourse.CommandReleaseWithdrawal, Wallet: &bourse.WalletCommand{ID: id}})

		w.pay(l, 1, 90_000*l.least)
		w.mine(l.network, int(l.confirms))
		other := w.mustWithdraw(l, 3, 20*l.least)
		w.settle()
		next := w.signed(l, w.withdrawals[other].Tx)
		if next.State != bourse.SignedAccepted || next.Rivals(&released) || len(next.Inputs) < 10 {
			t.Errorf("the next one is %v with %d inputs, and rivals it: %v", next.State, len(next.Inputs), next.Rivals(&released))
		}
		w.mine(l.network, 2)
		w.wants(other, bourse.WalletDone, true)
	})
}

// TestDearMergesWait leaves small outputs alone while to spend one costs more than a tenth of it.
func TestDearMergesWait(t *testing.T) {
	native := func(l *listing) bool { return l.outputs() && l.network != onTEST }
	eachThat(t, native, func(t *testing.T, w *world, l *listing) {
		w.keeping(l, 2)
		w.pay(l, 1, slices.Repeat([]uint64{l.least}, 30)...)
		w.mine(l.network, int(l.confirms))
		must(t, w.network(l.network).node.Spike(100))
		id := w.mustWithdraw(l, 1, 5*l.least)
		w.settle()
		if got := len(w.signed(l, w.withdrawals[id].Tx).Inputs); got > 2 {
			t.Errorf("%d inputs", got)
		}
		w.mine(l.network, 2)
		w.finish()
	})
}

// TestSplitIsOutbid has the price rise while a payment waits whose change is split. Its replacement has as much change:
// without it, the cost of the first one would be above the cap for so few bytes.
func TestSplitIsOutbid(t *testing.T) {
	native := func(l *listing) bool { return bumped(l) && l.outputs() }
	eachThat(t, native, func(t *testing.T, w *world, l *listing) {
		w.stuck = 1
		w.keeping(l, 60)
		n := w.network(l.network)
		id := w.mustWithdraw(l, 1, 10*l.least)
		w.settle()
		first, change := w.signed(l, w.withdrawals[id].Tx), w.changes(l, id)
		if change < 40 {
			t.Fatalf("%d outputs of change", change)
		}

		must(t, n.node.Spike(2))
		w.mine(l.network, 2)
		next := w.signed(l, w.withdrawals[id].Tx)
		if next.Tx == first.Tx || !next.Rivals(&first) || w.changes(l, id) != change {
			t.Errorf("in its place is one with %d outputs of change: %v", w.changes(l, id), next.State)
		}
		w.mine(l.network, 1)
		w.wants(id, bourse.WalletDone, true)
		must(t, n.node.Restore())
		w.finish()
		w.wants(id, bourse.WalletDone, true)
	})
}

// TestReleasedSplitIsOutbid releases a withdrawal whose change was split. The next payment takes its output, and its
// place.
func TestReleasedSplitIsOutbid(t *testing.T) {
	native := func(l *listing) bool { return bumped(l) && l.outputs() }
	eachThat(t, native, func(t *testing.T, w *world, l *listing) {
		w.keeping(l, 60)
		w.credit(l, 3, 100*l.least)
		id := w.mustWithdraw(l, 1, 10*l.least)
		w.settle()
		if got := w.changes(l, id); got < 40 {
			t.Fatalf("%d outputs of change", got)
		}
		released := w.signed(l, w.withdrawals[id].Tx)
		w.must(bourse.Command{Kind: bourse.CommandReleaseWithdrawal, Wallet: &bourse.WalletCommand{ID: id}})

		other := w.mustWithdraw(l, 3, 20*l.least)
		w.settle()
		if next := w.signed(l, w.withdrawals[other].Tx); next.State != bourse.SignedAccepted || !next.Rivals(&released) {
			t.Errorf("the next one is %v", next.State)
		}
		w.mine(l.network, 2)
		w.wants(other, bourse.WalletDone, true)
		if got := w.paid(id); !got.IsZero() {
			t.Errorf("what was released paid %s", got.Format(0))
		}
	})
}

// TestSplitsBeyondTheSignersCosts has the signer refuse the cost of many outputs. The payment is made with one.
func TestSplitsBeyondTheSignersCosts(t *testing.T) {
	native := func(l *listing) bool { return bumped(l) && l.outputs() }
	eachThat(t, native, func(t *testing.T, w *world, l *listing) {
		fees, err := w.network(l.network).client.Fees(t.Context(), l.coin())
		must(t, err)
		w.maxCost = 2 * fees.Cost.Lo
		w.keeping(l, 60)
		for range 2 {
			asked := w.asked
			id := w.mustWithdraw(l, 1, 10*l.least)
			w.settle()
			if w.asked-asked != 2 || w.changes(l, id) != 1 {
				t.Errorf("the signer was asked %d times, for %d outputs of change", w.asked-asked, w.changes(l, id))
			}
			w.mine(l.network, 1)
			w.wants(id, bourse.WalletDone, true)
		}
		w.finish()
	})
}

// TestDustIsNoOutput has a stranger pay many small amounts. Change is split as without them.
func TestDustIsNoOutput(t *testing.T) {
	native := func(l *listing) bool { return l.outputs() && l.network != onTEST }
	eachThat(t, native, func(t *testing.T, w *world, l *listing) {
		w.keeping(l, 30)
		w.pay(l, 3, slices.Repeat([]uint64{l.least}, 60)...)
		w.mine(l.network, int(l.confirms))
		id := w.mustWithdraw(l, 1, 10*l.least)
		w.settle()
		if got := w.changes(l, id); got < 25 || got > 30 {
			t.Errorf("%d outputs of change", got)
		}
		w.mine(l.network, 1)
		w.finish()
	})
}

// TestSplitsLeaveLargePayments splits change as often as it can be, from several outputs at a time. A withdrawal of
// nearly half of the hot wallet is paid all the same: one payment spends no more than a hundred outputs.
func TestSplitsLeaveLargePayments(t *testing.T) {
	native := func(l *listing) bool { return l.outputs() && l.network != onTEST }
	eachThat(t, native, func(t *testing.T, w *world, l *listing) {
		w.keeping(l, wallet.MaxOutputs)
		w.pay(l, 1, slices.Repeat([]uint64{20_000 * l.least}, 5)...)
		w.mine(l.network, int(l.confirms))
		for range 5 {
			for range 12 {
				w.mustWithdraw(l, 1, l.least)
				w.settle() // each alone: together they share a transaction, and split its change once
			}
			w.mine(l.network, 1)
		}
		if got := len(w.board.Unspent(l.network)); got < 400 {
			t.Errorf("%d outputs", got)
		}
		id := w.mustWithdraw(l, 1, 55_000*l.least)
		w.mine(l.network, 2)
		w.wants(id, bourse.WalletDone, true)
		w.finish()
	})
}
