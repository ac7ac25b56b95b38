package wallet_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
)

// story is a life of deposits and withdrawals. What it comes to must not depend
// on crashes.
func story(w *world, l *listing) string {
	n := w.network(l.network)
	w.pay(l, 1, 50*l.least, 30*l.least)
	w.mine(l.network, 1)
	if l.shallow() > 0 {
		w.reorg(n)
	}
	w.mine(l.network, int(l.confirms))
	ids := []bourse.WalletID{w.mustWithdraw(l, 1, 10*l.least), w.mustWithdraw(l, 1, 5*l.least)}
	w.settle()
	w.pause(l.network, true)
	ids = append(ids, w.mustWithdraw(l, 1, 7*l.least), w.mustWithdraw(l, 1, 8*l.least))
	w.settle()
	if reason := w.cancel(ids[2]); reason != 0 {
		w.tb.Fatal(reason)
	}
	w.pause(l.network, false)
	w.mine(l.network, 3)
	w.reorg(n)
	ids = append(ids, w.mustWithdraw(l, 1, 20*l.least))
	w.settle()
	w.mine(l.network, int(l.confirms)+3)
	w.finish()
	for i, id := range ids {
		if i == 2 {
			w.wants(id, bourse.WalletCanceled, false)
		} else {
			w.wants(id, bourse.WalletDone, true)
		}
	}
	return w.summary()
}

// reorg puts other blocks in the place of the last one; what was in it waits.
func (w *world) reorg(n *network) {
	w.tb.Helper()
	if _, err := n.node.Reorg(1, false); err != nil {
		w.tb.Fatal(err)
	}
	w.settle()
}

// summary tells what customers see in the end.
func (w *world) summary() string {
	var lines []string
	for _, d := range w.deposits {
		lines = append(lines, fmt.Sprintf("deposit %x:%d xid %d status %d", d.Tx, d.Index, d.ID, d.Status))
	}
	for id, d := range w.withdrawals {
		lines = append(lines, fmt.Sprintf("withdrawal %d status %d paid %s", id, d.Status, w.paid(id).Format(0)))
	}
	for account := bourse.AccountID(1); account <= people; account++ {
		for i := range listings {
			lines = append(lines, fmt.Sprintf("account %d %s %s", account, listings[i].symbol, w.balance(account, listings[i].asset).Format(0)))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// TestCrashAtEveryPoint tells the story once without a crash, and then once for
// each moment at which something becomes durable or leaves: the process ends
// there and starts again. Every other time the networks crash with it.
func TestCrashAtEveryPoint(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		w.outputs = 60
		w.open()
		want := story(w, l)
		points := w.points
		for point := 1; point <= points; point++ {
			w := newWorld(t, l.network)
			w.outputs, w.together = 60, point%2 == 0
			w.open()
			where := ""
			w.at = func(at int, what string) {
				if at == point {
					where = what
					panic(crashed{})
				}
			}
			if point <= w.points {
				continue // it lies before the story
			}
			if got := story(w, l); got != want || w.crashes != 1 {
				t.Fatalf("%d crashes, at point %d, %s:\n%s\nand without:\n%s", w.crashes, point, where, got, want)
			}
		}
		t.Logf("%d points", points)
	})
}

// TestEveryFault has each question of a worker answered in each wrong way, while
// there is a block to take in and a withdrawal to pay: the network shows as not
// operating, or the answer did no harm, and afterwards all is well.
func TestEveryFault(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		methods := []string{devnet.MethodHead, devnet.MethodBlock, devnet.MethodRate, devnet.MethodBroadcast}
		if !l.outputs() {
			methods = append(methods, devnet.MethodEstimate, devnet.MethodBalance)
		}
		w.credit(l, 1, 1000*l.least)
		for _, method := range methods {
			for _, fault := range devnet.AllFaults() {
				w.misbehave(l, fault, method)
			}
		}
		w.finish()
	})
}

func (w *world) misbehave(l *listing, fault devnet.Fault, method string) {
	w.tb.Helper()
	n := w.network(l.network)
	w.pay(l, 2, 2*l.least)
	w.mine(l.network, 1)
	id := w.mustWithdraw(l, 1, 2*l.least)
	if _, err := n.node.Mine(1); err != nil {
		w.tb.Fatal(err)
	}
	n.faults.Inject(fault, method, 0)
	w.settle()
	switch h := n.worker.Health(); {
	case fault == devnet.Stale: // now and then it happens to be right
	case h.Operating != (fault == devnet.Doubled || !changes(fault, method)), !h.Operating && h.Reason == "":
		w.tb.Fatalf("%s, fault %d: %+v", method, fault, h)
	}
	n.faults.Clear()
	w.settle()
	w.mine(l.network, 1)
	if w.paid(id).IsZero() {
		w.tb.Fatalf("%s, fault %d: %+v", method, fault, w.withdrawals[id])
	}
	w.wants(id, bourse.WalletDone, true)
}

// changes reports whether a fault changes a method's answer. Some answers have
// no number, and a verdict's text is the only thing that can lie in it.
func changes(fault devnet.Fault, method string) bool {
	switch fault {
	case devnet.LieNegative, devnet.LieFloat, devnet.LieHuge:
		return method != devnet.MethodBalance && method != devnet.MethodBroadcast
	case devnet.LieNull, devnet.LieText:
		return method != devnet.MethodRate && method != devnet.MethodEstimate || fault == devnet.LieNull
	default:
		return true
	}
}

// TestLostReply loses the answer to a broadcast: the payment is there, and is
// not made again.
func TestLostReply(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		n := w.network(l.network)
		w.credit(l, 1, 100*l.least)
		id := w.mustWithdraw(l, 1, 10*l.least)
		n.faults.Inject(devnet.LostReply, devnet.MethodBroadcast, 3)
		w.settle()
		w.wants(id, bourse.WalletProcessing, false)
		if reason := w.cancel(id); reason != bourse.WithdrawalSigned {
			t.Errorf("a cancel of what may be sent: %s", reason)
		}
		if h := n.worker.Health(); h.Operating {
			t.Errorf("%+v", h)
		}
		// It is found in a block before the node ever answers.
		w.mine(l.network, 1)
		w.wants(id, bourse.WalletDone, true)
		w.finish()
	})
}

// TestSilentNode shows as not operating; withdrawals are taken, wait, and can be
// canceled.
func TestSilentNode(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		n := w.network(l.network)
		w.credit(l, 1, 100*l.least)
		n.faults.Stop()
		w.settle()
		if h := n.worker.Health(); h.Operating || h.Reason == "" {
			t.Fatalf("%+v", h)
		}
		id, gone := w.mustWithdraw(l, 1, 10*l.least), w.mustWithdraw(l, 1, 10*l.least)
		w.settle()
		w.wants(id, bourse.WalletProcessing, false)
		if reason := w.cancel(gone); reason != 0 {
			t.Error(reason)
		}
		n.faults.Start()
		w.settle()
		w.mine(l.network, 1)
		w.wants(id, bourse.WalletDone, true)
		w.wants(gone, bourse.WalletCanceled, false)
		w.finish()
	})
}

// TestLaggingNode hides blocks: nothing is taken back because of that.
func TestLaggingNode(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		n := w.network(l.network)
		w.pay(l, 1, 20*l.least)
		w.mine(l.network, int(l.confirms))
		for _, silent := range []bool{false, true} {
			n.node.Lag(2, silent)
			w.settle()
			if h := n.worker.Health(); h.Operating != silent {
				t.Errorf("silent %t: %+v", silent, h)
			}
		}
		if s := w.board.State(l.network); s.Stopped() || s.Tip != n.node.Head() {
			t.Errorf("%+v", s)
		}
		w.finish()
	})
}

// TestReplacedBlock shows another block in the place of the last one, and no
// further one: that is enough to take the last one back.
func TestReplacedBlock(t *testing.T) {
	each(t, func(t *testing.T, w *world, l *listing) {
		n := w.network(l.network)
		w.mine(l.network, 1)
		old := w.board.State(l.network).Tip
		if _, err := n.node.Reorg(1, false); err != nil {
			t.Fatal(err)
		}
		n.node.Lag(1, true)
		w.settle()
		if tip := w.board.State(l.network).Tip; tip.Height != old.Height || tip.Hash == old.Hash {
			t.Errorf("the tip is %+v, and was %+v", tip, old)
		}
		w.finish()
	})
}
