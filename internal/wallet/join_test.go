package wallet_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// joins reports whether the withdrawals of a listing share transactions.
func joins(l *listing) bool { return l.network == onBTC && l.contract == "" }

// crowd makes withdrawals of growing amounts.
func (w *world) crowd(l *listing, count int) (ids []bourse.WalletID) {
	w.tb.Helper()
	w.credit(l, 1, uint64(count*(count+10))*l.least)
	for n := range count {
		ids = append(ids, w.mustWithdraw(l, 1, uint64(n+1)*l.least))
	}
	return ids
}

// transactions returns the transactions of withdrawals, each once; none of those without one.
func (w *world) transactions(ids []bourse.WalletID) map[bourse.TxHash]int {
	txs := map[bourse.TxHash]int{}
	for _, id := range ids {
		if tx := w.withdrawals[id].Tx; tx != (bourse.TxHash{}) {
			txs[tx]++
		}
	}
	return txs
}

// TestJoined pays the withdrawals that wait together by one transaction, and each alone under older rules.
func TestJoined(t *testing.T) {
	for rules, want := range map[uint32]int{bourse.RulesJoined: 1, bourse.RulesJoined - 1: 20} {
		eachThat(t, joins, func(t *testing.T, w *world, l *listing) {
			w.must(bourse.Command{Kind: bourse.CommandSetRules, Rules: rules})
			ids := w.crowd(l, 20)
			w.settle()
			if txs := w.transactions(ids); len(txs) != want {
				t.Fatalf("%d transactions under rules %d: %v", len(txs), rules, txs)
			}
			w.mine(l.network, 1)
			for _, id := range ids {
				w.wants(id, bourse.WalletDone, true)
			}
			w.finish()
		})
	}
}

// TestJoinedBump outbids a joined transaction by one with the same withdrawals, without the one that an operator ended
// meanwhile. A frozen account holds it up until then.
func TestJoinedBump(t *testing.T) {
	eachThat(t, joins, func(t *testing.T, w *world, l *listing) {
		w.stuck = 3
		w.restart()
		n := w.network(l.network)
		ids := w.crowd(l, 5)
		w.settle()
		first := w.withdrawals[ids[0]].Tx

		must(t, n.node.Spike(2))
		w.freeze(1, true)
		w.mine(l.network, 5)
		if txs := w.transactions(ids); txs[first] != 5 {
			t.Fatalf("%v, and not %x", txs, first)
		}
		w.freeze(1, false)
		w.must(bourse.Command{Kind: bourse.CommandReleaseWithdrawal, Wallet: &bourse.WalletCommand{ID: ids[2]}})
		w.mine(l.network, 1)
		rest := append(append([]bourse.WalletID{}, ids[:2]...), ids[3:]...)
		if txs := w.transactions(rest); len(txs) != 1 || txs[first] != 0 {
			t.Fatalf("%v instead of %x", txs, first)
		}
		w.mine(l.network, 6)
		for _, id := range rest {
			w.wants(id, bourse.WalletDone, true)
		}
		must(t, n.node.Spike(1))
		w.mine(l.network, 2)
		if got := w.paid(ids[2]); !got.IsZero() {
			t.Errorf("the one that was ended got %s", got.Format(0))
		}
	})
}

// TestJoinedWithoutRefused has the signer refuse one withdrawal of many: the others are paid together, and it waits.
func TestJoinedWithoutRefused(t *testing.T) {
	eachThat(t, joins, func(t *testing.T, w *world, l *listing) {
		w.limit = func(chain.CoinID) signer.Limit {
			most := bourse.Units(1e15)
			return signer.Limit{Payment: bourse.Units(9 * l.least), Hour: most, Day: most, Free: most}
		}
		w.restart()
		ids := w.crowd(l, 10)
		w.settle()
		if txs := w.transactions(ids); len(txs) != 1 || w.withdrawals[ids[9]].Tx != (bourse.TxHash{}) {
			t.Fatalf("%v", txs)
		}
		if n := w.network(l.network).worker.Limited(); n != 1 {
			t.Errorf("%d wait for limits", n)
		}
		w.limit = signer.Unlimited
		w.restart()
		w.settle()
		w.mine(l.network, 2)
		for _, id := range ids {
			w.wants(id, bourse.WalletDone, true)
		}
		w.finish()
	})
}

// TestJoinedWithoutUnmade has a withdrawal that cannot be made among others. Once they go alone because of it, and then
// they share transactions without it.
func TestJoinedWithoutUnmade(t *testing.T) {
	eachThat(t, joins, func(t *testing.T, w *world, l *listing) {
		var worst bourse.WalletID
		w.unmade = func(p *chain.Payment) error {
			for _, to := range append([]chain.Pay{{To: p.To}}, p.With...) {
				if w.outside[worst] == to.To.Address {
					return errors.New("nobody can be paid there")
				}
			}
			return nil
		}
		ids := w.crowd(l, 5)
		worst = ids[1]
		w.settle()
		w.mine(l.network, 6)
		for n, id := range ids {
			if n != 1 {
				w.wants(id, bourse.WalletDone, true)
			}
		}
		more := w.crowd(l, 5)
		w.settle()
		if txs := w.transactions(more); len(txs) != 1 {
			t.Errorf("%v", txs)
		}
		w.unmade = nil
		w.settle()
		w.mine(l.network, 2)
		w.wants(ids[1], bourse.WalletDone, true)
		w.finish()
	})
}

// TestJoinedWithoutFunds pays what the hot wallet covers, and the rest once it has more.
func TestJoinedWithoutFunds(t *testing.T) {
	eachThat(t, joins, func(t *testing.T, w *world, l *listing) {
		w.drain(l)
		ids := w.crowd(l, 6) // 21 in all
		w.fund(l, 8*l.least)
		w.mine(l.network, 2)
		paid := 0
		for _, id := range ids {
			if w.withdrawals[id].Status == bourse.WalletDone {
				paid++
			}
		}
		if paid < 3 || paid > 5 {
			t.Errorf("%d are paid: %s", paid, fmt.Sprint(w.reasons))
		}
		w.fund(l, 100*l.least)
		w.mine(l.network, 3)
		for _, id := range ids {
			w.wants(id, bourse.WalletDone, true)
		}
		w.finish()
	})
}

// TestJoinedAtOlderSigner has a signer of a build that knows no joined transactions, and cannot read the request:
// withdrawals are paid one by one, and together once it is updated.
func TestJoinedAtOlderSigner(t *testing.T) {
	eachThat(t, joins, func(t *testing.T, w *world, l *listing) {
		w.older = true
		ids := w.crowd(l, 5)
		w.settle()
		w.mine(l.network, 5)
		for _, id := range ids {
			w.wants(id, bourse.WalletDone, true)
		}
		if txs := w.transactions(ids); len(txs) != len(ids)-1 && len(txs) != len(ids) {
			t.Errorf("%v", txs)
		}
		w.older = false
		more := w.crowd(l, 5)
		w.settle()
		if txs := w.transactions(more); len(txs) > 2 {
			t.Errorf("%v once it is updated", txs)
		}
		w.mine(l.network, 1)
		w.finish()
	})
}

// TestJoinedLimitHoldsNobodyUp has withdrawals that the limit of an hour does not let pass with an older one: that one
// is paid, the others wait, and the signer is not asked about each of them.
func TestJoinedLimitHoldsNobodyUp(t *testing.T) {
	for _, count := range []int{1, 20} {
		eachThat(t, joins, func(t *testing.T, w *world, l *listing) {
			w.limit = func(chain.CoinID) signer.Limit {
				most := bourse.Units(1e15)
				return signer.Limit{Payment: most, Hour: bourse.Units(7 * l.least), Day: most, Free: most}
			}
			w.restart()
			w.credit(l, 1, 100*l.least)
			older := w.mustWithdraw(l, 1, 5*l.least)
			var others []bourse.WalletID
			for range count {
				others = append(others, w.mustWithdraw(l, 1, 3*l.least))
			}
			w.asked = 0
			w.settle()
			if w.asked > 5 {
				t.Errorf("the signer was asked %d times", w.asked)
			}
			if txs := w.transactions(others); len(txs) > 0 {
				t.Errorf("%v are beyond the limit", txs)
			}
			w.mine(l.network, 2)
			w.wants(older, bourse.WalletDone, true)
		})
	}
}

// TestJoinedReplacedAsOne holds the replacement of a joined transaction up, by a signer that does not answer or an
// operator who stops the network: later it is for all of its withdrawals. One that was left out could not exclude the
// first transaction any more.
func TestJoinedReplacedAsOne(t *testing.T) {
	for _, older := range []bool{true, false} {
		eachThat(t, joins, func(t *testing.T, w *world, l *listing) {
			ids := w.crowd(l, 5)
			w.settle()
			w.must(bourse.Command{Kind: bourse.CommandReplaceWithdrawal, Wallet: &bourse.WalletCommand{ID: ids[1]}})
			stopped := false
			w.older, w.at = older, func(int, string) {
				if !older && !stopped && w.withdrawals[ids[1]].AtSigner {
					stopped = true
					w.pause(l.network, true)
				}
			}
			w.settle()
			if w.at = nil; stopped {
				w.pause(l.network, false)
			}
			w.older = false
			w.settle()
			if txs := w.transactions(ids); len(txs) != 1 || stopped == older {
				t.Fatalf("%v", txs)
			}
			w.mine(l.network, 10)
			for _, id := range ids {
				w.wants(id, bourse.WalletDone, true)
			}
			w.finish()
		})
	}
}

// TestFewJoined bounds the withdrawals that share a transaction. One of more from before is replaced as a whole.
func TestFewJoined(t *testing.T) {
	for most, want := range map[int]int{1: 5, 2: 3, bourse.MaxJoined: 1} {
		eachThat(t, joins, func(t *testing.T, w *world, l *listing) {
			before := w.crowd(l, 5)
			w.settle()
			w.joined = most
			w.restart()
			w.must(bourse.Command{Kind: bourse.CommandReplaceWithdrawal, Wallet: &bourse.WalletCommand{ID: before[0]}})
			w.settle()
			if txs := w.transactions(before); len(txs) != 1 {
				t.Errorf("those before have %v", txs)
			}
			w.mine(l.network, 1)
			after := w.crowd(l, 5)
			w.settle()
			if txs := w.transactions(after); len(txs) != want {
				t.Errorf("those after have %v with %d at most", txs, most)
			}
			w.mine(l.network, int(l.confirms))
			w.finish()
		})
	}
}

// TestJoinedWithoutFrozen replaces a joined transaction without a frozen account, as an operator asked. Once a block
// has the other one, nothing can exclude the first for what was left out: it is told of until an operator releases it,
// and holds up no other.
func TestJoinedWithoutFrozen(t *testing.T) {
	eachThat(t, joins, func(t *testing.T, w *world, l *listing) {
		n := w.network(l.network)
		w.credit(l, 2, 100*l.least)
		left := w.mustWithdraw(l, 2, 10*l.least)
		ids := w.crowd(l, 4)
		w.settle()
		w.freeze(2, true)
		w.must(bourse.Command{Kind: bourse.CommandReplaceWithdrawal, Wallet: &bourse.WalletCommand{ID: left}})
		w.settle()
		w.freeze(2, false)
		if txs := w.transactions(ids); len(txs) != 1 || w.withdrawals[left].Tx != (bourse.TxHash{}) {
			t.Fatalf("%v", txs)
		}

		w.mine(l.network, 2*int(l.confirms)+1)
		if got := n.worker.Stranded(); !slices.Equal(got, []bourse.WalletID{left}) || n.worker.Overdue() != 1 {
			t.Fatalf("stranded are %v, and overdue %d", got, n.worker.Overdue())
		}
		more := w.crowd(l, 5)
		w.asked = 0
		w.settle()
		if txs := w.transactions(more); len(txs) != 1 || w.asked > 3 {
			t.Errorf("%v, and the signer was asked %d times", txs, w.asked)
		}
		w.must(bourse.Command{Kind: bourse.CommandReleaseWithdrawal, Wallet: &bourse.WalletCommand{ID: left}})
		w.mine(l.network, 2)
		if got := n.worker.Stranded(); len(got) > 0 || !w.paid(left).IsZero() {
			t.Errorf("stranded are %v", got)
		}
		for _, id := range append(ids, more...) {
			w.wants(id, bourse.WalletDone, true)
		}
	})
}

// TestFinalKeepsThePayer forgets a joined transaction that was given up, while another one waits for a withdrawal that
// it paid: that one has its payer still.
func TestFinalKeepsThePayer(t *testing.T) {
	b := wallet.NewBoard()
	at := func(tx byte, state bourse.SignedState, ids ...bourse.WalletID) *bourse.SignedTx {
		s := &bourse.SignedTx{Network: onBTC, Kind: bourse.SignedWithdrawal, Wallet: ids[0], Tx: bourse.TxHash{tx}, State: state}
		for _, id := range ids {
			s.Joined = append(s.Joined, bourse.Share{Wallet: id, Amount: bourse.Units(1)})
		}
		return s
	}
	observe := func(s *bourse.SignedTx, of ...*bourse.Withdrawal) {
		ev := new(bourse.Events)
		ev.AddSigned(s)
		for _, w := range of {
			w.Network, w.Status, w.Tx = onBTC, bourse.WalletDone, s.Tx
			ev.AddWithdrawal(bourse.EventWithdrawal, w)
		}
		b.Begin()
		b.Observe(&bourse.Command{}, ev)
		b.End()
	}
	next := at(2, bourse.SignedAccepted, 2, 3)
	observe(at(1, bourse.SignedDropped, 1, 2))
	observe(next, &bourse.Withdrawal{ID: 2, Account: 1}, &bourse.Withdrawal{ID: 3, Account: 2})
	observe(at(1, bourse.SignedFinal, 1, 2))
	ev := new(bourse.Events)
	ev.AddFact(bourse.EventAccountFrozen, bourse.Fact{Account: 1, On: true})
	b.Observe(&bourse.Command{}, ev)
	b.End()
	if !b.PaysFrozen(next) {
		t.Error("an account that it pays is frozen")
	}
	observe(at(2, bourse.SignedFinal, 2, 3))
	if !b.PaysFrozen(next) {
		t.Error("a final transaction has payers")
	}
}

// TestJoinedCrashes ends the process at each moment at which something becomes durable or leaves, while a joined
// transaction is made, replaced, mined and taken back by the chain: all of its withdrawals are paid, each once.
func TestJoinedCrashes(t *testing.T) {
	eachThat(t, joins, func(t *testing.T, w *world, l *listing) {
		story := func(w *world) {
			ids := w.crowd(l, 4)
			w.settle()
			if reason := w.commit(&bourse.Command{
				Kind: bourse.CommandReplaceWithdrawal, Wallet: &bourse.WalletCommand{ID: ids[1]},
			}).Reason; reason != 0 {
				w.tb.Fatal(reason)
			}
			w.settle()
			w.mine(l.network, 1)
			w.reorg(w.network(l.network))
			w.mine(l.network, int(l.confirms))
			w.finish()
			for _, id := range ids {
				w.wants(id, bourse.WalletDone, true)
			}
		}
		first := w.points + 1
		story(w)
		for point := first; point <= w.points; point++ {
			w := newWorld(t, l.network)
			w.together = point%2 == 0
			w.at = func(at int, _ string) {
				if at == point {
					panic(crashed{})
				}
			}
			story(w)
		}
	})
}

// TestJoinedCanceled cancels a withdrawal at each moment at which it may share a transaction with others: it is
// canceled and not paid, or paid and done, and the others are paid together.
func TestJoinedCanceled(t *testing.T) {
	eachThat(t, joins, func(t *testing.T, first *world, l *listing) {
		ends := map[bourse.WalletStatus]int{}
		story := func(w *world, point int) {
			ids, done := w.crowd(l, 4), false
			begin := w.points
			w.at = func(at int, _ string) {
				if !done && at-begin == point {
					done = true
					w.cancel(ids[2])
				}
			}
			w.settle()
			w.at = nil
			w.mine(l.network, 2)
			status := w.withdrawals[ids[2]].Status
			ends[status]++
			w.wants(ids[2], status, status == bourse.WalletDone)
			others := []bourse.WalletID{ids[0], ids[1], ids[3]}
			if txs := w.transactions(others); len(txs) != 1 {
				t.Errorf("%v at point %d", txs, point)
			}
			for _, id := range others {
				w.wants(id, bourse.WalletDone, true)
			}
			w.finish()
		}
		story(first, 0)
		for point := range first.points {
			story(newWorld(t, l.network), point+1)
		}
		if len(ends) != 2 || ends[bourse.WalletCanceled] == 0 || ends[bourse.WalletDone] == 0 {
			t.Errorf("%v", ends)
		}
	})
}

// TestJoinedReplacedAtACost bounds the costs of an hour when a joined transaction is replaced: all of its withdrawals
// are in the replacement, or wait together. A smaller one, which costs less, would leave some behind for good.
func TestJoinedReplacedAtACost(t *testing.T) {
	eachThat(t, joins, func(t *testing.T, _ *world, l *listing) {
		const count = 6
		waited := 0
		for tenths := uint64(20); tenths <= 32; tenths++ {
			w := newWorld(t, l.network)
			ids := w.crowd(l, count)
			w.settle()
			first, err := w.network(l.network).client.Decode(w.board.Signed(l.network)[0].Raw)
			must(t, err)
			w.hourCost = first.Cost.Lo * tenths / 10
			w.restart()
			w.must(bourse.Command{Kind: bourse.CommandReplaceWithdrawal, Wallet: &bourse.WalletCommand{ID: ids[0]}})
			w.settle()
			txs := w.transactions(ids)
			for tx, n := range txs {
				if n != count {
					t.Fatalf("%x pays %d of them at %d tenths", tx, n, tenths)
				}
			}
			if len(txs) == 0 {
				waited++
			}
		}
		if waited == 0 || waited == 13 {
			t.Errorf("%d waited", waited)
		}
	})
}

// TestJoinedBeyondAnHoursCosts has a joined transaction cost more than the signer lets an hour cost. No hour lets it
// pass: fewer withdrawals share one, and what takes the place of an earlier one waits without the others of the
// network.
func TestJoinedBeyondAnHoursCosts(t *testing.T) {
	eachThat(t, joins, func(t *testing.T, w *world, l *listing) {
		ids := w.crowd(l, 8)
		w.settle()
		first, err := w.network(l.network).client.Decode(w.board.Signed(l.network)[0].Raw)
		must(t, err)
		w.hourCost = first.Cost.Lo
		w.now += bourse.Hour
		w.restart()
		w.must(bourse.Command{Kind: bourse.CommandReplaceWithdrawal, Wallet: &bourse.WalletCommand{ID: ids[0]}})
		w.settle()
		if txs := w.transactions(ids); len(txs) != 0 {
			t.Fatalf("%v cost no more than %d", txs, w.hourCost)
		}

		w.hourCost -= first.Cost.Lo / 4
		w.restart()
		more := w.crowd(l, 20)
		w.settle()
		said := len(w.reasons)
		w.settle()
		if n := len(w.reasons); n != said {
			t.Errorf("each pass logs the same: %q", w.reasons[said:])
		}
		for range 10 {
			w.now += bourse.Hour
			w.settle()
			w.mine(l.network, 1)
		}
		for _, id := range more {
			w.wants(id, bourse.WalletDone, true)
		}
		w.hourCost = 0
		w.restart()
		w.settle()
		w.mine(l.network, int(l.confirms))
		for _, id := range ids {
			w.wants(id, bourse.WalletDone, true)
		}
		w.finish()
	})
}

// TestJoinedReplacedWithoutUnmade replaces a joined transaction when one of its withdrawals cannot be made any more.
// All wait, the log says why, and others are paid meanwhile. Once an operator releases that one, the others are paid
// together.
func TestJoinedReplacedWithoutUnmade(t *testing.T) {
	eachThat(t, joins, func(t *testing.T, w *world, l *listing) {
		ids := w.crowd(l, 5)
		w.settle()
		w.unmade = func(p *chain.Payment) error {
			for _, to := range append([]chain.Pay{{To: p.To}}, p.With...) {
				if w.outside[ids[1]] == to.To.Address {
					return errors.New("nobody can be paid there any more")
				}
			}
			return nil
		}
		w.must(bourse.Command{Kind: bourse.CommandReplaceWithdrawal, Wallet: &bourse.WalletCommand{ID: ids[0]}})
		w.settle()
		if txs := w.transactions(ids); len(txs) > 0 {
			t.Errorf("%v: what was left behind is never paid", txs)
		}
		if !slices.Contains(w.reasons, "nobody can be paid there any more") {
			t.Errorf("the log has %q", w.reasons)
		}
		more := w.crowd(l, 5)
		w.settle()
		if txs := w.transactions(more); len(txs) != 1 {
			t.Errorf("the others have %v", txs)
		}

		w.must(bourse.Command{Kind: bourse.CommandReleaseWithdrawal, Wallet: &bourse.WalletCommand{ID: ids[1]}})
		w.settle()
		rest := slices.Concat(ids[:1], ids[2:])
		if txs := w.transactions(rest); len(txs) != 1 {
			t.Errorf("%v without the released one", txs)
		}
		w.mine(l.network, int(l.confirms))
		for _, id := range append(rest, more...) {
			w.wants(id, bourse.WalletDone, true)
		}
	})
}
