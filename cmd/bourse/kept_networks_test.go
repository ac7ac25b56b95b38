package main

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

var keptKills = flag.Int("kept.kills", 3, "how often TestRealSigner kills the signer")

// keptNetworks lets everything pass that the walk asks for, on anvil's chain.
const keptNetworks = `networks:
  ETH:
    adapter: evm
    params: 31337
    max-cost: "0.2"
    hour-cost: "100"
    coins:
      ETH: {payment: "10", hour: "1000", day: "1000", free: "10"}
      "` + nodetest.TokenAt + `": {decimals: 6, payment: "1000", hour: "10000", day: "10000", free: "1000"}
`

// keys returns the public keys of a network.
func (k *keeper) keys(network string) string {
	k.t.Helper()
	var status struct {
		Networks []struct{ Name, Keys string }
	}
	must(k.t, json.Unmarshal([]byte(signerTool(k.t, "status", k.dir)), &status))
	for _, n := range status.Networks {
		if n.Name == network {
			return n.Keys
		}
	}
	k.t.Fatalf("the signer has no keys of %s", network)
	return ""
}

// TestRealSigner lets a customer use the wallet on the chain of a real node with the keys in a process of their
// own, which is killed again and again while deposits move and withdrawals are signed.
func TestRealSigner(t *testing.T) {
	if testing.Short() {
		return
	}
	t.Run("anvil", func(t *testing.T) {
		k := newKeeper(t, keptNetworks)
		k.start()
		r := ethers(t, nodetest.Anvil())
		w, ether := walk(t, r, k), r.outside.(*nodetest.Ether)
		w.deposit()
		w.withdraw()
		w.token(ether)
		w.receive("USDT", nodetest.TokenAt, bourse.Units(500e6))
		w.keeperDies(k, ether)
	})
	t.Run("cosmos", func(t *testing.T) {
		k := newKeeper(t, atomsLimits)
		k.start()
		w := walk(t, atoms(t), k)
		w.deposit()
		w.withdraw()
		w.keeperDies(k, nil)
	})
}

// paidTo is a withdrawal that must arrive once.
type paidTo struct{ asset, address, amount string }

// keeperDies kills the signer while it signs: it may have signed and not have answered. Each withdrawal is
// paid once, and the chain and the customer's money agree. On Ethereum tokens are withdrawn too.
func (w *depositor) keeperDies(k *keeper, ether *nodetest.Ether) {
	w.t.Helper()
	w.receive(w.asset, "", w.tenths(50))
	kinds := []paidTo{{asset: w.asset, amount: "0.01"}, {asset: "USDT", amount: "5"}}
	if ether == nil {
		kinds = kinds[:1]
	}
	rng := rand.New(rand.NewPCG(uint64(*keptKills), 2))
	var all []paidTo
	for n := 1; n <= *keptKills && !w.t.Failed(); n++ {
		before := k.recorded()
		w.receive(w.asset, "", w.tenths(3)) // a sweep goes on meanwhile
		for _, p := range kinds {
			_, p.address = w.orderedOf(p.asset, p.amount)
			all = append(all, p)
		}
		lines := before + rng.Int64N(int64(len(kinds))+1)
		w.settled("signatures", func() bool { return k.recorded() >= lines })
		k.kill()
		w.mine(1)
		k.start()
	}

	w.settled("withdrawals that are done", func() bool {
		for _, row := range w.transfers() {
			if row.Status != "DONE" && row.Status != "CANCELED" {
				return false
			}
		}
		return true
	})
	w.mine(1)
	for _, p := range all {
		w.onceAt(p, ether)
	}
	w.t.Logf("%d kills of the signer, %d withdrawals, %d lines on record", *keptKills, len(all), k.recorded())
}

// receive lets the outside world pay to the customer's address.
func (w *depositor) receive(asset string, coin chain.CoinID, amount bourse.Amount) {
	w.t.Helper()
	to := wallet[depositAnswer](w, "/wallet/deposit", map[string]any{"asset": asset}).destination()
	if _, err := w.outside.Send(chain.Pay{To: to, Coin: coin, Amount: amount}); err != nil {
		w.t.Fatal(err)
	}
	w.mine(w.confirms)
	w.settled("a deposit that is done", func() bool {
		for _, row := range w.transfers() {
			if row.Status == "PENDING" {
				return false
			}
		}
		return true
	})
}

// onceAt wants exactly a withdrawal's amount at its address.
func (w *depositor) onceAt(p paidTo, ether *nodetest.Ether) {
	w.t.Helper()
	var got string
	if p.asset == w.asset {
		got = w.arrived(p.address)
	} else {
		const decimals = 6
		a, err := ether.Tokens(p.address)
		must(w.t, err)
		got = a.Format(decimals)
	}
	if got != p.amount {
		w.t.Errorf("%s %s arrived, want %s", got, p.asset, p.amount)
	}
}
