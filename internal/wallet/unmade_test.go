package wallet_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// TestCrowdOfUnmade has many withdrawals that cannot be made, as those to contracts that refuse them. Each step
// tries a few, and later withdrawals are paid without all being tried again for each.
func TestCrowdOfUnmade(t *testing.T) {
	for _, refusal := range []error{errors.New("its contract refuses it"), chain.ErrCost} {
		each(t, func(t *testing.T, w *world, l *listing) {
			const crowd, honest = 40, 3
			w.credit(l, 1, 1000*l.least)
			tried := 0
			w.unmade = func(p *chain.Payment) error {
				if p.Kind != bourse.SignedWithdrawal || p.Amount != bourse.Units(2*l.least) {
					return nil
				}
				tried++
				return refusal
			}
			for range crowd {
				w.mustWithdraw(l, 1, 2*l.least)
			}
			var good []bourse.WalletID
			for range honest {
				good = append(good, w.mustWithdraw(l, 1, l.least))
			}

			sum := 0
			for more := true; more; {
				tried = 0
				more = w.step(w.network(l.network))
				sum += tried
				if tried > 10 {
					t.Fatalf("%d tries in a step", tried)
				}
			}
			if sum > 2*crowd || w.network(l.network).worker.Limited() != 0 {
				t.Errorf("%d tries, and %d wait for limits", sum, w.network(l.network).worker.Limited())
			}
			w.mine(l.network, honest)
			for _, id := range good {
				w.wants(id, bourse.WalletDone, true)
			}
			w.unmade = nil
			w.mine(l.network, crowd)
			w.finish()
		})
	}
}

// TestFailureIsNoPayment raises fees until the cost of a withdrawal would be its amount. If such a payment failed, as a
// contract can have it fail, its cost alone would be taken for the payment: it waits, and larger ones are paid.
func TestFailureIsNoPayment(t *testing.T) {
	w, l := newWorld(t, onETH), listed(onETH, eth)
	n := w.network(l.network)
	w.credit(l, 1, 1000*l.least)
	must(t, n.node.Spike(1000))
	small, large := w.mustWithdraw(l, 1, l.least), w.mustWithdraw(l, 1, 100*l.least)
	w.mine(l.network, 2)
	w.wants(large, bourse.WalletDone, true)
	if d := w.withdrawals[small]; d.Tx != (bourse.TxHash{}) || !slices.Contains(w.reasons, "its cost could be all of its amount: it waits for lower fees") {
		t.Errorf("it has the transaction %x, and the log %q", d.Tx, w.reasons)
	}

	must(t, n.node.Spike(1))
	w.mine(l.network, 2)
	w.wants(small, bourse.WalletDone, true)
	w.finish()
}
