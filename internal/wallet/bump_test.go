package wallet_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// bumped reports whether a listing's network replaces payments.
func bumped(l *listing) bool { return l.network != onTEST && l.network != onATOM }

// TestBump lets the price of blocks rise above what a withdrawal pays. After some blocks it is outbid, again and again
// until it is mined, and paid once; a frozen account's waits as it is.
func TestBump(t *testing.T) {
	eachThat(t, bumped, func(t *testing.T, w *world, l *listing) {
		w.stuck = 3
		w.restart()
		n := w.network(l.network)
		w.credit(l, 1, 100*l.least)
		id, other := w.mustWithdraw(l, 1, 10*l.least), w.mustWithdraw(l, 1, 10*l.least)
		w.settle()
		first, second := w.withdrawals[id].Tx, w.withdrawals[other].Tx

		must(t, n.node.Spike(2))
		w.freeze(1, true)
		w.mine(l.network, 5)
		if w.withdrawals[id].Tx != first {
			t.Fatal("a frozen account's payment was given up")
		}
		w.freeze(1, false)
		w.mine(l.network, 1)
		next := w.withdrawals[id].Tx
		if next == first || w.signed(l, next).State != bourse.SignedAccepted {
			t.Fatalf("after six blocks it is %x", next)
		}
		if behind := w.withdrawals[other].Tx == second; behind == l.outputs() {
			t.Errorf("what waits behind it was given up: %t", !behind)
		}
		w.mine(l.network, 12)
		w.wants(id, bourse.WalletDone, true)
		w.wants(other, bourse.WalletDone, true)

		must(t, n.node.Spike(1))
		must(t, n.node.Restore())
		w.mine(l.network, 2)
		w.finish()
	})
}

// TestBumpOfOwners outbids on an exchange with an owner, which takes the commands of operators as acts alone: the
// worker is no operator. The first rules do not let it, and it asks once for each block.
func TestBumpOfOwners(t *testing.T) {
	for i := range listings {
		l := &listings[i]
		for rules := uint32(1); rules <= bourse.CurrentRules && bumped(l); rules++ {
			t.Run(fmt.Sprintf("%s under rules %d", l.symbol, rules), func(t *testing.T) {
				t.Parallel()
				w := newWorldOf(t, &bourse.Genesis{Exchange: [16]byte{1}, Rules: rules}, l.network)
				w.stuck = 3
				w.restart()
				w.pay(l, 1, 100*l.least)
				w.mine(l.network, int(l.confirms))
				id := w.mustWithdraw(l, 1, 10*l.least)
				w.must(bourse.Command{Kind: bourse.CommandDecideWithdrawal, On: true, Wallet: &bourse.WalletCommand{ID: id}})
				w.must(bourse.Command{Kind: bourse.CommandAddOperator, Token: bourse.Token{1}, Operators: &bourse.OperatorCommand{
					Define: bourse.Operator{Role: bourse.RoleOwner, Enabled: true, Digest: bourse.RowDigest{1}},
				}})
				w.settle()
				first := w.withdrawals[id].Tx
				must(t, w.network(l.network).node.Spike(2))
				w.mine(l.network, 6)

				if asked := len(w.journal); rules == 1 {
					w.settle()
					if len(w.journal) != asked || !slices.Contains(w.reasons, bourse.OperatorsOnly.String()) {
						t.Errorf("it asked %d times more, and the log has %q", len(w.journal)-asked, w.reasons)
					}
					return
				}
				if w.withdrawals[id].Tx == first {
					t.Error("after six blocks it is not outbid")
				}
				w.mine(l.network, 12)
				w.wants(id, bourse.WalletDone, true)
			})
		}
	}
}

// TestBumpsEnd lets the price rise again after each replacement. After ten of them the last one waits, and is paid
// when the price is what it pays.
func TestBumpsEnd(t *testing.T) {
	eachThat(t, bumped, func(t *testing.T, w *world, l *listing) {
		w.stuck = 1
		w.restart()
		n := w.network(l.network)
		w.credit(l, 1, 100*l.least)
		id := w.mustWithdraw(l, 1, 10*l.least)
		w.settle()

		last, bumps := w.withdrawals[id].Tx, 0
		for i := range uint64(14) {
			must(t, n.node.Spike(i+2))
			w.mine(l.network, 1)
			if next := w.withdrawals[id].Tx; next != last {
				last, bumps = next, bumps+1
			}
		}
		if s := w.signed(l, last); bumps != 10 || s.State != bourse.SignedAccepted || n.worker.Overdue() != 1 {
			t.Errorf("it was replaced %d times, %d are overdue, and it is %v", bumps, n.worker.Overdue(), s.State)
		}
		must(t, n.node.Spike(1))
		w.mine(l.network, 1)
		w.wants(id, bourse.WalletDone, true)
		w.finish()
	})
}

// TestNoDearBump has the node forget a payment before each block, whatever it pays. No replacement pays more than
// twice the price.
func TestNoDearBump(t *testing.T) {
	eachThat(t, bumped, func(t *testing.T, w *world, l *listing) {
		w.stuck = 1
		w.restart()
		n := w.network(l.network)
		w.credit(l, 1, 100*l.least)
		id := w.mustWithdraw(l, 1, 10*l.least)
		w.settle()

		first := w.signed(l, w.withdrawals[id].Tx)
		for range 14 {
			must(t, n.node.Forget(w.withdrawals[id].Tx))
			w.mine(l.network, 1)
		}
		most, _ := first.Cost.Amount.Mul(2)
		if last := w.signed(l, w.withdrawals[id].Tx); most.Less(last.Cost.Amount) || last.Cost == first.Cost {
			t.Errorf("at first %s were paid, and then %s", first.Cost.Amount.Format(0), last.Cost.Amount.Format(0))
		}
		w.mine(l.network, 1)
		w.wants(id, bourse.WalletDone, true)
		w.finish()
	})
}

// TestNoBumpAboveTheCap has the node forget a payment that pays as much as the settings allow. It is not given up.
func TestNoBumpAboveTheCap(t *testing.T) {
	native := func(l *listing) bool { return bumped(l) && l.contract == "" }
	eachThat(t, native, func(t *testing.T, w *world, l *listing) {
		w.stuck = 1
		w.restart()
		n := w.network(l.network)
		w.credit(l, 1, 1000*l.least)
		must(t, n.node.Spike(1000))
		id := w.mustWithdraw(l, 1, 10*l.least)
		w.settle()

		tx := w.withdrawals[id].Tx
		for range 4 {
			if w.withdrawals[id].Tx != tx || len(w.board.DroppedOf(l.network, id)) > 0 {
				t.Fatal("a payment at the cap was given up")
			}
			must(t, n.node.Forget(tx))
			w.mine(l.network, 1)
		}
		w.mine(l.network, 1)
		w.wants(id, bourse.WalletDone, true)
		w.finish()
	})
}

// TestNoBumpWithoutMoney withdraws nearly all that the hot wallet has. When the price rises, nothing is left for a
// replacement: the payment stays, and is offered again for each block.
func TestNoBumpWithoutMoney(t *testing.T) {
	native := func(l *listing) bool { return bumped(l) && l.contract == "" }
	eachThat(t, native, func(t *testing.T, w *world, l *listing) {
		w.stuck = 1
		w.restart()
		n := w.network(l.network)
		w.drain(l)
		w.mine(l.network, 4)

		purse := n.worker.Purse(t.Context()).Hot[l.asset]
		hot, _ := purse.Div(bourse.Units(l.unit))
		fees, err := n.client.Fees(t.Context(), l.coin())
		must(t, err)
		outputs := max(1, uint64(len(w.board.Unspent(l.network))))
		cost, _ := fees.PerInput.Mul(outputs - 1)
		least, _ := fees.Cost.Div64(20)
		amount := hot.Minus(cost.Plus(fees.Cost).Plus(least))
		w.credit(l, 1, 2*amount.Lo)
		id := w.mustWithdraw(l, 1, amount.Lo)
		w.settle()

		tx := w.withdrawals[id].Tx
		must(t, n.node.Spike(2))
		w.mine(l.network, 3)
		must(t, n.node.Forget(tx))
		w.mine(l.network, 1)
		if w.withdrawals[id].Tx != tx {
			t.Error("it was given up")
		}
		must(t, n.node.Spike(1))
		w.mine(l.network, 1)
		w.wants(id, bourse.WalletDone, true)
		w.finish()
	})
}

// TestBumpsOneByOne lets no replacement be made. One withdrawal waits for its own then, and the others' transactions
// stay.
func TestBumpsOneByOne(t *testing.T) {
	outputs := func(l *listing) bool { return bumped(l) && l.outputs() }
	eachThat(t, outputs, func(t *testing.T, w *world, l *listing) {
		w.stuck = 1
		w.restart()
		n := w.network(l.network)
		w.credit(l, 1, 100*l.least)
		ids := [3]bourse.WalletID{}
		for i := range ids {
			ids[i] = w.mustWithdraw(l, 1, 10*l.least)
			w.settle() // each alone
		}

		must(t, n.node.Spike(2))
		w.unmade = func(p *chain.Payment) error {
			if len(p.Replaces) > 0 {
				return chain.ErrCost
			}
			return nil
		}
		w.mine(l.network, 4)
		dropped := 0
		for _, id := range ids {
			dropped += len(w.board.DroppedOf(l.network, id))
		}
		if dropped != 1 {
			t.Errorf("%d transactions were given up", dropped)
		}

		w.unmade = nil
		w.mine(l.network, 6)
		for _, id := range ids {
			w.wants(id, bourse.WalletDone, true)
		}
		w.finish()
	})
}
