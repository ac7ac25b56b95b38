package wallet_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
)

// moving returns the exchange's sweeps or top-ups that are in no block and not dropped.
func (w *world) moving(id bourse.NetworkID, kind bourse.SignedKind) (list []bourse.SignedTx) {
	for _, s := range w.board.Signed(id) {
		if s.Kind == kind && s.State != bourse.SignedMined {
			list = append(list, s)
		}
	}
	return list
}

// movesTo mines blocks until a sweep or top-up waits.
func (w *world) movesTo(l *listing, kind bourse.SignedKind) bourse.SignedTx {
	w.tb.Helper()
	for range 20 {
		if list := w.moving(l.network, kind); len(list) == 1 {
			return list[0]
		}
		w.mine(l.network, 1)
	}
	w.tb.Fatalf("no %s was signed", kind)
	return bourse.SignedTx{}
}

// bumping is a world on one network whose payments are overdue after a block.
func bumping(t *testing.T) (*world, *network) {
	t.Helper()
	w := newWorld(t, onETH)
	w.stuck = 1
	w.restart()
	return w, w.network(onETH)
}

// noMoves lets no sweep or top-up be made.
func noMoves(p *chain.Payment) error {
	if p.Kind != bourse.SignedWithdrawal {
		return chain.ErrCost
	}
	return nil
}

// TestBumpSweep lets the price of blocks rise above what a sweep pays. It is outbid with its nonce, and the deposit
// arrives once.
func TestBumpSweep(t *testing.T) {
	w, n := bumping(t)
	l := listed(onETH, eth)
	hot := w.has(n, chain.IndexHot, l)
	w.pay(l, 1, 50*l.least)
	first := w.movesTo(l, bourse.SignedSweep)
	must(t, n.node.Spike(2))
	w.mine(onETH, 1)
	next := w.movesTo(l, bourse.SignedSweep)
	if next.Tx == first.Tx || next.From != first.From || next.Nonce != first.Nonce || w.has(n, 1, l) != bourse.Units(50*l.least) {
		t.Fatalf("after %+v there is %+v", first, next)
	}
	w.mine(onETH, 3)
	if got := w.has(n, chain.IndexHot, l); len(w.moving(onETH, bourse.SignedSweep)) > 0 || !hot.Less(got) {
		t.Errorf("the hot wallet had %s and has %s", hot.Format(0), got.Format(0))
	}
	w.finish()
}

// TestBumpTokenSweep lets the price rise above what a token's sweep pays. Its address cannot pay for another one, so it
// is topped up once more.
func TestBumpTokenSweep(t *testing.T) {
	w, n := bumping(t)
	l := listed(onETH, usdt)
	w.pay(l, 1, 50*l.least)
	first := w.movesTo(l, bourse.SignedSweep)
	must(t, n.node.Spike(2))
	w.mine(onETH, 1)
	if len(w.moving(onETH, bourse.SignedTopUp)) != 1 || len(w.board.GivenUpMoves(onETH)) != 1 {
		t.Fatal("its address is not topped up")
	}
	next := w.movesTo(l, bourse.SignedSweep)
	if next.Tx == first.Tx || next.From != first.From || next.Nonce != first.Nonce {
		t.Fatalf("after %+v there is %+v", first, next)
	}
	w.mine(onETH, 1)
	if left := w.has(n, 1, l); !left.IsZero() {
		t.Errorf("%s are left", left.Format(0))
	}
	w.finish()
}

// TestNoDearTokenSweep lets the price rise above four times what a token's sweep pays. Nobody waits for it, so it stays, and is
// mined once the price has fallen.
func TestNoDearTokenSweep(t *testing.T) {
	w, n := bumping(t)
	l := listed(onETH, usdt)
	w.pay(l, 1, 50*l.least)
	first := w.movesTo(l, bourse.SignedSweep)
	must(t, n.node.Spike(5))
	w.mine(onETH, 3)
	list := w.moving(onETH, bourse.SignedSweep)
	if len(list) != 1 || list[0].Tx != first.Tx || len(w.moving(onETH, bourse.SignedTopUp)) > 0 {
		t.Errorf("a sweep at five times the price: %+v", list)
	}
	must(t, n.node.Spike(1))
	w.mine(onETH, 1)
	if left := w.has(n, 1, l); !left.IsZero() {
		t.Errorf("%s are left", left.Format(0))
	}
	w.finish()
}

// TestSweepsPassOneThatIsNotSigned lets nothing be signed in the place of a given up sweep. Other sweeps are outbid all the
// same.
func TestSweepsPassOneThatIsNotSigned(t *testing.T) {
	w, n := bumping(t)
	l := listed(onETH, eth)
	w.pay(l, 1, 50*l.least)
	w.pay(l, 2, 50*l.least)
	for range 20 {
		if len(w.moving(onETH, bourse.SignedSweep)) < 2 {
			w.mine(onETH, 1)
		}
	}
	w.unmade = func(p *chain.Payment) error {
		if p.From == 1 {
			return chain.ErrCost
		}
		return nil
	}
	must(t, n.node.Spike(2))
	w.mine(onETH, 6)
	if left := w.has(n, 2, l); !left.Less(bourse.Units(l.least)) {
		t.Errorf("%s are left behind one that is not signed", left.Format(0))
	}
	w.unmade = nil
	w.mine(onETH, 6)
	if left := w.has(n, 1, l); !left.Less(bourse.Units(l.least)) {
		t.Errorf("%s are left", left.Format(0))
	}
	w.finish()
}

// TestBumpTopUp lets the price rise above what a top-up pays. It is outbid with the same payment and its nonce, and
// no withdrawal takes that one: the withdrawal behind it is paid too.
func TestBumpTopUp(t *testing.T) {
	w, n := bumping(t)
	l := listed(onETH, usdt)
	w.credit(l, 2, 100*l.least)
	w.pay(l, 1, 50*l.least)
	first := w.movesTo(l, bourse.SignedTopUp)
	must(t, n.node.Spike(2))
	id := w.mustWithdraw(l, 2, 10*l.least)
	w.mine(onETH, 1)
	next := w.movesTo(l, bourse.SignedTopUp)
	if next.Tx == first.Tx || next.Nonce != first.Nonce || w.signed(l, w.withdrawals[id].Tx).Nonce <= next.Nonce {
		t.Fatalf("after %+v there is %+v", first, next)
	}
	w.mine(onETH, 12)
	w.wants(id, bourse.WalletDone, true)
	if left := w.has(n, 1, l); !left.IsZero() {
		t.Errorf("%s are left", left.Format(0))
	}
	w.finish()
}

// TestGivenUpTopUpIsMined lets nothing be made in the place of a top-up. The first one is offered on, no withdrawal
// takes its nonce, and once the price has fallen it is mined: nobody is credited, and all goes on.
func TestGivenUpTopUpIsMined(t *testing.T) {
	w, n := bumping(t)
	l := listed(onETH, usdt)
	w.credit(l, 2, 100*l.least)
	w.pay(l, 1, 50*l.least)
	first := w.movesTo(l, bourse.SignedTopUp)
	w.unmade = noMoves
	must(t, n.node.Spike(2))
	w.mine(onETH, 3)
	if len(w.moving(onETH, bourse.SignedTopUp)) > 0 || len(w.board.GivenUpMoves(onETH)) != 1 {
		t.Fatal("it was not given up")
	}
	if got := n.worker.Overdue(); got != 1 {
		t.Errorf("%d payments are overdue", got)
	}
	id := w.mustWithdraw(l, 2, 10*l.least)
	must(t, n.node.Forget(first.Tx))
	w.mine(onETH, 1)
	if w.withdrawals[id].Tx != (bourse.TxHash{}) {
		t.Fatal("a withdrawal takes its nonce")
	}
	must(t, n.node.Spike(1))
	w.mine(onETH, 1)
	if s := w.board.State(onETH); s.Stopped() || len(w.board.GivenUpMoves(onETH)) > 0 || !w.balance(1, eth).IsZero() {
		t.Fatalf("%+v", s)
	}
	w.unmade = nil
	w.mine(onETH, 12)
	w.wants(id, bourse.WalletDone, true)
	w.finish()
}

// TestSweepMinedBeforeItIsRead mines a given up sweep right before the worker asks for the address's nonce, with another
// deposit to it. Nothing more is signed for the address: what it has now is not settled.
func TestSweepMinedBeforeItIsRead(t *testing.T) {
	w, n := bumping(t)
	l := listed(onETH, eth)
	w.pay(l, 1, 50*l.least)
	w.movesTo(l, bourse.SignedSweep)
	w.unmade = noMoves
	must(t, n.node.Spike(2))
	w.mine(onETH, 3)
	if len(w.board.GivenUpMoves(onETH)) != 1 {
		t.Fatal("it was not given up")
	}
	must(t, n.node.Spike(1))
	w.unmade = nil
	asked := false
	w.nonces = func() {
		if !asked {
			asked = true
			w.pay(l, 1, 60*l.least)
			_, err := n.node.Mine(1)
			must(t, err)
		}
	}
	before := w.asked
	w.settle()
	if !asked || w.asked > before {
		t.Fatalf("asked for the nonce: %t; for %d signatures", asked, w.asked-before)
	}
	w.mine(onETH, 1)
	if len(w.board.GivenUpMoves(onETH)) > 0 || w.asked > before {
		t.Fatal("it was not mined")
	}
	w.finish()
}

// TestNoSweepAtALoss lets the price rise so high that another sweep would cost more than a tenth of what it moves. The
// first one stays.
func TestNoSweepAtALoss(t *testing.T) {
	w, n := bumping(t)
	l := listed(onETH, eth)
	w.pay(l, 1, l.least)
	first := w.movesTo(l, bourse.SignedSweep)
	must(t, n.node.Spike(30))
	w.mine(onETH, 3)
	if list := w.moving(onETH, bourse.SignedSweep); len(list) != 1 || list[0].Tx != first.Tx {
		t.Errorf("a sweep at a loss: %+v", list)
	}
	must(t, n.node.Spike(1))
	w.finish()
}

// TestTopUpThatAReleasedWithdrawalExcludes releases a withdrawal whose transaction is mined after all, in place of the
// top-up that has its nonce. The top-up is given up, and the next one is made: sweeps go on.
func TestTopUpThatAReleasedWithdrawalExcludes(t *testing.T) {
	w := newWorld(t, onETH)
	n := w.network(onETH)
	l := listed(onETH, usdt)
	native := listed(onETH, eth)
	w.credit(native, 2, 100*native.least)
	id := w.mustWithdraw(native, 2, 10*native.least)
	w.settle()
	released := w.signed(native, w.withdrawals[id].Tx)
	must(t, n.node.Forget(released.Tx))
	w.must(bourse.Command{Kind: bourse.CommandReleaseWithdrawal, Wallet: &bourse.WalletCommand{ID: id}})

	n.faults.Inject(devnet.Refused, devnet.MethodBroadcast, 0)
	w.pay(l, 1, 50*l.least)
	if topUp := w.movesTo(l, bourse.SignedTopUp); !topUp.Rivals(&released) {
		t.Fatalf("%+v is not in place of %+v", topUp, released)
	}
	must(t, n.node.Restore())
	w.mine(onETH, 1)
	if s := w.board.State(onETH); s.Halted != bourse.HaltStrangeSpend {
		t.Fatalf("what was released is not mined: %+v", s)
	}
	n.faults.Clear()
	w.pause(onETH, false)
	w.mine(onETH, 20)
	if left := w.has(n, 1, l); !left.IsZero() {
		t.Errorf("%s are never swept: %+v", left.Format(0), w.moving(onETH, bourse.SignedTopUp))
	}
	w.checkOwned(n)
}
