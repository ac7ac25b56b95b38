package wallet_test

import (
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
)

// remembered is the number of blocks of a network that the journal's state has.
const remembered = 1000

// TestDeepReorganisation replaces more blocks than are remembered, with a credited deposit among them or without one.
// All that are remembered are taken back once; the network says what is wrong, and its waiting costs no command.
func TestDeepReorganisation(t *testing.T) {
	// after is the number of blocks above the deposit's.
	for halted, after := range map[bourse.Halt]int{bourse.HaltReorg: 10, bourse.HaltDeepReorg: remembered} {
		t.Run(halted.String(), func(t *testing.T) {
			w, l := newWorld(t, onBTC), listed(onBTC, btc)
			n := w.network(onBTC)
			w.mine(onBTC, remembered-after)
			w.pay(l, 1, 10*l.least)
			w.mine(onBTC, 1+after)
			if _, err := n.node.Reorg(remembered, true); err != nil {
				t.Fatal(err)
			}
			for w.step(n) {
			}

			w.deepAt(n, halted)
			w.pause(onBTC, false)
			w.deepAt(n, bourse.HaltDeepReorg)
			w.restart()
			w.deepAt(w.network(onBTC), bourse.HaltDeepReorg)
		})
	}
}

// deepAt wants a network to be halted for a reason, and not to operate because its chain changed too deep. After the
// first step, the journal does not grow.
func (w *world) deepAt(n *network, halted bourse.Halt) {
	w.tb.Helper()
	w.step(n)
	before := len(w.journal)
	for range 5 {
		w.step(n)
	}
	if got := w.board.State(n.id).Halted; got != halted {
		w.tb.Errorf("halted by %q, want %q", got, halted)
	}
	h := n.worker.Health()
	if h.Operating || !strings.Contains(h.Reason, "deeper than is remembered: its block") {
		w.tb.Errorf("%+v", h)
	}
	if grown := len(w.journal) - before; grown != 0 {
		w.tb.Errorf("the journal grew by %d commands", grown)
	}
}
