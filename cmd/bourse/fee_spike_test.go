package main

import (
	"flag"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

var spike = flag.Bool("networks.spike", false, "let fees rise on a real node")

// dear is the price of gas of a spike, some ten times what payments offer before it.
const dear = "0x4a817c800" // 20e9

// TestFeeSpike lets the price of gas rise above what a withdrawal on a real node offers, and leaves it there. The
// withdrawal is outbid and arrives once: a block has the second transaction, and none has the first.
func TestFeeSpike(t *testing.T) {
	if !*spike {
		return
	}
	t.Run("anvil", func(t *testing.T) {
		r := ethers(t, nodetest.Anvil())
		r.settings += "\n    fees: {stuck: 1}"
		w := walk(t, r, nil)
		w.deposit()
		w.ordered("0.1")
		w.settled("a withdrawal that is done", func() bool { return w.status() == "DONE" })
		w.mine(1) // from here on the hot wallet needs no block to pay

		_, address := w.ordered("0.1")
		var first string
		w.until("a payment that waits", func() bool {
			first = w.waitingFor(address)
			return first != ""
		})
		w.spiked("a payment that outbids it", func() bool { return w.arrived(address) != "0" })
		w.until("a withdrawal that is done", func() bool { return w.status() == "DONE" })
		w.mine(w.confirms)
		if got := w.arrived(address); got != "0.1" {
			t.Errorf("%s arrived", got)
		}
		var receipt any
		if w.node.Ask(&receipt, "eth_getTransactionReceipt", first); receipt != nil {
			t.Errorf("the first transaction was mined: %v", receipt)
		}
	})
}

// spiked mines blocks of the spike's price until something holds, seldom enough that the exchange keeps up.
func (w *depositor) spiked(what string, holds func() bool) {
	w.t.Helper()
	w.minedBy(10, func() {
		w.node.Ask(new(any), "anvil_setNextBlockBaseFeePerGas", dear)
		w.mine(1)
	}, what, holds)
}

// waitingFor returns the hash of the payment to an address that a node of Ethereum has in no block; empty for none.
func (w *depositor) waitingFor(address string) string {
	w.t.Helper()
	var pool struct {
		Pending map[string]map[string]struct {
			Hash string `json:"hash"`
			To   string `json:"to"`
		} `json:"pending"`
	}
	w.node.Ask(&pool, "txpool_content")
	for _, of := range pool.Pending {
		for _, tx := range of {
			if strings.EqualFold(tx.To, address) {
				return tx.Hash
			}
		}
	}
	return ""
}
