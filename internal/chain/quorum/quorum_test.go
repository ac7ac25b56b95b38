package quorum_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/chaintest"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/chain/quorum"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
)

// seed is the exchange's, outsideSeed everybody else's.
var seed, outsideSeed = [32]byte{1}, [32]byte{2}

// patience bounds the answers of nodes.
const patience = 100 * time.Millisecond

// relay is the way to the node that runs now.
type relay struct{ *devnet.Node }

// hub is a chain with nodes, of which the last may have a chain of its own.
type hub struct {
	*testing.T
	params  *devnet.Params
	options devnet.Options
	disk    *memdisk.Disk
	main    *relay
	nodes   []*devnet.Faults
	clients []quorum.Client
}

// open makes a chain with so many nodes.
func open(t *testing.T, p *devnet.Params, nodes int, change ...func(*devnet.Options)) *hub {
	t.Helper()
	var now bourse.Time = 1e15
	keys := devnet.NewKeys(p, seed)
	h := &hub{T: t, params: p, disk: memdisk.New(1), options: devnet.Options{
		Seed: outsideSeed, Clock: func() bourse.Time { now += bourse.Second; return now },
		Hot: devnet.NewCodec(p, keys.Public()).Destination(chain.IndexHot),
	}}
	for _, do := range change {
		do(&h.options)
	}
	h.main = &relay{h.start(h.disk)}
	for range nodes {
		h.add(h.main)
	}
	return h
}

func (h *hub) start(d *memdisk.Disk) *devnet.Node {
	h.Helper()
	n, err := devnet.Open(d, h.params, h.options)
	h.must(err)
	return n
}

// add adds a node with a client.
func (h *hub) add(behind devnet.Transport) *devnet.Faults {
	f := devnet.NewFaults(behind)
	h.nodes = append(h.nodes, f)
	h.clients = append(h.clients, devnet.NewClient(h.params, devnet.NewKeys(h.params, seed).Public(), f,
		devnet.ClientOptions{Timeout: patience, Clock: h.options.Clock}))
	return f
}

// fork adds a node whose chain is the one of now, and leaves it from here on.
func (h *hub) fork() *devnet.Node {
	h.Helper()
	n := h.start(h.disk.Clone())
	h.add(n)
	return n
}

// network returns the quorum of all nodes.
func (h *hub) network(depth uint64) *quorum.Network {
	h.Helper()
	q, err := quorum.New(quorum.Options{Nodes: h.clients, Depth: depth, Timeout: time.Minute})
	h.must(err)
	return q
}

func (h *hub) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// deep is more than the blocks of a test.
const deep = 1000

// TestContract runs the suite of every adapter over three nodes.
func TestContract(t *testing.T) {
	for _, symbol := range []bourse.Symbol{"BTC", "ETH", "ATOM"} {
		t.Run(string(symbol), func(t *testing.T) {
			t.Parallel()
			chaintest.Run(t, func(t *testing.T) *chaintest.Rig {
				h := open(t, devnet.Lookup(symbol), 3)
				return h.rig(3)
			})
		})
	}
}

// TestContractWithABadNode runs the suite over three nodes of which one is bad from the start to the end.
func TestContractWithABadNode(t *testing.T) {
	for name, spoil := range map[string]func(h *hub){
		"Silent":  func(h *hub) { h.add(h.main).Stop() },
		"Garbage": func(h *hub) { h.fork(); h.nodes[2].Inject(devnet.LieText, "", 0) },
		"Stale":   func(h *hub) { h.fork(); h.nodes[2].Inject(devnet.Stale, devnet.MethodHead, 0) },
		"Frozen":  func(h *hub) { h.fork() },
		"Forked": func(h *hub) {
			_, err := h.fork().Mine(2)
			h.must(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			symbol := bourse.Symbol("ETH")
			if name == "Forked" {
				symbol = "BTC"
			}
			chaintest.Run(t, func(t *testing.T) *chaintest.Rig {
				h := open(t, devnet.Lookup(symbol), 2)
				spoil(h)
				// One node that takes a transaction would be enough, and the suite silences the others.
				h.nodes[2].Inject(devnet.Refused, devnet.MethodBroadcast, 0)
				return h.rig(2)
			})
		})
	}
}

// rig returns a rig whose faults are those of so many nodes.
func (h *hub) rig(nodes int) *chaintest.Rig {
	faulty := h.nodes[:nodes]
	each := func(do func(*devnet.Faults)) func() {
		return func() {
			for _, f := range faulty {
				do(f)
			}
		}
	}

	rig := &chaintest.Rig{
		Network: h.network(deep), Keys: devnet.NewKeys(h.params, seed), Outside: h.main,
		Stop: each((*devnet.Faults).Stop), Start: each((*devnet.Faults).Start),
		Lag:        func(blocks uint64, silent bool) { h.main.Lag(blocks, silent) },
		SendHidden: func(pay chain.Pay) (chain.Hash, error) { return h.main.SendHidden(pay) },
		LoseReply:  each(func(f *devnet.Faults) { f.Inject(devnet.LostReply, devnet.MethodBroadcast, 1) }),
		Spoil:      map[string]func(){}, Mend: each((*devnet.Faults).Clear),
		Restart: func(t *testing.T) {
			t.Helper()
			h.must(h.main.Close())
			h.main.Node = h.start(h.disk)
		},
	}
	for _, fault := range devnet.AllFaults() {
		rig.Spoil[fmt.Sprint("fault ", fault)] = each(func(f *devnet.Faults) { f.Inject(fault, "", 0) })
	}
	other := devnet.Lookup("LTC")
	rig.Foreign = []string{devnet.NewCodec(other, devnet.NewKeys(other, seed).Public()).Destination(1).Address}
	return rig
}
