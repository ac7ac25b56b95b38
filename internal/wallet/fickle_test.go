package wallet_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// outcome is what a transaction paid when it was mined.
type outcome struct {
	asset   bourse.AssetID
	amount  bourse.Amount
	account bourse.AccountID
}

// TestFickleContract has a contract pay another amount, another coin or another customer each time its transaction is
// mined: what a block that left the chain had is given up, and what the next one has is a deposit of its own.
func TestFickleContract(t *testing.T) {
	l, other := listed(onETH, usdt), listed(onETH, eth)
	const fickle = 100 // the index of the payment in its transaction
	var w *world
	for name, pays := range map[string]func(height uint64, c *chain.Credit, first bool){
		"amount": func(height uint64, c *chain.Credit, _ bool) { c.Amount = bourse.Units(2*l.least + height) },
		"coin": func(_ uint64, c *chain.Credit, first bool) {
			if !first {
				c.Coin, c.Amount = other.coin(), bourse.Units(2*other.least)
			}
		},
		"an amount again": func(height uint64, c *chain.Credit, _ bool) { c.Amount = bourse.Units(2*l.least + height%2) },
		"customer": func(height uint64, c *chain.Credit, _ bool) {
			c.Address = w.network(onETH).client.Destination(1 + uint32(height%2)).Address
		},
	} {
		t.Run(name, func(t *testing.T) {
			w = newWorld(t, onETH)
			n := w.network(onETH)
			tx := w.pay(l, 1, 2*l.least)
			var first uint64
			var last outcome
			w.lies = true
			w.logs = func(b *chain.Block) {
				for i := range b.Txs {
					if b.Txs[i].Hash != tx {
						continue
					}
					if first == 0 {
						first = b.Height
					}
					c := &b.Txs[i].Credits[0]
					c.Index = fickle
					pays(b.Height, c, b.Height == first)
					owner, _ := n.client.Owner(c.Address, "")
					last = outcome{l.asset, l.ledger(c.Amount.Lo), bourse.AccountID(owner.Index)}
					if c.Coin == other.coin() {
						last.asset, last.amount = other.asset, other.ledger(c.Amount.Lo)
					}
				}
			}

			for range 3 {
				w.mine(onETH, 1)
				if _, err := n.node.Reorg(1, false); err != nil {
					t.Fatal(err)
				}
				w.settle()
			}
			w.mine(onETH, int(l.confirms))
			var credited []bourse.Deposit
			for _, d := range w.deposits {
				if d.Status == bourse.WalletDone {
					credited = append(credited, d)
				}
			}
			if h := n.worker.Health(); !h.Operating || len(credited) != 1 {
				t.Fatalf("%v of %d are credited, %+v", credited, len(w.deposits), h)
			}
			if d := &credited[0]; d.Asset != last.asset || d.Amount != last.amount || d.Account != last.account {
				t.Errorf("%+v is credited, and %+v was paid", d, last)
			}
		})
	}
}
