package wallet_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
)

// TestNonceOfAGivenUpWithdrawal gives up a withdrawal that cannot be signed again yet. Other payments wait for its
// nonce until it is released; then the next one has it, and what was given up is excluded.
func TestNonceOfAGivenUpWithdrawal(t *testing.T) {
	accounts := func(l *listing) bool { return !l.outputs() }
	eachThat(t, accounts, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 100*l.least)
		w.credit(l, 2, 100*l.least)
		id := w.mustWithdraw(l, 1, 10*l.least)
		n := w.network(l.network)
		w.settle()
		given := w.signed(l, w.withdrawals[id].Tx)
		if err := n.node.Forget(given.Tx); err != nil {
			t.Fatal(err)
		}
		w.must(bourse.Command{Kind: bourse.CommandReplaceWithdrawal, Wallet: &bourse.WalletCommand{ID: id}})
		w.freeze(1, true)

		other := w.mustWithdraw(l, 2, 10*l.least)
		w.settle()
		if w.withdrawals[other].Signed {
			t.Fatal("a payment is signed whose place is behind what was given up")
		}
		w.must(bourse.Command{Kind: bourse.CommandReleaseWithdrawal, Wallet: &bourse.WalletCommand{ID: id}})
		w.restart()
		w.settle()
		if next := w.signed(l, w.withdrawals[other].Tx); !next.Rivals(&given) {
			t.Errorf("nonce %d in place of %d", next.Nonce, given.Nonce)
		}
		if err := n.node.Restore(); err != nil { // another node had kept it
			t.Fatal(err)
		}
		w.mine(l.network, 2)
		w.wants(other, bourse.WalletDone, true)
		if got := w.paid(id); !got.IsZero() {
			t.Errorf("what was released paid %s", got.Format(0))
		}
	})
}

// signed returns a transaction of the exchange that is not final.
func (w *world) signed(l *listing, tx bourse.TxHash) bourse.SignedTx {
	w.tb.Helper()
	for _, s := range w.board.Signed(l.network) {
		if s.Tx == tx {
			return s
		}
	}
	w.tb.Fatalf("%x is not signed", tx)
	return bourse.SignedTx{}
}
