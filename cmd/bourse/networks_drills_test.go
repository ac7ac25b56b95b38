package main

import (
	"testing"

	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

// TestRealDrills carries out drills of docs/runbook.md on real nodes: a payment that no block takes, and a credited
// deposit that leaves the chain.
func TestRealDrills(t *testing.T) {
	if testing.Short() {
		return
	}
	t.Run("knots", func(t *testing.T) {
		r := bitcoins(t, nodetest.Knots())
		r.settings += "\n    fees: {floor: 5, stuck: 1}"
		w := walk(t, r, nil)
		w.deposit()
		w.stuckPayment()
		w.haltsItself(r.outside.(*nodetest.Outside))
	})
	for _, kind := range []*nodetest.Kind{nodetest.Anvil(), nodetest.Geth()} {
		t.Run(kind.Name, func(t *testing.T) {
			r := ethers(t, kind)
			r.settings += "\n    fees: {stuck: 1}"
			w := walk(t, r, nil)
			w.deposit()
			w.ordered("0.1")
			w.settled("a withdrawal that is done", func() bool { return w.status() == "DONE" })
			w.mine(1) // from here on the hot wallet needs no block to pay
			w.stuckPayment()
		})
	}
}

// stuckPayment leaves a withdrawal out of blocks until another transaction outbids its first one at the node. One of
// them is mined, and the withdrawal arrives once.
func (w *depositor) stuckPayment() {
	w.t.Helper()
	_, address := w.ordered("0.1")
	w.until("a payment that waits", func() bool { return len(w.pool(address)) == 1 })
	first := w.pool(address)[0]

	empty := w.outside.(interface {
		MineEmpty(count int) (chain.BlockRef, error)
	})
	w.minedBy(10, func() {
		_, err := empty.MineEmpty(1)
		must(w.t, err)
	}, "a payment in its place", func() bool {
		pool := w.pool(address)
		return len(pool) == 1 && pool[0] != first
	})
	w.mined("a withdrawal that is done", func() bool { return w.status() == "DONE" && w.arrived(address) != "0" })
	w.mine(w.confirms)
	if got := w.arrived(address); got != "0.1" {
		w.t.Errorf("%s arrived", got)
	}
}

// pool returns the names of the transactions that wait at the node; on networks of accounts, of those to an address.
func (w *depositor) pool(address string) (names []string) {
	w.t.Helper()
	if w.node.Params != nil {
		w.node.Ask(&names, "getrawmempool")
	} else if name := w.waitingFor(address); name != "" {
		names = append(names, name)
	}
	return names
}

// haltsItself takes a credited deposit off the chain. The network halts itself and says why; a withdrawal waits, and is
// paid once the deposit is in another block and an operator ends the halt.
func (w *depositor) haltsItself(outside *nodetest.Outside) {
	w.t.Helper()
	before := w.balance()
	to := wallet[depositAnswer](w, "/wallet/deposit", map[string]any{}).Address
	_, err := outside.Send(chain.Pay{To: chain.Destination{Address: to}, Amount: w.tenths(2)})
	must(w.t, err)
	w.mine(w.confirms)
	w.until("a deposit that is done", func() bool { return w.status() == "DONE" && w.balance() != before })

	height := w.transfers()[0].Height
	_, err = outside.Reorg(w.confirms, true)
	must(w.t, err)
	w.until("a network that is halted", func() bool { return w.halted(w.asset) == "reorganisation" })
	_, address := w.ordered("0.05")
	must(w.t, outside.Restore())
	w.mine(w.confirms + 1)
	w.until("the deposit's new block", func() bool {
		return w.transfers()[1].Height > height
	})
	if got := w.status(); got != "PENDING" && got != "PROCESSING" || len(w.pool(address)) != 0 {
		w.t.Errorf("while the network is halted the withdrawal is %s, and %v wait at the node", got, w.pool(address))
	}
	operate[any](w.server, "withdrawals", "resume", w.asset)
	w.until("a withdrawal that is done", func() bool { return w.status() == "DONE" })
	w.mine(1)
	if got := w.arrived(address); got != "0.05" {
		w.t.Errorf("%s arrived", got)
	}
}
