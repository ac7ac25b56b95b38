package main

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

var deepNetworks = flag.Bool("networks.deep", false, "run TestRealDeepReorganisation, which mines thousands of blocks")

const (
	// rememberedBlocks is the number of blocks of a network that the exchange remembers and can take back.
	rememberedBlocks = 1000
	// readBlocks is the number of blocks that a test waits for at a time.
	readBlocks = 200
)

// deepChain is an exchange on a real node whose blocks can be replaced deeper than the exchange remembers.
type deepChain struct {
	*depositor
	// dig adds empty blocks at once, and undo takes the last ones off the chain.
	dig, undo func(blocks uint64)
	// hashAt returns the hash of the node's block at a height.
	hashAt func(height uint64) string
}

// TestRealDeepReorganisation replaces more blocks of a real node than the exchange remembers, as docs/runbook.md has it:
// the network halts, and a resume does not end that. Nodes of the former chain do, which anvil cannot bring back. If nobody has
// that chain any more, operators have the network follow the other one.
func TestRealDeepReorganisation(t *testing.T) {
	if !*deepNetworks {
		return
	}
	t.Run("knots", func(t *testing.T) {
		r := bitcoins(t, nodetest.Knots())
		k := newKeeper(t, permissiveOf(&r))
		k.start()
		d := &deepChain{depositor: walk(t, r, k)}
		d.hashAt = func(height uint64) (hash string) {
			d.node.Ask(&hash, "getblockhash", height)
			return hash
		}
		var fork uint64
		var first string
		d.dig = func(blocks uint64) {
			miner, err := d.outside.NewAddress()
			must(t, err)
			for ; blocks > 0; blocks -= min(blocks, readBlocks) {
				d.node.Ask(nil, "generatetoaddress", min(blocks, readBlocks), miner)
			}
		}
		d.undo = func(blocks uint64) {
			var tip uint64
			d.node.Ask(&tip, "getblockcount")
			fork = tip - blocks
			first = d.hashAt(fork + 1)
			d.node.Ask(nil, "invalidateblock", first)
		}
		d.deposit()
		former := d.replaced()

		d.node.Ask(nil, "invalidateblock", d.hashAt(fork+1))
		d.node.Ask(nil, "reconsiderblock", first)
		d.goesOn(k, former)

		// The chain changes once more, for good, with a deposit in a block deeper than the exchange remembers.
		fork = d.height()
		to := wallet[depositAnswer](d.depositor, "/wallet/deposit", map[string]any{}).destination()
		_, err := d.outside.Send(chain.Pay{To: to, Amount: d.tenths(2)})
		must(t, err)
		had := d.balance()
		d.mine(d.confirms)
		d.until("the deposit is credited", func() bool { return number(d.balance()).Cmp(number(had)) > 0 })
		has := d.balance()
		below := fork
		d.replacedFrom(uint64(d.confirms))
		d.follows(below)
		if got := d.balance(); number(got).Cmp(number(has)) != 0 {
			t.Errorf("the customer has %s and had %s", got, has)
		}
		d.pays()
		(&dearPlace{depositor: d.depositor, Outside: d.outside.(*nodetest.Outside), keeper: k}).agrees()
	})
	t.Run("anvil", func(t *testing.T) {
		d := &deepChain{depositor: walk(t, ethers(t, nodetest.Anvil()), nil)}
		d.dig = func(blocks uint64) { d.node.Ask(nil, "anvil_mine", fmt.Sprintf("%#x", blocks)) }
		d.undo = func(blocks uint64) { d.node.Ask(nil, "anvil_rollback", blocks) }
		d.hashAt = func(height uint64) string {
			var block struct {
				Hash string `json:"hash"`
			}
			d.node.Ask(&block, "eth_getBlockByNumber", fmt.Sprintf("%#x", height), false)
			return block.Hash
		}
		d.deposit()
		former := d.replaced()
		d.follows(former - rememberedBlocks - 1)
		d.pays()
	})
}

// replaced replaces the last blocks. The network halts at the oldest block that the exchange remembers, and again after
// a resume. It returns the height of the former chain.
func (d *deepChain) replaced() (former uint64) {
	d.t.Helper()
	d.mine(1)
	former = d.replacedFrom(0)
	oldest := former - rememberedBlocks + 1
	operate[any](d.server, "withdrawals", "resume", d.asset)
	d.halts(oldest)
	return former
}

// replacedFrom adds more blocks than are remembered, and replaces them, and some of those below.
func (d *deepChain) replacedFrom(below uint64) (former uint64) {
	d.t.Helper()
	head, err := d.outside.Mine(1)
	must(d.t, err)
	former = head.Height + rememberedBlocks + 1
	d.dig(rememberedBlocks + 1)
	d.reads(former)
	depth := rememberedBlocks + 1 + below
	if below > 0 {
		depth++ // the block of above
	}
	d.undo(depth)
	d.dig(depth + 1)
	oldest := former - rememberedBlocks + 1
	for height := former - readBlocks; height > oldest; height -= readBlocks {
		d.until("blocks are taken back", func() bool { return d.height() <= height })
	}
	d.halts(oldest)
	return former
}

// follows has operators name the last block that both chains have. The exchange reads the chain anew.
func (d *deepChain) follows(fork uint64) {
	d.t.Helper()
	head, err := d.outside.Mine(1)
	must(d.t, err)
	operate[any](d.server, "network", "follow", d.asset, fmt.Sprint(fork), d.hashAt(fork))
	for at := uint64(readBlocks); at < head.Height; at += readBlocks {
		d.until("blocks are read anew", func() bool { return d.height() >= at })
	}
	d.until("the last block is read", func() bool { return d.height() == head.Height })
	d.until("the network operates", d.operating)
	if got := d.halted(d.asset); got != "" {
		d.t.Errorf("halted by %q", got)
	}
}

// pays lets withdrawals go again, and waits for one.
func (d *deepChain) pays() {
	d.t.Helper()
	_, address := d.ordered("0.1")
	operate[any](d.server, "withdrawals", "resume", d.asset)
	d.settled("a withdrawal that is done", func() bool { return d.status() == "DONE" })
	d.settled("the payment", func() bool { return d.arrived(address) == "0.1" || !d.sweeps })
	if !d.sweeps {
		d.mine(1)
	}
	if got := d.arrived(address); got != "0.1" {
		d.t.Errorf("%s arrived", got)
	}
}

// halts waits until operators see that the network is halted and waits at the oldest remembered block.
func (d *deepChain) halts(oldest uint64) {
	d.t.Helper()
	d.until("the oldest block is left", func() bool { return d.height() == oldest })
	d.until("a network that is halted", func() bool { return d.halted(d.asset) == "deep_reorganisation" })
	want := fmt.Sprintf("deeper than is remembered: its block %d is not ", oldest)
	d.until("the network says why", func() bool { return strings.Contains(d.reason(), want) })
}

// goesOn lets the exchange read the former chain, which the node has again. A withdrawal that was ordered meanwhile is
// paid once an operator ends the halt, and the ledger has what the chain has.
func (d *deepChain) goesOn(k *keeper, former uint64) {
	d.t.Helper()
	_, address := d.ordered("0.1")
	d.reads(former)
	d.until("the network operates", d.operating)
	if got := d.halted(d.asset); got != "deep_reorganisation" || len(d.pool(address)) != 0 {
		d.t.Errorf("halted by %q, and %v wait at the node", got, d.pool(address))
	}
	operate[any](d.server, "withdrawals", "resume", d.asset)
	d.until("a withdrawal that is done", func() bool { return d.status() == "DONE" })
	d.mine(1)
	if got := d.arrived(address); got != "0.1" {
		d.t.Errorf("%s arrived", got)
	}
	(&dearPlace{depositor: d.depositor, Outside: d.outside.(*nodetest.Outside), keeper: k}).agrees()
}

// reads waits until the exchange has read the chain up to a height.
func (d *deepChain) reads(height uint64) {
	d.t.Helper()
	for at := d.height() + readBlocks; at < height; at += readBlocks {
		d.until("blocks are read", func() bool { return d.height() >= at })
	}
	d.until("the last block is read", func() bool { return d.height() == height })
}
