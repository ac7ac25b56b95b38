package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

// rememberedBlocks is the number of blocks of a network that the exchange remembers and can take back.
const rememberedBlocks = 1000

// step is the number of blocks that a test waits for at a time.
const step = 200

// TestRealDeepReorganisation replaces more blocks of a real node than the exchange remembers, as docs/runbook.md has it:
// the network halts, a resume does not end that, and nodes of the former chain do.
func TestRealDeepReorganisation(t *testing.T) {
	if testing.Short() {
		return
	}
	t.Run("knots", func(t *testing.T) {
		r := bitcoins(t, nodetest.Knots())
		k := newKeeper(t, permissiveOf(&r))
		k.start()
		w := walk(t, r, k)
		w.deposit()
		w.reorganisedDeep(k)
	})
}

// reorganisedDeep replaces the blocks above the customer's deposit, and brings them back.
func (w *depositor) reorganisedDeep(k *keeper) {
	w.t.Helper()
	// Blocks up to fork are on both chains.
	fork := w.tip()
	former := w.many(fork + rememberedBlocks + 1)
	oldest := former - rememberedBlocks + 1

	first := w.hashAt(fork + 1)
	w.node.Ask(nil, "invalidateblock", first)
	w.dig(rememberedBlocks + 2)
	other := w.hashAt(fork + 1)
	if other == first {
		w.t.Fatal("the chain is the same")
	}
	for height := former - step; height > oldest; height -= step {
		w.until("blocks are taken back", func() bool { return w.height() <= height })
	}
	w.until("a network that is halted", func() bool { return w.halted(w.asset) == "deep_reorganisation" })
	w.told(oldest)
	_, address := w.ordered("0.1")
	operate[any](w.server, "withdrawals", "resume", w.asset)
	w.until("a network that is halted again", func() bool { return w.halted(w.asset) == "deep_reorganisation" })
	w.told(oldest)

	// The node follows the former chain again.
	w.node.Ask(nil, "invalidateblock", other)
	w.node.Ask(nil, "reconsiderblock", first)
	w.many(former)
	w.until("the network operates", w.operating)
	if got := w.halted(w.asset); got != "deep_reorganisation" || len(w.pool(address)) != 0 || w.arrived(address) != "0" {
		w.t.Errorf("halted by %q, and %v wait at the node", got, w.pool(address))
	}
	operate[any](w.server, "withdrawals", "resume", w.asset)
	w.until("a withdrawal that is done", func() bool { return w.status() == "DONE" })
	w.mine(1)
	if got := w.arrived(address); got != "0.1" {
		w.t.Errorf("%s arrived", got)
	}
	(&dearPlace{depositor: w, Outside: w.outside.(*nodetest.Outside), keeper: k}).agrees()
}

// told waits until operators see that the network waits at the oldest remembered block.
func (w *depositor) told(oldest uint64) {
	w.t.Helper()
	w.until("the oldest block is left", func() bool { return w.height() == oldest })
	want := fmt.Sprintf("deeper than is remembered: its block %d is not ", oldest)
	w.until("the network says why", func() bool { return strings.Contains(w.reason(), want) })
}

// tip returns the height of the node's last block.
func (w *depositor) tip() (height uint64) {
	w.t.Helper()
	w.node.Ask(&height, "getblockcount")
	return height
}

func (w *depositor) hashAt(height uint64) (hash string) {
	w.t.Helper()
	w.node.Ask(&hash, "getblockhash", height)
	return hash
}

// dig adds empty blocks at once.
func (w *depositor) dig(blocks uint64) {
	w.t.Helper()
	miner, err := w.outside.NewAddress()
	must(w.t, err)
	w.node.Ask(nil, "generatetoaddress", blocks, miner)
}

// many adds empty blocks up to a height, and waits until the exchange has read them.
func (w *depositor) many(height uint64) uint64 {
	w.t.Helper()
	if at := w.tip(); at < height {
		w.dig(height - at)
	}
	for at := w.height() + step; at < height; at += step {
		w.until("blocks are read", func() bool { return w.height() >= at })
	}
	w.until("the last block is read", func() bool { return w.height() == height })
	return height
}
