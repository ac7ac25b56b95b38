package wallet_test

import (
	"errors"
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
