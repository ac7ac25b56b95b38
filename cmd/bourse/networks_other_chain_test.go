package main

import (
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

// TestNodeOfAnotherChain has a node of another chain than the settings name. An exchange that runs stops the network
// before it reads a block, takes nothing back, and goes on once the right node is there again; a start is refused.
func TestNodeOfAnotherChain(t *testing.T) {
	if testing.Short() {
		return
	}
	for _, kind := range []*nodetest.Kind{nodetest.Knots(), nodetest.Litecoin(), nodetest.Btcd()} {
		t.Run(kind.Name, func(t *testing.T) {
			w := walk(t, bitcoins(t, kind), nil)
			w.deposit()
			head, err := w.outside.Mine(1)
			must(t, err)
			height := head.Height
			w.until("the exchange read the block", func() bool { return w.height() == height })

			w.node.Stop()
			w.node.RunOther()
			const says = "the node is of another chain: its first block is not that of "
			w.until("the network names the chain", func() bool { return strings.Contains(w.reason(), says+kind.Params.Name) })
			if w.operating() || w.height() != height || w.status() != "DONE" {
				t.Errorf("on another chain: operating %t, height %d, want %d, a deposit that is %s", w.operating(), w.height(), height, w.status())
			}
			w.stop()
			if w.launch("dev") {
				w.kill()
				t.Error("the exchange started with a node of another chain")
			} else if !strings.Contains(w.log.String(), says) {
				t.Errorf("the refusal of the start is:\n%s", w.log)
			}

			w.node.Stop()
			w.node.Run()
			w.start()
			w.until("the network operates", w.operating)
			w.until("the exchange knows the chain", func() bool { return w.height() == height })
			if w.status() != "DONE" || w.balance() != "0.5" {
				t.Errorf("a deposit that is %s, %s", w.status(), w.balance())
			}
			w.stop()
			if said := w.log.String(); strings.Contains(said, "a block left the chain") {
				t.Errorf("the log is:\n%s", said)
			}
		})
	}
}
