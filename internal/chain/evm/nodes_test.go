package evm_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/chaintest"
	"github.com/bourse-exchange/bourse/internal/chain/evm"
	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

// seed is the exchange's.
var seed = bytes.Repeat([]byte{1}, 32)

// params are those of the sandbox on anvil.
var params = evm.Params{
	Chain: nodetest.EtherChain, Coin: "ETH", Tokens: []chain.Coin{{ID: nodetest.TokenAt, Decimals: 6}},
}

// TestContract runs the contract of networks against a real node.
func TestContract(t *testing.T) {
	if testing.Short() {
		return // half a minute with anvil, minutes with geth
	}
	for _, kind := range []*nodetest.Kind{nodetest.Anvil(), nodetest.Geth()} {
		t.Run(kind.Name, func(t *testing.T) {
			chaintest.Run(t, func(t *testing.T) *chaintest.Rig { return rig(t, kind).Rig })
		})
	}
}

// bench is a node with its outside world, and the exchange's client of it.
type bench struct {
	*chaintest.Rig
	node  *nodetest.Node
	out   *nodetest.Ether
	proxy *nodetest.Proxy
	keys  *evm.Keys
}

// client returns one more client of the exchange.
func (b *bench) client(t *testing.T, o evm.Options) *evm.Client {
	t.Helper()
	o.Node = b.node.Client(b.proxy.URL, 2*time.Second)
	o.Clock = func() bourse.Time { return bourse.TimeOf(time.Now()) }
	c, err := evm.NewClient(&params, b.keys.Public(), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// rig returns a fresh chain with a funded hot wallet. Lagging is done by the node, which takes
// blocks off its chain, and by the proxy, which says that there are more.
func rig(t *testing.T, kind *nodetest.Kind) *bench {
	t.Helper()
	node := nodetest.Start(t, kind)
	keys, err := evm.NewKeys(&params, seed)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{node: node, out: nodetest.NewEther(t, node), proxy: nodetest.NewProxy(t, node), keys: keys}
	network := b.client(t, evm.Options{})
	err = b.out.Fund(network.Destination(chain.IndexHot).Address,
		chain.Pay{Coin: "ETH", Amount: wei(100)},
		chain.Pay{Coin: nodetest.TokenAt, Amount: bourse.Units(1e12)})
	if err != nil {
		t.Fatal(err)
	}

	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	b.Rig = &chaintest.Rig{
		Network: network, Keys: keys, Outside: b.out, SendHidden: b.out.SendHidden, Several: nodetest.TokenAt,
		Foreign: []string{
			"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "cosmos1hsk6jryyqjfhp5dhc55tc9jtckygx0eph6dd02",
			nodetest.TokenAt, "0x0000000000000000000000000000000000000000", "0x0000000000000000000000000000000000000001",
			"0x" + "70997970c51812dc3a010c7d01b50e0d17dc79c8",
		},
		Stop: b.proxy.Stop, Start: b.proxy.Start, LoseReply: func() { b.proxy.Lose("eth_sendRawTransaction") },
		Spoil: map[string]func(){}, Mend: b.proxy.Mend,
		Lag: func(blocks uint64, silent bool) {
			must(b.out.Hide(blocks))
			if silent {
				blocks = 0
			}
			b.proxy.Lag(blocks)
		},
		Restart: func(*testing.T) { must(b.out.Restart()) },
	}
	for name, spoil := range nodetest.Spoils() {
		b.Spoil[name] = func() { b.proxy.Spoil(spoil) }
	}
	return b
}

// wei returns an amount of whole ether.
func wei(ether uint64) bourse.Amount {
	a, _ := bourse.Units(ether).Mul(1e18)
	return a
}
