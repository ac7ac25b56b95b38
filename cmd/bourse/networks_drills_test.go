package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

// TestRealDrills carries out drills of docs/runbook.md on real nodes: a payment that no block takes, one that is
// evicted from the node's pool, fees that rise above the cap, and a credited deposit that leaves the chain.
func TestRealDrills(t *testing.T) {
	if testing.Short() {
		return
	}
	for _, kind := range []*nodetest.Kind{nodetest.Crowded(nodetest.Knots()), nodetest.Crowded(nodetest.Litecoin()), nodetest.Btcd()} {
		t.Run(kind.Name, func(t *testing.T) {
			r, most, bounded := bitcoins(t, kind), int64(40), kind.Name != "btcd"
			if !bounded {
				most = 7 // without a full pool, a bid rises by one for each block
			}
			r.settings += fmt.Sprintf("\n    fees: {floor: 5, cap: %d, stuck: 1}", most)
			k := newKeeper(t, permissiveOf(&r))
			k.start()
			w := walk(t, r, k)
			w.deposit()
			w.stuckPayment()
			w.haltsItself()
			w.dearBlocks(k, most, bounded)
		})
	}
	for _, kind := range []*nodetest.Kind{nodetest.Anvil(), nodetest.Geth()} {
		t.Run(kind.Name, func(t *testing.T) {
			r := ethers(t, kind)
			r.settings += fmt.Sprintf("\n    fees: {cap: %d, stuck: 1}", capOfDrills)
			w := walk(t, r, nil)
			w.deposit()
			w.ordered("0.1")
			w.settled("a withdrawal that is done", func() bool { return w.status() == "DONE" })
			w.mine(1) // from here on the hot wallet needs no block to pay
			w.stuckPayment()
			w.haltsItself()
			w.feeSpike(r.outside.(*nodetest.Ether))
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
	} else if tx := w.waitingFor(address); tx != nil {
		names = append(names, tx.Hash)
	}
	return names
}

// haltsItself takes a credited deposit off the chain. The network halts itself and says why; a withdrawal waits, and is
// paid once the deposit is in another block and an operator ends the halt.
func (w *depositor) haltsItself() {
	w.t.Helper()
	outside := w.outside.(interface {
		world
		Restore() error
	})
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
	w.settled("a withdrawal that is done", func() bool { return w.status() == "DONE" })
	w.mine(1)
	if got := w.arrived(address); got != "0.05" {
		w.t.Errorf("%s arrived", got)
	}
}

// capOfDrills is the highest price of gas that payments of the drills offer first, in wei.
const capOfDrills uint64 = 5e9

// feeSpike lets the price of gas rise above what a withdrawal offers, and then above the cap, so that no block has one
// of its transactions. The withdrawal is outbid below the cap and waits there. It is paid once the price has fallen, by
// one of its transactions.
func (w *depositor) feeSpike(ether *nodetest.Ether) {
	w.t.Helper()
	_, address := w.ordered("0.1")
	var last *waitingTx
	w.until("a payment that waits", func() bool {
		last = w.waitingFor(address)
		return last != nil
	})
	offered := map[string]bool{last.Hash: true}

	_, err := ether.Spike(last.most(w.t) + 1)
	must(w.t, err)
	w.minedBy(10, func() {
		_, err := ether.MineEmpty(1)
		must(w.t, err)
	}, "a payment in its place", func() bool {
		tx := w.waitingFor(address)
		return tx != nil && tx.Hash != last.Hash
	})
	held := func() *waitingTx {
		for range 3 {
			head, err := ether.Spike(capOfDrills + 1)
			must(w.t, err)
			w.until("the exchange read the block", func() bool { return w.height() == head.Height })
		}
		tx := w.waitingFor(address)
		if tx == nil {
			w.t.Fatal("no payment waits")
		}
		offered[tx.Hash] = true
		return tx
	}
	last = held()
	if tx := held(); len(offered) != 2 || tx.Hash != last.Hash || last.most(w.t) > capOfDrills || w.arrived(address) != "0" {
		w.t.Errorf("of %d transactions %+v waits at %d wei, and then %+v", len(offered), last, last.most(w.t), tx)
	}

	w.mined("a withdrawal that is done", func() bool { return w.status() == "DONE" && w.arrived(address) != "0" })
	w.mine(w.confirms)
	if got := w.arrived(address); got != "0.1" {
		w.t.Errorf("%s arrived", got)
	}
	for name := range offered {
		var receipt any
		if w.node.Ask(&receipt, "eth_getTransactionReceipt", name); (receipt != nil) != (name == last.Hash) {
			w.t.Errorf("a block has %s: %t", name, receipt != nil)
		}
	}
	w.stop()
	if said := w.log.String(); !strings.Contains(said, "a transaction is overdue and is not outbid") || !strings.Contains(said, "costs more than allowed") {
		w.t.Error("the log does not say that the cap is reached")
	}
}

// waitingTx is a transaction that a node of Ethereum has in no block.
type waitingTx struct {
	Hash string `json:"hash"`
	To   string `json:"to"`
	Most string `json:"maxFeePerGas"`
}

// most returns the highest price of gas that it pays, in wei.
func (tx *waitingTx) most(t *testing.T) uint64 {
	t.Helper()
	wei, err := strconv.ParseUint(tx.Most, 0, 64)
	must(t, err)
	return wei
}

// waitingFor returns the payment to an address that a node of Ethereum has in no block; nil for none.
func (w *depositor) waitingFor(address string) *waitingTx {
	w.t.Helper()
	var pool struct {
		Pending map[string]map[string]waitingTx `json:"pending"`
	}
	w.node.Ask(&pool, "txpool_content")
	for _, of := range pool.Pending {
		for _, tx := range of {
			if strings.EqualFold(tx.To, address) {
				return &tx
			}
		}
	}
	return nil
}
