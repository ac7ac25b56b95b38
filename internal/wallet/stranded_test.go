package wallet_test

import (
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
)

// TestStranded has somebody else, with the exchange's keys, take the place of a payment that was given up. Nothing may be
// signed for its withdrawal any more; it is told of until an operator releases it, and others are paid.
func TestStranded(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 100*l.least)
		w.credit(l, 2, 100*l.least)
		n := w.network(l.network)
		id := w.mustWithdraw(l, 1, 10*l.least)
		w.settle()
		must(t, n.node.Forget(w.withdrawals[id].Tx))
		w.freeze(1, true)
		w.must(bourse.Command{Kind: bourse.CommandReplaceWithdrawal, Wallet: &bourse.WalletCommand{ID: id}})
		w.settle()
		w.steal(l)
		w.freeze(1, false)
		w.mine(l.network, 1)
		w.pause(l.network, false)
		w.settle()
		if got := n.worker.Stranded(); len(got) > 0 {
			t.Fatalf("%v are stranded at once", got)
		}
		w.mine(l.network, int(l.confirms))
		if got := n.worker.Stranded(); !slices.Equal(got, []bourse.WalletID{id}) || n.worker.Overdue() != 1 {
			t.Fatalf("stranded are %v, and overdue %d", got, n.worker.Overdue())
		}
		if !slices.Contains(w.reasons, "its transaction was given up, and the chain has another one in its place") {
			t.Errorf("the log has %q", w.reasons)
		}

		w.pause(l.network, true)
		w.must(bourse.Command{Kind: bourse.CommandReleaseWithdrawal, Wallet: &bourse.WalletCommand{ID: id}})
		w.settle()
		if got := n.worker.Stranded(); len(got) > 0 {
			t.Errorf("%v are stranded after the release", got)
		}
		w.pause(l.network, false)
		other := w.mustWithdraw(l, 2, 10*l.least)
		w.pay(l, 3, 100*l.least)
		w.mine(l.network, 2*int(l.confirms)+2)
		if got := n.worker.Stranded(); len(got) > 0 || !w.paid(id).IsZero() {
			t.Errorf("stranded are %v", got)
		}
		w.wants(other, bourse.WalletDone, true)
	})
}
