package wallet_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// follow has operators name the block of a network's node at a height.
func (w *world) follow(n *network, height uint64) {
	w.tb.Helper()
	b, err := n.client.Block(context.Background(), height)
	if err != nil {
		w.tb.Fatal(err)
	}
	w.must(bourse.Command{Kind: bourse.CommandFollowChain, Wallet: &bourse.WalletCommand{
		Network: n.id, Height: height, Tx: b.Hash,
	}})
}

// rest takes steps of a network's worker until it has nothing to do. There are more blocks than settle allows for.
func (w *world) rest(n *network) {
	for w.step(n) {
	}
}

// TestChainBeginsAnew replaces more blocks than are remembered, and has the network follow the new chain. What it has
// again was credited before, long ago or lately, and is credited once; what it lacks is the treasury's loss.
func TestChainBeginsAnew(t *testing.T) {
	for name, c := range map[string]struct {
		drops, looks bool
	}{
		"its transactions come again":             {looks: true},
		"its transactions are gone":               {drops: true, looks: true},
		"nobody knows what was credited long ago": {},
	} {
		for _, l := range []*listing{listed(onBTC, btc), listed(onETH, eth)} {
			t.Run(string(l.symbol)+" "+name, func(t *testing.T) {
				w := newWorld(t, l.network)
				n := w.network(l.network)
				var old []chain.Hash
				asked := 0
				if c.looks {
					w.credited = func(
						_ context.Context, account bourse.AccountID, _ bourse.NetworkID, asset bourse.AssetID, txs map[bourse.TxHash]bool,
					) (map[bourse.TxHash]bool, error) {
						if account == 1 {
							asked++
						}
						credited := map[bourse.TxHash]bool{}
						for tx := range txs {
							credited[tx] = account == 2 && asset == l.asset && slices.Contains(old, tx)
						}
						return credited, nil
					}
					w.open()
				}
				w.pay(l, 1, 10*l.least)
				w.mine(n.id, 10)
				w.rest(n)
				fork := n.node.Head().Height
				old = append(old, w.pay(l, 2, 20*l.least))
				w.mine(n.id, remembered+5)
				w.rest(n)
				w.pay(l, 3, 30*l.least)
				w.mine(n.id, 10)
				w.rest(n)

				if _, err := n.node.Reorg(int(n.node.Head().Height-fork), c.drops); err != nil {
					t.Fatal(err)
				}
				w.rest(n)
				if h := n.worker.Health(); !strings.Contains(h.Reason, "network follow") {
					t.Fatalf("%+v", h)
				}
				w.follow(n, fork)
				w.restart()
				w.rest(n)
				asked = 0
				for range 4 {
					w.pay(l, 1, 10*l.least)
				}
				w.mine(n.id, 20)
				w.rest(n)
				w.checkOwned(n)
				if c.looks && asked != 1 {
					t.Errorf("history is asked %d times about four deposits of a block to one account", asked)
				}

				has := map[bourse.AccountID]uint64{1: 50, 2: 20, 3: 30}
				if !c.looks {
					has[1] = 10 // the others are parked
				}
				for account, units := range has {
					if got := w.balance(account, l.asset); got != l.ledger(units*l.least) {
						t.Errorf("account %d has %s", account, got.Format(0))
					}
				}
				if h := n.worker.Health(); !h.Operating {
					t.Errorf("%+v", h)
				}
			})
		}
	}
}

// TestOtherBlockThanNamed has operators name a block that the node does not have, and then one that it has.
func TestOtherBlockThanNamed(t *testing.T) {
	w, l := newWorld(t, onBTC), listed(onBTC, btc)
	n := w.network(onBTC)
	w.pay(l, 1, 10*l.least)
	w.mine(onBTC, remembered+10)
	w.rest(n)
	if _, err := n.node.Reorg(remembered+5, true); err != nil {
		t.Fatal(err)
	}
	w.rest(n)
	w.must(bourse.Command{Kind: bourse.CommandFollowChain, Wallet: &bourse.WalletCommand{
		Network: onBTC, Height: 3, Tx: bourse.TxHash{1},
	}})
	w.rest(n)
	if h := n.worker.Health(); h.Operating || !strings.Contains(h.Reason, "operators named") {
		t.Errorf("%+v", h)
	}
	w.follow(n, 3)
	w.rest(n)
	w.checkOwned(n)
	if got := w.balance(1, btc); got != l.ledger(10*l.least) {
		t.Errorf("account 1 has %s", got.Format(0))
	}
}
