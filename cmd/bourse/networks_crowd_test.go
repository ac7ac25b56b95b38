package main

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

// atOnce is the number of withdrawals that are approved at the same moment.
const atOnce = 1000

// TestRealCrowd has 1,000 withdrawals approved at the same moment, on a real node of Bitcoin. They share transactions,
// so one block pays them: each arrives once, and the ledger is what the chain has. Then the exchange is killed while it
// pays others.
func TestRealCrowd(t *testing.T) {
	if testing.Short() {
		return
	}
	t.Run("knots", func(t *testing.T) {
		r := bitcoins(t, nodetest.Knots())
		k := newNetworkKilling(t, r, coinRoute{route: route{"BTC", "BTC", "0.95", "0.0005"}, coin: "BTC", decimals: r.decimals})
		for range 12 {
			k.deposit(&k.routes[0])
		}
		k.holder.settle()

		// The first payments split their change.
		for _, count := range []int{1, 80, 20} {
			k.asked(count)
			k.until("payments at the node", func() bool { return k.waiting() == count })
			k.advance()
		}
		k.paidOnce()
		k.crowds()
		k.crowdsWithoutExchange()
	})
}

// crowds has all withdrawals approved by the end of a pause, and one block pay them.
func (k *networkKilling) crowds() {
	k.t.Helper()
	operate[any](k.server, "withdrawals", "pause", k.asset)
	k.asked(atOnce)
	operate[any](k.server, "withdrawals", "resume", k.asset)
	k.told(atOnce)
	k.mine(1)
	var head uint64
	k.node.Ask(&head, "getblockcount")
	block := k.blockAt(head)
	if got := k.payments(block...); got != atOnce || len(block) > atOnce/10 {
		k.t.Errorf("the block has %d payments in %d transactions", got, len(block))
	}
	size, inputs, outputs := 0, 0, 0
	for _, tx := range block[1:] {
		size, inputs, outputs = size+tx.Size, inputs+len(tx.Inputs), outputs+len(tx.Outputs)
	}
	k.t.Logf("%d payments in %d transactions, with %d inputs and %d outputs of change: %.1f virtual bytes each",
		atOnce, len(block)-1, inputs, outputs-atOnce, float64(size)/atOnce)
	k.paidOnce()
}

// crowdsWithoutExchange kills the exchange while it pays a part of so many withdrawals.
func (k *networkKilling) crowdsWithoutExchange() {
	k.t.Helper()
	k.asked(atOnce / 5)
	k.until("some payments at the node", func() bool { return k.waiting() > atOnce/20 })
	k.kill()
	k.start()
	within(k.t, crowded, "all payments at the node", func() bool { return k.waiting() == atOnce/5 })
	k.mine(1)
	k.paidOnce()
}

// crowded is the patience with a crowd of payments, each of which node, signer and journal make durable.
const crowded = 10 * patience

// asked asks for withdrawals.
func (k *networkKilling) asked(count int) {
	k.t.Helper()
	for range count {
		_, err := k.holder.withdraw(http.DefaultClient, k.routes[0].route, k.payee())
		must(k.t, err)
	}
}

// told waits until the node has so many payments, and logs how long some of them took, beside as many questions to the
// node.
func (k *networkKilling) told(count int) {
	k.t.Helper()
	began := time.Now()
	var half, most time.Duration
	within(k.t, crowded, "payments at the node", func() bool {
		got := k.waiting()
		if half == 0 && got >= count/2 {
			half = time.Since(began)
		}
		if most == 0 && got >= count*99/100 {
			most = time.Since(began)
		}
		return got == count
	})
	all := time.Since(began)

	began = time.Now()
	for range count {
		k.node.Ask(new(uint64), "getblockcount")
	}
	anchor := time.Since(began)
	k.t.Logf("%d approved withdrawals to the node's pool: p50 %.1f s, p99 %.1f, all %.1f; as many questions to the node take %.1f",
		count, half.Seconds(), most.Seconds(), all.Seconds(), anchor.Seconds())
}

// waiting returns the number of payments in the node's pool.
func (k *networkKilling) waiting() (count int) {
	k.t.Helper()
	for _, hash := range k.pool("") {
		var tx minedTx
		k.node.Ask(&tx, "getrawtransaction", hash, 1)
		count += k.payments(tx)
	}
	return count
}

// payments returns the number of outputs that pay a withdrawal which was asked for.
func (k *networkKilling) payments(txs ...minedTx) (count int) {
	for i := range txs {
		for _, out := range txs[i].Outputs {
			if _, asked := k.holder.asked[out.Script.Address]; asked {
				count++
			}
		}
	}
	return count
}

// minedTx is a transaction of a block, or of a pool.
type minedTx struct {
	Size    int        `json:"vsize"`
	Inputs  []struct{} `json:"vin"`
	Outputs []struct {
		Value  json.RawMessage `json:"value"`
		Script struct {
			Address string `json:"address"`
		} `json:"scriptPubKey"`
	} `json:"vout"`
}

func (k *networkKilling) blockAt(height uint64) []minedTx {
	k.t.Helper()
	var hash string
	k.node.Ask(&hash, "getblockhash", height)
	var block struct {
		Tx []minedTx `json:"tx"`
	}
	k.node.Ask(&block, "getblock", hash, 2)
	return block.Tx
}

// paidOnce waits until everything is at rest, block by block with the ledger held against the chain, and wants each
// withdrawal done and paid by one output of the chain.
func (k *networkKilling) paidOnce() {
	k.t.Helper()
	rows := k.holder.rest()
	var head uint64
	k.node.Ask(&head, "getblockcount")
	paid := map[string][]string{}
	for height := uint64(1); height <= head; height++ {
		for _, tx := range k.blockAt(height) {
			for _, out := range tx.Outputs {
				paid[out.Script.Address] = append(paid[out.Script.Address], string(out.Value))
			}
		}
	}

	for address, w := range k.holder.asked {
		row := rows[w.xid]
		if got := paid[address]; row.Status != "DONE" || len(got) != 1 || number(got[0]).Cmp(number(w.amount)) != 0 {
			k.t.Errorf("withdrawal %d is %s, and the chain paid %v", w.xid, row.Status, got)
		}
	}
	for xid := range rows {
		k.holder.floor = max(k.holder.floor, xid)
	}
	clear(k.holder.asked)
}
