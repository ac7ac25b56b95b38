package cosmos_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/chaintest"
	"github.com/bourse-exchange/bourse/internal/chain/cosmos"
	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

// seed is the exchange's.
var seed = bytes.Repeat([]byte{1}, 32)

// params returns those of the sandbox, with a coin of another chain.
func params() *cosmos.Params {
	p, err := cosmos.Lookup(nodetest.CosmosChain)
	if err != nil {
		panic(err)
	}
	p.Tokens = []chain.Coin{{ID: nodetest.IBCDenom, Decimals: 6}}
	return p
}

// TestContract runs the contract of networks against a real node.
func TestContract(t *testing.T) {
	if testing.Short() {
		return // half a minute
	}
	kind := nodetest.Cosmos()
	t.Run(kind.Name, func(t *testing.T) {
		chaintest.Run(t, func(t *testing.T) *chaintest.Rig { return rig(t).Rig })
	})
}

// bench is a node with its outside world, and the exchange's client of it.
type bench struct {
	*chaintest.Rig
	node  *nodetest.Node
	out   *nodetest.Atoms
	proxy *nodetest.Proxy
	keys  *cosmos.Keys
}

// client returns one more client of the exchange.
func (b *bench) client(t *testing.T, o cosmos.Options) *cosmos.Client {
	t.Helper()
	o.Node = b.node.Client(b.proxy.URL, 2*time.Second)
	o.Clock = func() bourse.Time { return bourse.TimeOf(time.Now()) }
	c, err := cosmos.NewClient(params(), b.keys.Public(), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// rig returns a fresh chain with a funded hot wallet.
func rig(t *testing.T) *bench {
	t.Helper()
	node := nodetest.Start(t, nodetest.Cosmos())
	keys, err := cosmos.NewKeys(params(), seed)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{node: node, out: nodetest.NewAtoms(t, node), proxy: nodetest.NewProxy(t, node), keys: keys}
	network := b.client(t, cosmos.Options{})
	err = b.out.Fund(network.Destination(chain.IndexHot),
		chain.Pay{Coin: "ATOM", Amount: bourse.Units(1e9)}, chain.Pay{Coin: nodetest.IBCDenom, Amount: bourse.Units(1e9)})
	if err != nil {
		t.Fatal(err)
	}

	b.Rig = &chaintest.Rig{
		Network: network, Keys: keys, Outside: b.out, First: 1, Final: true, InOrder: true,
		Foreign: []string{
			"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
			"osmo1hsk6jryyqjfhp5dhc55tc9jtckygx0ep37hdd2", "cosmosvaloper1hsk6jryyqjfhp5dhc55tc9jtckygx0eph6dd02",
		},
		Stop: b.proxy.Stop, Start: b.proxy.Start, LoseReply: func() { b.proxy.Lose("broadcast_tx_sync") },
		Spoil: map[string]func(){}, Mend: b.proxy.Mend,
		Lag: func(blocks uint64, silent bool) {
			b.proxy.Hide(blocks)
			if silent {
				blocks = 0
			}
			b.proxy.Lag(blocks)
		},
		Restart: func(t *testing.T) {
			if err := b.out.Halt(); err != nil {
				t.Fatal(err)
			}
			if err := b.out.Resume(); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, spoil := range nodetest.Spoils() {
		b.Spoil[name] = func() { b.proxy.Spoil(spoil) }
	}
	return b
}
