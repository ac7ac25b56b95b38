package wallet_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// TestWithdrawalPaysOnce follows a withdrawal: done when its network takes it,
// paid when it is mined.
func TestWithdrawalPaysOnce(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 100*l.least)
		id := w.mustWithdraw(l, 1, 10*l.least)
		w.wants(id, bourse.WalletProcessing, false)
		w.settle()
		w.wants(id, bourse.WalletDone, false)
		if reason := w.cancel(id); reason != bourse.WithdrawalSigned {
			t.Errorf("a cancel of what is sent: %s", reason)
		}
		w.mine(l.network, 1)
		w.wants(id, bourse.WalletDone, true)
		w.finish()
	})
}

// TestWithdrawalOfManyDeposits is paid from what customers brought, when the hot
// wallet alone does not have it.
func TestWithdrawalOfManyDeposits(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		w.drain(l)
		for account := range bourse.AccountID(people) {
			w.pay(l, account+1, 30*l.least, 40*l.least)
		}
		w.mine(l.network, int(l.confirms))
		id := w.mustWithdraw(l, 1, 60*l.least)
		// Where deposits must be swept first, that takes blocks.
		w.mine(l.network, 20)
		w.wants(id, bourse.WalletDone, true)
		w.finish()
	})
}

// TestNotPaidFromYoungDeposits lets a withdrawal wait that only a deposit could
// pay for which is not deep enough: the depositor takes it back.
func TestNotPaidFromYoungDeposits(t *testing.T) {
	// Behind a shared address all deposits are the hot wallet's at once.
	own := func(l *listing) bool { return l.ripens() && devnet.Lookup(symbols[l.network]).Shape.MemoName == "" }
	eachThat(t, own, func(t *testing.T, w *world, l *listing) {
		w.drain(l)
		w.credit(l, 1, 100*l.least)
		w.pay(l, 2, 300*l.least)
		young := w.pay(l, 3, 400*l.least)
		w.mine(l.network, l.shallow())
		id := w.mustWithdraw(l, 1, 60*l.least)
		w.settle()
		w.wants(id, bourse.WalletProcessing, false)
		if _, err := w.network(l.network).node.DoubleSpend(young); err != nil {
			t.Fatal(err)
		}
		w.settle()
		w.mine(l.network, 10)
		w.wants(id, bourse.WalletDone, true)
		w.finish()
	})
}

// drain pays out what the hot wallet was funded with, but for what payments cost
// where they cost another coin, or what is kept back for that.
func (w *world) drain(l *listing) {
	w.tb.Helper()
	var has bourse.Amount
	w.engine.Owned(l.network, func(a bourse.AssetID, amount bourse.Amount) {
		if a == l.asset {
			has = amount
		}
	})
	units, _ := has.Div64(l.unit)
	if l.coin() == w.network(l.network).client.Shape().Native {
		units = units.Minus(bourse.Units(10 * l.least))
	}
	w.must(bourse.Command{
		Kind: bourse.CommandCredit, Account: 3, AssetID: l.asset, Amount: mul(units, l.unit).Plus(l.ledger(l.fee)),
	})
	address, err := w.network(l.network).node.NewAddress()
	if err != nil {
		w.tb.Fatal(err)
	}
	asked := &bourse.Withdraw{Network: l.network, Asset: l.asset, Amount: mul(units, l.unit), Fee: l.ledger(l.fee), Address: address}
	id := w.must(bourse.Command{Kind: bourse.CommandWithdraw, Account: 3, Wallet: &bourse.WalletCommand{Withdraw: asked}})
	w.outside[bourse.WalletID(id)] = address
	w.settle()
	w.mine(l.network, 1)
	w.wants(bourse.WalletID(id), bourse.WalletDone, true)
}

func mul(a bourse.Amount, n uint64) bourse.Amount {
	b, _ := a.Mul(n)
	return b
}

// fund pays coins to the hot wallet from outside, in a block.
func (w *world) fund(l *listing, units uint64) {
	w.tb.Helper()
	n := w.network(l.network)
	hot := n.client.Destination(chain.IndexHot)
	if _, err := n.node.Send(chain.Pay{To: hot, Coin: l.coin(), Amount: bourse.Units(units)}); err != nil {
		w.tb.Fatal(err)
	}
	w.mine(l.network, 1)
}

// TestHotWalletWaits lets withdrawals wait that the hot wallet cannot pay, also
// several that it could pay one by one, and pays each once when money comes.
func TestHotWalletWaits(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		w.drain(l)
		w.credit(l, 1, 1000*l.least)
		var ids []bourse.WalletID
		for range 3 {
			ids = append(ids, w.mustWithdraw(l, 1, 60*l.least))
		}
		w.settle()
		for _, id := range ids {
			w.wants(id, bourse.WalletProcessing, false)
		}
		for i := range ids {
			w.fund(l, 100*l.least)
			w.mine(l.network, int(l.confirms))
			done := 0
			for _, id := range ids {
				if w.withdrawals[id].Status == bourse.WalletDone {
					done++
				}
			}
			if done > (i+1)*110/60 || done < (i+1)*100/61 && done < i+1 {
				t.Fatalf("%d of %d are done after funding %d", done, len(ids), i+1)
			}
		}
		w.mine(l.network, 1)
		for _, id := range ids {
			w.wants(id, bourse.WalletDone, true)
		}
		w.finish()
	})
}

// TestPausedNetwork holds withdrawals back, in whatever state, but for cancels.
func TestPausedNetwork(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 100*l.least)
		before := w.mustWithdraw(l, 1, 10*l.least)
		w.pause(l.network, true)
		after := w.mustWithdraw(l, 1, 10*l.least)
		gone := w.mustWithdraw(l, 1, 10*l.least)
		w.settle()
		w.mine(l.network, 2)
		w.wants(before, bourse.WalletProcessing, false)
		w.wants(after, bourse.WalletPending, false)
		if reason := w.cancel(gone); reason != 0 {
			t.Error(reason)
		}
		w.pause(l.network, false)
		w.settle()
		w.mine(l.network, 1)
		w.wants(before, bourse.WalletDone, true)
		w.wants(after, bourse.WalletDone, true)
		w.wants(gone, bourse.WalletCanceled, false)
		w.finish()
	})
}

// TestFrozenAccount keeps one account's withdrawal waiting, costs no commands
// meanwhile, and holds nobody else up.
func TestFrozenAccount(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 100*l.least)
		w.credit(l, 2, 100*l.least)
		frozen, other := w.mustWithdraw(l, 1, 10*l.least), w.mustWithdraw(l, 2, 10*l.least)
		w.freeze(1, true)
		w.settle()
		w.wants(frozen, bourse.WalletProcessing, false)
		w.wants(other, bourse.WalletDone, false)
		commands := len(w.journal)
		w.restart()
		for range 5 {
			w.settle()
		}
		if len(w.journal) != commands {
			t.Errorf("%d commands while nothing happened", len(w.journal)-commands)
		}
		w.freeze(1, false)
		w.settle()
		w.mine(l.network, 1)
		w.wants(frozen, bourse.WalletDone, true)
		w.finish()
	})
}

// TestInternalTransfer books both sides at once and sends nothing.
func TestInternalTransfer(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 100*l.least)
		to := w.network(l.network).client.Destination(2)
		asked := &bourse.Withdraw{
			Network: l.network, Asset: l.asset, Amount: l.ledger(30 * l.least), Address: to.Address, Memo: to.Memo, Internal: 2,
		}
		points := w.points
		id := w.must(bourse.Command{Kind: bourse.CommandWithdraw, Account: 1, Wallet: &bourse.WalletCommand{Withdraw: asked}})
		w.settle()
		if w.withdrawals[bourse.WalletID(id)].Status != bourse.WalletDone || w.balance(2, l.asset) != asked.Amount || w.points != points {
			t.Fatalf("%+v", w.withdrawals)
		}
		w.finish()
	})
}

// TestPaymentToOurselves withdraws to an address of an account that is found on
// the chain alone: it is a payment and a deposit.
func TestPaymentToOurselves(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 100*l.least)
		to := w.network(l.network).client.Destination(2)
		asked := &bourse.Withdraw{
			Network: l.network, Asset: l.asset, Amount: l.ledger(30 * l.least), Fee: l.ledger(l.fee), Address: to.Address, Memo: to.Memo,
		}
		w.must(bourse.Command{Kind: bourse.CommandWithdraw, Account: 1, Wallet: &bourse.WalletCommand{Withdraw: asked}})
		w.settle()
		w.mine(l.network, int(l.confirms))
		if got := w.balance(2, l.asset); got != asked.Amount {
			t.Fatal(got.Format(0))
		}
	})
}

// TestCancelRacesTheSend cancels a withdrawal at each moment of its life: before the
// signer is asked it is canceled, while it works the signer decides, afterwards it is
// paid, and the chain shows it.
func TestCancelRacesTheSend(t *testing.T) {
	each(t, func(t *testing.T, _ *world, l *listing) {
		type course struct{ then, last bourse.WalletStatus }
		seen := map[course]int{}
		for moment := 1; ; moment++ {
			w := newWorld(t, l.network)
			w.credit(l, 1, 100*l.least)
			id := w.mustWithdraw(l, 1, 10*l.least)
			other := w.mustWithdraw(l, 1, 20*l.least)
			then := bourse.WalletStatus(0)
			reached := w.atPoint(moment, func() {
				reason := w.cancel(id)
				then = w.withdrawals[id].Status
				ends := then == bourse.WalletCanceled || then == bourse.WalletPendingCancel
				if ends != (reason == 0) || !ends && reason != bourse.WithdrawalSigned {
					t.Errorf("the cancel of %s got %q", then, reason)
				}
			})
			w.settle()
			w.mine(l.network, 1)
			status := w.withdrawals[id].Status
			seen[course{then, status}]++
			w.wants(id, status, status == bourse.WalletDone)
			w.wants(other, bourse.WalletDone, true)
			w.finish()
			if !*reached {
				break
			}
		}
		for _, c := range []course{
			{bourse.WalletCanceled, bourse.WalletCanceled}, {bourse.WalletPendingCancel, bourse.WalletDone},
			{bourse.WalletProcessing, bourse.WalletDone}, {bourse.WalletDone, bourse.WalletDone},
		} {
			if seen[c] == 0 {
				t.Errorf("no withdrawal was %s at the cancel and %s in the end", c.then, c.last)
			}
			delete(seen, c)
		}
		delete(seen, course{0, bourse.WalletDone}) // the moment after the last
		if len(seen) > 0 {
			t.Errorf("there was %v", seen)
		}
	})
}

// atPoint does something at a moment, counted from now and one. It tells
// afterwards whether that moment came.
func (w *world) atPoint(moment int, do func()) *bool {
	reached := new(bool)
	begun := w.points
	w.at = func(point int, _ string) {
		if point == begun+moment {
			*reached = true
			do()
		}
	}
	return reached
}

// TestChangeThatIsNotWorthIt pays a withdrawal whose change would cost more to
// spend than it is.
func TestChangeThatIsNotWorthIt(t *testing.T) {
	l := listed(onBTC, btc)
	w := newWorld(t, onBTC)
	w.credit(l, 1, 100*1e8)
	// One input of 20 coins, a cost of 100 + 70 + 2×40 at a rate of 10, and a
	// little less than an input's cost.
	id := w.mustWithdraw(l, 1, 20*1e8-2_500-650)
	w.settle()
	w.mine(onBTC, 1)
	w.wants(id, bourse.WalletDone, true)
	w.finish()
}

// TestLostBeforeTheJournal has a crash between the signer's record and the
// journal, and then everything else different: the withdrawal's first transaction
// is paid from what others have spent meanwhile.
func TestLostBeforeTheJournal(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 100*l.least)
		w.credit(l, 2, 100*l.least)
		id := w.mustWithdraw(l, 1, 10*l.least)
		w.at = func(_ int, what string) {
			if what == "after a signature" {
				w.at = nil
				w.freeze(1, true) // so that another one comes first
				panic(crashed{})
			}
		}
		w.settle()
		if w.crashes != 1 {
			t.Fatal("no crash")
		}
		other := w.mustWithdraw(l, 2, 20*l.least)
		w.settle()
		w.wants(other, bourse.WalletDone, false)
		w.freeze(1, false)
		w.settle()
		w.mine(l.network, 1)
		w.wants(id, bourse.WalletDone, true)
		w.wants(other, bourse.WalletDone, true)
		w.finish()
	})
}

// TestLostAndPreparedAnew has the same crash, and prepares other bytes after it:
// the signer's first transaction is the one that is sent.
func TestLostAndPreparedAnew(t *testing.T) {
	l := listed(onBTC, btc)
	w := newWorld(t, onBTC)
	w.credit(l, 1, 100*l.least)
	id := w.mustWithdraw(l, 1, 10*l.least)
	w.at = func(_ int, what string) {
		if what == "after a signature" {
			w.at = nil
			panic(crashed{})
		}
	}
	// A larger output comes in, which would be chosen now.
	n := w.network(onBTC)
	if _, err := n.node.Send(chain.Pay{To: n.client.Destination(chain.IndexHot), Coin: l.coin(), Amount: bourse.Units(50e8)}); err != nil {
		t.Fatal(err)
	}
	w.step(n)
	if w.crashes != 1 {
		t.Fatal("no crash")
	}
	w.mine(onBTC, 1)
	w.wants(id, bourse.WalletDone, false)
	w.mine(onBTC, 1)
	w.wants(id, bourse.WalletDone, true)
	w.finish()
}

// TestReplacedByAnOperator gives a withdrawal's transaction up, which some node
// forgot and others may have: nothing else takes what it spends, and what is signed
// in its place, here the same again, pays once.
func TestReplacedByAnOperator(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		w.credit(l, 1, 100*l.least)
		w.credit(l, 2, 100*l.least)
		id := w.mustWithdraw(l, 1, 10*l.least)
		n := w.network(l.network)
		w.settle()
		first := w.withdrawals[id].Tx
		if err := n.node.Forget(first); err != nil {
			t.Fatal(err)
		}
		w.must(bourse.Command{Kind: bourse.CommandReplaceWithdrawal, Wallet: &bourse.WalletCommand{ID: id}})
		if l.outputs() {
			w.freeze(1, true) // so that another payment is signed first
			other := w.mustWithdraw(l, 2, 10*l.least)
			w.settle()
			w.wants(other, bourse.WalletDone, false)
			w.freeze(1, false)
		}
		w.restart()
		w.settle()
		w.mine(l.network, 2)
		w.wants(id, bourse.WalletDone, true)
		if again := w.withdrawals[id].Tx == first; again == n.client.Shape().Replaces {
			t.Errorf("the first transaction paid: %t", again)
		}
		w.account()
	})
}

// TestReplacedWhileItCanBeMined gives a transaction up too early: what takes its
// place spends the same, so that the first one coming back pays nobody twice.
func TestReplacedWhileItCanBeMined(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		n := w.network(l.network)
		w.credit(l, 1, 100*l.least)
		id := w.mustWithdraw(l, 1, 10*l.least)
		w.settle()
		if err := n.node.Forget(w.withdrawals[id].Tx); err != nil {
			t.Fatal(err)
		}
		// More comes in, that would be spent first.
		hot := n.client.Destination(chain.IndexHot)
		if _, err := n.node.Send(chain.Pay{To: hot, Coin: l.coin(), Amount: bourse.Units(30e8)}); err != nil {
			t.Fatal(err)
		}
		n.faults.Inject(devnet.Refused, devnet.MethodBroadcast, 0)
		w.mine(l.network, int(l.confirms))
		w.must(bourse.Command{Kind: bourse.CommandReplaceWithdrawal, Wallet: &bourse.WalletCommand{ID: id}})
		if err := n.node.Restore(); err != nil { // another node had kept it
			t.Fatal(err)
		}
		n.faults.Clear()
		w.settle()
		w.mine(l.network, 2)
		w.wants(id, bourse.WalletDone, true)
		w.finish()
	})
}

// TestReservedThroughAReorganisation takes the output away that a waiting payment
// spends, and brings it back: nobody else may spend it.
func TestReservedThroughAReorganisation(t *testing.T) {
	l := listed(onBTC, btc)
	w := newWorld(t, onBTC)
	n := w.network(onBTC)
	w.drain(l)
	fund := chain.Pay{To: n.client.Destination(chain.IndexHot), Coin: l.coin(), Amount: bourse.Units(100e8)}
	if _, err := n.node.Send(fund); err != nil {
		t.Fatal(err)
	}
	w.mine(onBTC, 1)
	w.credit(l, 1, 100e8)
	first := w.mustWithdraw(l, 1, 60e8)
	w.settle()
	w.wants(first, bourse.WalletDone, false)
	if err := n.node.Forget(w.withdrawals[first].Tx); err != nil {
		t.Fatal(err)
	}
	n.faults.Inject(devnet.Refused, devnet.MethodBroadcast, 0) // so that it stays forgotten for a while
	if _, err := n.node.Reorg(1, false); err != nil {
		t.Fatal(err)
	}
	w.settle()
	w.mine(onBTC, 1)
	second := w.mustWithdraw(l, 1, 30e8)
	w.settle()
	for _, u := range w.board.Unspent(onBTC) {
		if u.Amount == l.ledger(100e8) {
			t.Errorf("free to spend: %+v", u)
		}
	}
	n.faults.Clear()
	w.settle()
	w.mine(onBTC, 2)
	w.wants(first, bourse.WalletDone, true)
	w.wants(second, bourse.WalletDone, true)
	w.finish()
}

// TestSpentBySomebodyElse has somebody else, with the exchange's keys, spend what
// the exchange is about to pay with: its own payment is not accepted, and nobody
// is told that it was.
func TestSpentBySomebodyElse(t *testing.T) {
	for _, l := range []*listing{listed(onBTC, btc), listed(onATOM, atom)} {
		t.Run(string(l.symbol), func(t *testing.T) {
			w := newWorld(t, l.network)
			w.credit(l, 1, 100*l.least)
			w.settle()
			w.steal(l)
			n := w.network(l.network)
			if _, err := n.node.Mine(1); err != nil {
				t.Fatal(err)
			}
			n.node.Lag(1, true) // so that it goes on paying
			id := w.mustWithdraw(l, 1, 10*l.least)
			w.settle()
			if d := w.withdrawals[id]; !d.Signed {
				t.Fatalf("nothing was signed for %+v", d)
			}
			w.wants(id, bourse.WalletProcessing, false)
		})
	}
}

// steal hands the network a payment by the exchange's keys that the exchange does
// not know of, and that takes all outputs, or the nonce of a dropped payment, or the next one.
func (w *world) steal(l *listing) {
	w.tb.Helper()
	n := w.network(l.network)
	to, err := n.node.NewAddress()
	if err != nil {
		w.tb.Fatal(err)
	}
	p := chain.Payment{
		Kind: bourse.SignedWithdrawal, Coin: l.coin(), Amount: bourse.Units(l.least), To: chain.Destination{Address: to},
		From: chain.IndexHot, CostCap: bourse.Units(1e15),
	}
	for _, u := range w.board.Unspent(l.network) {
		amount, _ := u.Amount.Div64(l.unit)
		p.Inputs = append(p.Inputs, chain.Input{Outpoint: u.Outpoint, Owner: u.Address, Coin: l.coin(), Amount: amount})
	}
	next, gaps := w.board.Nonce(l.network, chain.IndexHot)
	p.Nonce = append(gaps, next)[0]
	unsigned, err := n.client.Prepare(w.tb.Context(), &p)
	if err != nil {
		w.tb.Fatal(err)
	}
	raw, _, err := devnet.NewKeys(n.params, ownSeed).Sign(unsigned.Raw)
	if err != nil {
		w.tb.Fatal(err)
	}
	theirs := devnet.NewClient(n.params, devnet.NewKeys(n.params, ownSeed).Public(), n.node, devnet.ClientOptions{})
	if v, err := theirs.Broadcast(w.tb.Context(), raw); err != nil || v.Kind != chain.Accepted {
		w.tb.Fatal(v, err)
	}
}

// TestCrowdOfRefused has many withdrawals that the signer lets pass with approvals alone, or never. Each step
// asks for a few of them, and one that is free is signed without all being asked again.
func TestCrowdOfRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		w.limit = func(id chain.CoinID) signer.Limit {
			limit := signer.Unlimited(id)
			limit.Free, limit.Payment = bourse.Units(2*l.least), bourse.Units(4*l.least)
			return limit
		}
		w.restart()
		n := w.network(l.network)
		w.credit(l, 1, 1000*l.least)

		const crowd = 20
		for i := range uint64(crowd) {
			w.mustWithdraw(l, 1, 3*l.least+max(crowd/2, i)-crowd/2)
		}
		for i := range uint64(crowd) {
			w.mustWithdraw(l, 1, 6*l.least-i)
		}
		free := w.mustWithdraw(l, 1, l.least)
		sum, steps := 0, 0
		for more := true; more; steps++ {
			w.asked = 0
			more = w.step(n)
			sum += w.asked
			if w.asked > 11 {
				t.Fatalf("%d requests in a step", w.asked)
			}
		}
		if sum > 3*crowd || steps < 4 || n.worker.Limited() != 2*crowd {
			t.Errorf("%d requests in %d steps, and %d withdrawals wait", sum, steps, n.worker.Limited())
		}
		w.mine(l.network, 1)
		w.wants(free, bourse.WalletDone, true)

		w.limit = signer.Unlimited // an operator raises it, and all are paid
		w.restart()
		w.mine(l.network, 2*crowd) // a network of outputs pays as many in a block as it has outputs
		w.finish()
	})
}
