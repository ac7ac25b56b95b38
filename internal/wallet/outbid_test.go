package wallet_test

import (
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// TestOutbid leaves a payment waiting while the price of blocks rises, and has it replaced. The transaction in its
// place pays the new price and is mined; the first one can come back, and the customer is paid once.
func TestOutbid(t *testing.T) {
	replaces := func(l *listing) bool { return l.network != onTEST && l.network != onATOM }
	eachThat(t, replaces, func(t *testing.T, w *world, l *listing) {
		n := w.network(l.network)
		w.credit(l, 1, 100*l.least)
		id := w.mustWithdraw(l, 1, 10*l.least)
		w.settle()
		first := w.signed(l, w.withdrawals[id].Tx)

		must(t, n.node.Spike(8))
		w.mine(l.network, 2)
		if got := w.paid(id); !got.IsZero() {
			t.Fatalf("it paid %s below the price", got.Format(0))
		}

		w.must(bourse.Command{Kind: bourse.CommandReplaceWithdrawal, Wallet: &bourse.WalletCommand{ID: id}})
		w.restart()
		must(t, n.node.Spike(8)) // a node that starts has no spike
		w.settle()
		next := w.signed(l, w.withdrawals[id].Tx)
		if next.Tx == first.Tx || !next.Rivals(&first) || next.State != bourse.SignedAccepted ||
			!first.Cost.Amount.Less(next.Cost.Amount) {
			t.Fatalf("in its place is %v", next)
		}
		w.mine(l.network, 1)
		w.wants(id, bourse.WalletDone, true)

		must(t, n.node.Spike(1))
		must(t, n.node.Restore()) // another node had kept it
		w.mine(l.network, 2)
		w.wants(id, bourse.WalletDone, true)
		w.finish()
	})
}

// TestOutbidAtTheUsualPrice replaces a payment that the node still has, while prices are what they were.
func TestOutbidAtTheUsualPrice(t *testing.T) {
	replaces := func(l *listing) bool { return l.network != onTEST && l.network != onATOM }
	eachThat(t, replaces, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 100*l.least)
		id := w.mustWithdraw(l, 1, 10*l.least)
		w.settle()
		for range 3 {
			before := w.signed(l, w.withdrawals[id].Tx)
			w.must(bourse.Command{Kind: bourse.CommandReplaceWithdrawal, Wallet: &bourse.WalletCommand{ID: id}})
			w.settle()
			if next := w.signed(l, w.withdrawals[id].Tx); next.State != bourse.SignedAccepted || !next.Rivals(&before) {
				t.Fatalf("in its place is %v", next)
			}
		}
		w.mine(l.network, 1)
		w.wants(id, bourse.WalletDone, true)
		w.finish()
	})
}

// TestOutbidReleased releases a withdrawal whose transaction still waits. The next payment takes its output or nonce,
// and outbids it, so that neither waits for the other, and what was released is not paid.
func TestOutbidReleased(t *testing.T) {
	replaces := func(l *listing) bool { return l.network != onTEST && l.network != onATOM }
	eachThat(t, replaces, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 100*l.least)
		w.credit(l, 2, 100*l.least)
		id := w.mustWithdraw(l, 1, 10*l.least)
		w.settle()
		released := w.signed(l, w.withdrawals[id].Tx)
		w.must(bourse.Command{Kind: bourse.CommandReleaseWithdrawal, Wallet: &bourse.WalletCommand{ID: id}})

		other := w.mustWithdraw(l, 2, 10*l.least)
		w.settle()
		if next := w.signed(l, w.withdrawals[other].Tx); next.State != bourse.SignedAccepted || !next.Rivals(&released) {
			t.Errorf("the next one is %v", next)
		}
		w.mine(l.network, 2)
		w.wants(other, bourse.WalletDone, true)
		if got := w.paid(id); !got.IsZero() {
			t.Errorf("what was released paid %s", got.Format(0))
		}
	})
}

// TestOutbidLarger releases a withdrawal whose transaction spends many outputs. A small payment, for which one of them
// is enough, spends all, to outbid it.
func TestOutbidLarger(t *testing.T) {
	replaces := func(l *listing) bool { return l.outputs() && l.network != onTEST }
	eachThat(t, replaces, func(t *testing.T, w *world, l *listing) {
		w.drain(l)
		w.credit(l, 2, 10*l.least)
		w.pay(l, 1, slices.Repeat([]uint64{10 * l.least}, 10)...)
		w.mine(l.network, 10)
		id := w.mustWithdraw(l, 1, 90*l.least)
		w.settle()
		released := w.signed(l, w.withdrawals[id].Tx)
		if len(released.Inputs) < 9 {
			t.Fatalf("it spends %d outputs", len(released.Inputs))
		}
		w.must(bourse.Command{Kind: bourse.CommandReleaseWithdrawal, Wallet: &bourse.WalletCommand{ID: id}})

		other := w.mustWithdraw(l, 2, l.least)
		w.settle()
		next := w.signed(l, w.withdrawals[other].Tx)
		if next.State != bourse.SignedAccepted || len(next.Inputs) < len(released.Inputs) {
			t.Errorf("the next one is %v", next)
		}
		w.mine(l.network, 2)
		w.wants(other, bourse.WalletDone, true)
		if got := w.paid(id); !got.IsZero() {
			t.Errorf("what was released paid %s", got.Format(0))
		}
	})
}

// TestOutbidPinned releases a withdrawal whose transaction costs as much as the network allows, and waits at the node.
// On networks of outputs others are paid from other outputs.
func TestOutbidPinned(t *testing.T) {
	replaces := func(l *listing) bool { return l.outputs() && l.network != onTEST }
	eachThat(t, replaces, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 1000*l.least)
		w.credit(l, 2, 100*l.least)
		must(t, w.network(l.network).node.Spike(1000))
		id := w.mustWithdraw(l, 1, 10*l.least)
		w.settle()
		released := w.signed(l, w.withdrawals[id].Tx)
		w.must(bourse.Command{Kind: bourse.CommandReleaseWithdrawal, Wallet: &bourse.WalletCommand{ID: id}})

		must(t, w.network(l.network).node.Spike(1))
		others := []bourse.WalletID{w.mustWithdraw(l, 2, 10*l.least), w.mustWithdraw(l, 2, 10*l.least)}
		w.settle()
		for _, other := range others {
			if next := w.signed(l, w.withdrawals[other].Tx); next.State != bourse.SignedAccepted || next.Rivals(&released) {
				t.Errorf("the next one is %v", next)
			}
		}
		w.mine(l.network, 2)
		for _, other := range others {
			w.wants(other, bourse.WalletDone, true)
		}
	})
}

// TestOutbidPinnedNonce releases a withdrawal whose transaction costs as much as the settings allow, and waits at the
// node. All payments wait for its nonce on networks of accounts, so the next one may pay more than that.
func TestOutbidPinnedNonce(t *testing.T) {
	accounts := func(l *listing) bool { return l.network == onETH && l.contract == "" }
	eachThat(t, accounts, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 1000*l.least)
		w.credit(l, 2, 100*l.least)
		must(t, w.network(l.network).node.Spike(1000))
		id := w.mustWithdraw(l, 1, 10*l.least)
		w.settle()
		released := w.signed(l, w.withdrawals[id].Tx)
		w.must(bourse.Command{Kind: bourse.CommandReleaseWithdrawal, Wallet: &bourse.WalletCommand{ID: id}})

		must(t, w.network(l.network).node.Spike(1))
		others := []bourse.WalletID{w.mustWithdraw(l, 2, 10*l.least), w.mustWithdraw(l, 2, 10*l.least)}
		w.settle()
		if next := w.signed(l, w.withdrawals[others[0]].Tx); next.State != bourse.SignedAccepted || !next.Rivals(&released) {
			t.Errorf("the next one is %v", next)
		}
		w.mine(l.network, 2)
		for _, other := range others {
			w.wants(other, bourse.WalletDone, true)
		}
		if got := w.paid(id); !got.IsZero() {
			t.Errorf("what was released paid %s", got.Format(0))
		}
	})
}

// TestOutbidSmaller replaces a payment of many small outputs once a large one is there. With two inputs the replacement
// is smaller than what it replaces, and pays no less in all.
func TestOutbidSmaller(t *testing.T) {
	replaces := func(l *listing) bool { return l.outputs() && l.network != onTEST }
	eachThat(t, replaces, func(t *testing.T, w *world, l *listing) {
		n := w.network(l.network)
		w.drain(l)
		w.pay(l, 1, slices.Repeat([]uint64{l.least}, 30)...)
		w.mine(l.network, 4)
		w.pay(l, 1, 10_000*l.least)
		w.mine(l.network, 1)

		var most bourse.Amount
		for _, u := range w.board.Unspent(l.network) {
			if units, _ := u.Amount.Div64(l.unit); most.Less(units) && units.Less(bourse.Units(1000*l.least)) {
				most = units
			}
		}
		fees, err := n.client.Fees(t.Context(), l.coin())
		must(t, err)
		w.credit(l, 1, 100*l.least)
		id := w.mustWithdraw(l, 1, most.Minus(fees.Cost).Lo)
		w.settle()
		replace := func(price uint64) bourse.SignedTx {
			must(t, n.node.Spike(price))
			w.must(bourse.Command{Kind: bourse.CommandReplaceWithdrawal, Wallet: &bourse.WalletCommand{ID: id}})
			w.settle()
			return w.signed(l, w.withdrawals[id].Tx)
		}
		second := replace(10)
		must(t, n.node.Spike(15))
		w.mine(l.network, 1)

		third := replace(15)
		if len(second.Inputs) < 8 || len(third.Inputs) != 2 || third.State != bourse.SignedAccepted ||
			!second.Cost.Amount.Less(third.Cost.Amount) {
			t.Errorf("of %d inputs it costs %s, then of %d %s: %v", len(second.Inputs), second.Cost.Amount.Format(0),
				len(third.Inputs), third.Cost.Amount.Format(0), third.State)
		}
		w.mine(l.network, 1)
		w.wants(id, bourse.WalletDone, true)
		w.finish()
	})
}

// TestOutbidNewest replaces a payment more often than a payment outbids transactions. Each replacement outbids the
// newest, and with them all.
func TestOutbidNewest(t *testing.T) {
	eachThat(t, bumped, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 100*l.least)
		w.credit(l, 2, 100*l.least)
		id := w.mustWithdraw(l, 1, 10*l.least)
		w.settle()
		for range 15 {
			w.must(bourse.Command{Kind: bourse.CommandReplaceWithdrawal, Wallet: &bourse.WalletCommand{ID: id}})
			w.settle()
			if next := w.signed(l, w.withdrawals[id].Tx); next.State != bourse.SignedAccepted {
				t.Fatalf("in its place is %v", next)
			}
		}
		w.must(bourse.Command{Kind: bourse.CommandReleaseWithdrawal, Wallet: &bourse.WalletCommand{ID: id}})
		other := w.mustWithdraw(l, 2, 10*l.least)
		w.settle()
		if most := slices.Max(w.outbids); most != 10 {
			t.Errorf("a payment outbids %d transactions", most)
		}
		w.mine(l.network, 2)
		w.wants(other, bourse.WalletDone, true)
	})
}

// TestOutbidStepByStep releases withdrawals whose transactions cannot be outbid. The next payment asks about a few in
// each step, and is paid from other outputs.
func TestOutbidStepByStep(t *testing.T) {
	replaces := func(l *listing) bool { return l.outputs() && l.network != onTEST }
	eachThat(t, replaces, func(t *testing.T, w *world, l *listing) {
		n := w.network(l.network)
		w.credit(l, 1, 1000*l.least)
		w.credit(l, 2, 100*l.least)
		must(t, n.node.Spike(1000))
		ids := [15]bourse.WalletID{}
		for i := range ids {
			ids[i] = w.mustWithdraw(l, 1, 10*l.least)
			w.settle() // each alone
		}
		for _, id := range ids {
			w.must(bourse.Command{Kind: bourse.CommandReleaseWithdrawal, Wallet: &bourse.WalletCommand{ID: id}})
		}

		must(t, n.node.Spike(1))
		other := w.mustWithdraw(l, 2, 10*l.least)
		all := 0
		for more := true; more; all += len(w.outbids) {
			w.outbids = nil
			if more = w.step(n); len(w.outbids) > 10 {
				t.Errorf("a step asks %d times", len(w.outbids))
			}
		}
		if all != len(ids) {
			t.Errorf("it asks %d times about %d transactions", all, len(ids))
		}
		w.mine(l.network, 2)
		w.wants(other, bourse.WalletDone, true)
	})
}

// TestOutbidLeavesRoom has a payment that cannot afford to outbid a released transaction. A smaller one behind it can.
func TestOutbidLeavesRoom(t *testing.T) {
	replaces := func(l *listing) bool { return l.outputs() && l.network != onTEST }
	eachThat(t, replaces, func(t *testing.T, w *world, l *listing) {
		n := w.network(l.network)
		w.drain(l)
		w.mine(l.network, 2)
		free := w.board.Unspent(l.network)
		if len(free) != 1 {
			t.Fatalf("%d outputs are left", len(free))
		}
		all, _ := free[0].Amount.Div64(l.unit)
		fees, err := n.client.Fees(t.Context(), l.coin())
		must(t, err)
		w.credit(l, 1, 100*l.least)
		w.credit(l, 2, 100*l.least)

		must(t, n.node.Spike(5))
		id := w.mustWithdraw(l, 1, l.least)
		w.settle()
		released := w.signed(l, w.withdrawals[id].Tx)
		w.must(bourse.Command{Kind: bourse.CommandReleaseWithdrawal, Wallet: &bourse.WalletCommand{ID: id}})
		must(t, n.node.Spike(1))
		large, small := w.mustWithdraw(l, 1, all.Minus(fees.Cost).Lo), w.mustWithdraw(l, 2, l.least)
		w.settle()
		if tx := w.withdrawals[large].Tx; tx != (bourse.TxHash{}) {
			t.Fatal("the large one is signed")
		}
		if tx := w.withdrawals[small].Tx; tx == (bourse.TxHash{}) {
			t.Error("the small one waits")
		} else if next := w.signed(l, tx); next.State != bourse.SignedAccepted || !next.Rivals(&released) {
			t.Errorf("the small one is %v", next)
		}
	})
}

// TestOutbidTellsWhy replaces a payment of nearly all that the hot wallet has, when prices have risen. Nothing can take
// its place, and the log says why.
func TestOutbidTellsWhy(t *testing.T) {
	native := func(l *listing) bool { return bumped(l) && l.contract == "" }
	eachThat(t, native, func(t *testing.T, w *world, l *listing) {
		n := w.network(l.network)
		w.drain(l)
		w.mine(l.network, 4)
		purse := n.worker.Purse(t.Context()).Hot[l.asset]
		hot, _ := purse.Div(bourse.Units(l.unit))
		fees, err := n.client.Fees(t.Context(), l.coin())
		must(t, err)
		amount := hot.Minus(fees.Of(max(1, len(w.board.Unspent(l.network)))))
		w.credit(l, 1, 2*amount.Lo)
		id := w.mustWithdraw(l, 1, amount.Lo)
		w.settle()

		must(t, n.node.Spike(100))
		w.reasons = nil
		w.must(bourse.Command{Kind: bourse.CommandReplaceWithdrawal, Wallet: &bourse.WalletCommand{ID: id}})
		w.settle()
		if !slices.Contains(w.reasons, chain.ErrFunds.Error()) {
			t.Errorf("the log says %q", w.reasons)
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
