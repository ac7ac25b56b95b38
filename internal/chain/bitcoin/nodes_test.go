package bitcoin_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/bitcoin"
	"github.com/bourse-exchange/bourse/internal/chain/chaintest"
	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

// seed is the exchange's.
var seed = bytes.Repeat([]byte{1}, 32)

// TestContract runs the contract of networks against real nodes.
func TestContract(t *testing.T) {
	if testing.Short() {
		return // a minute for each node
	}
	for _, kind := range []*nodetest.Kind{nodetest.Knots(), nodetest.Litecoin(), nodetest.Btcd()} {
		t.Run(kind.Name, func(t *testing.T) {
			chaintest.Run(t, func(t *testing.T) *chaintest.Rig { return rig(t, kind) })
		})
	}
}

// rig returns a fresh chain with a funded hot wallet. Lagging is done by the node, which takes
// blocks off its chain, and by the proxy, which says that there are more.
func rig(t *testing.T, kind *nodetest.Kind) *chaintest.Rig {
	t.Helper()
	node := nodetest.Start(t, kind)
	out := nodetest.NewOutside(t, node)
	proxy := nodetest.NewProxy(t, node)

	keys, err := bitcoin.NewKeys(kind.Params, seed)
	if err != nil {
		t.Fatal(err)
	}
	network, err := bitcoin.NewClient(kind.Params, keys.Public(), bitcoin.Options{
		Node: node.Client(proxy.URL, 2*time.Second), Clock: func() bourse.Time { return bourse.TimeOf(time.Now()) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Fund(network.Destination(chain.IndexHot).Address, 8, 5e7); err != nil {
		t.Fatal(err)
	}

	r := &chaintest.Rig{
		Network: network, Keys: keys, Outside: out, Foreign: foreign(t, kind.Params),
		Stop: proxy.Stop, Start: proxy.Start, LoseReply: func() { proxy.Lose("sendrawtransaction") },
		Spoil: map[string]func(){}, Mend: proxy.Mend,
		Lag: func(blocks uint64, silent bool) {
			if err := out.Hide(blocks); err != nil {
				t.Fatal(err)
			}
			if silent {
				blocks = 0
			}
			proxy.Lag(blocks)
		},
		Restart: func(t *testing.T) {
			t.Helper()
			if err := out.Restart(); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, spoil := range nodetest.Spoils() {
		r.Spoil[name] = func() { proxy.Spoil(spoil) }
	}
	return r
}

// foreign returns addresses of the other networks.
func foreign(t *testing.T, of *bitcoin.Params) (list []string) {
	t.Helper()
	for _, p := range bitcoin.All() {
		keys, err := bitcoin.NewKeys(p, seed)
		if err != nil {
			t.Fatal(err)
		}
		if address := bitcoin.NewCodec(p, keys.Public()).Destination(1).Address; p != of && p.Name != of.Name {
			list = append(list, address)
		}
	}
	return append(list,
		"1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy",
		"0xdAC17F958D2ee523a2206206994597C13D831ec7", "cosmos1hsk6jryyqjfhp5dhc55tc9jtckygx0eph6dd02")
}
