package main

import (
	"flag"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/nodetest"
)

var figures = flag.Int("networks.figures", 0, "how often TestNetworkFigures measures each latency; 0 for not at all")

// TestNetworkFigures measures an exchange on a real node: how fast it reads blocks that it missed, and how long a block,
// a credit and a payment take. Each figure stands beside an anchor of the same run. Nothing here fails by a time.
func TestNetworkFigures(t *testing.T) {
	if *figures == 0 {
		return
	}
	t.Run("knots", func(t *testing.T) {
		r := bitcoins(t, nodetest.Knots())
		w := walk(t, r, nil)
		w.deposit()
		f := &figuring{depositor: w, outside: r.outside.(*nodetest.Outside)}
		f.catchUp("small", 1000, f.outside.MineEmpty)
		f.catchUp("full", 120, f.outside.MineFull)
		f.latencies(*figures)
	})
}

// figuring measures.
type figuring struct {
	*depositor
	outside *nodetest.Outside
}

// catchUp has the exchange read blocks that it missed. The anchor reads the same blocks from the node, one after
// the other, and does nothing with them.
func (f *figuring) catchUp(kind string, blocks int, mine func(count int) (chain.BlockRef, error)) {
	f.t.Helper()
	f.kill()
	_, err := mine(blocks)
	must(f.t, err)
	var head uint64
	f.node.Ask(&head, "getblockcount")

	began, nodeBegan := time.Now(), f.node.CPU()
	for height := head - uint64(blocks) + 1; height <= head; height++ {
		var hash string
		f.node.Ask(&hash, "getblockhash", height)
		answer, err := http.Get(f.node.URL + "/rest/block/" + hash + ".bin")
		must(f.t, err)
		_, err = io.Copy(io.Discard, answer.Body)
		must(f.t, err)
		must(f.t, answer.Body.Close())
	}
	anchor, anchorCPU := float64(blocks)/time.Since(began).Seconds(), f.node.CPU()-nodeBegan

	f.start()
	from := f.tip()
	began, nodeBegan = time.Now(), f.node.CPU()
	cpu := nodetest.CPU(f.t, f.cmd.Process.Pid)
	f.until("the chain is read", func() bool { return f.tip() == head })
	took := time.Since(began)
	read := float64(head - from)
	speed := read / took.Seconds()
	f.t.Logf("catch-up, %s blocks: %.0f blocks/s, %.0f of them from the first look on; the node alone %.0f; ratio %.2f",
		kind, speed, read, anchor, speed/anchor)
	ms := func(d time.Duration, blocks float64) float64 { return d.Seconds() * 1000 / blocks }
	f.t.Logf("CPU of a block: exchange %.1f ms, node %.1f ms; the node alone %.1f ms",
		ms(nodetest.CPU(f.t, f.cmd.Process.Pid)-cpu, read), ms(f.node.CPU()-nodeBegan, read), ms(anchorCPU, float64(blocks)))
}

// tip returns the height up to which the exchange has read the chain.
func (f *figuring) tip() uint64 {
	f.t.Helper()
	type row struct {
		Network string
		Tip     uint64
	}
	for _, n := range mustControl[struct{ Networks []row }](f.server, "network/list", map[string]any{}).Networks {
		if n.Network == f.asset {
			return n.Tip
		}
	}
	return 0
}

// latencies measures how long a mined block takes to the journal, the last confirmation to the credit, and an approved
// withdrawal to the node's pool. The anchor is a question to the node.
func (f *figuring) latencies(times int) {
	f.t.Helper()
	names := []string{"a question to the node", "block to journal", "last confirmation to credit", "approved to the node's pool"}
	took := make([][]time.Duration, len(names))
	measure := func(i int, do func()) {
		began := time.Now()
		do()
		took[i] = append(took[i], time.Since(began))
	}

	to := wallet[depositAnswer](f.depositor, "/wallet/deposit", map[string]any{}).Address
	for range times {
		var head uint64
		measure(0, func() { f.node.Ask(&head, "getblockcount") })
		_, err := f.outside.Send(chain.Pay{To: chain.Destination{Address: to}, Amount: f.tenths(1)})
		must(f.t, err)
		f.mine(1)
		measure(1, func() { f.until("a block", func() bool { return f.tip() == head+1 }) })
		f.mine(f.confirms - 1)
		measure(2, func() { f.until("a credit", func() bool { return f.status() == "DONE" }) })
		f.ordered("0.01")
		measure(3, func() { f.until("a payment", func() bool { return len(f.pool("")) == 1 }) })
		f.mine(1)
		f.until("a withdrawal", func() bool { return f.status() == "DONE" })
	}
	for i, name := range names {
		slices.Sort(took[i])
		p50, p99 := took[i][times/2], took[i][(times*99+99)/100-1]
		f.t.Logf("%s: p50 %s, p99 %s of %d", name, p50.Round(time.Millisecond/10), p99.Round(time.Millisecond/10), times)
	}
}
