package wallet_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// TestMissedBlocks reads blocks that the exchange missed, of which the last ones are replaced meanwhile. The network is
// asked for its health once for some of them.
func TestMissedBlocks(t *testing.T) {
	const missed, read, replaced = 50, 30, 25
	l := listed(onBTC, btc)
	w := newWorld(t, onBTC)
	n := w.network(onBTC)
	w.mine(onBTC, 1)
	before := w.board.State(onBTC).Tip.Height
	asked := 0
	w.healths = func() error {
		asked++
		return nil
	}
	w.pay(l, 1, 50*l.least)
	if _, err := n.node.Mine(missed); err != nil {
		t.Fatal(err)
	}

	for range read {
		w.step(n)
	}
	if tip := w.board.State(onBTC).Tip.Height; tip != before+read || asked != 2 {
		t.Errorf("after %d steps the tip is %d, from %d on, and the network was asked %d times", read, tip, before, asked)
	}
	if _, err := n.node.Reorg(replaced, false); err != nil {
		t.Fatal(err)
	}
	w.settle()
	if s := w.board.State(onBTC); s.Tip != n.node.Head() || s.Stopped() || asked > 12 {
		t.Errorf("%+v, and the head is %v; the network was asked %d times", s, n.node.Head(), asked)
	}
	w.finish()
}

// TestMissedBlocksOfAnotherChain replaces the node by one of another chain while missed blocks are read: nothing is
// taken back.
func TestMissedBlocksOfAnotherChain(t *testing.T) {
	const missed, read = 20, 10
	w := newWorld(t, onBTC)
	n := w.network(onBTC)
	w.mine(onBTC, 1)
	if _, err := n.node.Mine(missed); err != nil {
		t.Fatal(err)
	}
	for range read {
		w.step(n)
	}
	tip := w.board.State(onBTC).Tip
	if _, err := n.node.Reorg(missed-1, false); err != nil {
		t.Fatal(err)
	}
	w.healths = func() error { return chain.ErrOdd }
	w.settle()
	if s := w.board.State(onBTC); s.Tip != tip || n.worker.Health().Operating {
		t.Errorf("the tip is %v, and was %v; %+v", s.Tip, tip, n.worker.Health())
	}
	w.healths = nil
	w.settle()
	if s := w.board.State(onBTC); s.Tip != n.node.Head() {
		t.Errorf("the tip is %v, and the head %v", s.Tip, n.node.Head())
	}
}

// TestMissedBlocksOfANodeBehind replaces the node by one that is behind, and does not operate, while missed blocks are
// read: nothing is signed.
func TestMissedBlocksOfANodeBehind(t *testing.T) {
	const missed, read = 20, 10
	l := listed(onBTC, btc)
	w := newWorld(t, onBTC)
	n := w.network(onBTC)
	w.credit(l, 1, 1000*l.least)
	w.mine(onBTC, 1)
	if _, err := n.node.Mine(missed); err != nil {
		t.Fatal(err)
	}
	for range read {
		w.step(n)
	}
	id := w.mustWithdraw(l, 1, 10*l.least)
	n.node.Lag(missed, false)
	w.healths = func() error { return chain.ErrOdd }
	w.settle()
	if tx := w.withdrawals[id].Tx; tx != (bourse.TxHash{}) || n.worker.Health().Operating {
		t.Errorf("the withdrawal has the transaction %x; %+v", tx, n.worker.Health())
	}

	n.node.Lag(0, false)
	w.healths = nil
	w.mine(onBTC, 2)
	w.wants(id, bourse.WalletDone, true)
	w.finish()
}
