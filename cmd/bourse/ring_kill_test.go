package main

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/client"
)

var (
	ringKills = flag.Int("cluster.kills", 3, "how often TestClusterKills kills a node")
	ringSeed  = flag.Uint64("cluster.seed", 0, "seed of the tests of clusters; 0 for a new one")
)

const (
	// ringPits is the number of markets with traders.
	ringPits = 3
	// mostBefore bounds the acknowledgements before a fault. Counted and not timed, rounds are alike on
	// every machine.
	mostBefore = 100
	// ringReconcile is the number of rounds after which the fills of followers, REST and the journal are compared.
	ringReconcile = 10
	// roverMost bounds the messages of a rover's connection.
	roverMost = 60
)

// blow is a fault that happens to a node. begin and end are called with the node.
type blow struct {
	name       string
	begin, end func(*ringNode)
}

// trial is a cluster with its traders and followers, to which faults happen.
type trial struct {
	*ring
	up   *uplink
	pits []*pit
	// rovers follow the trades of the pits from node to node.
	rovers []*rover
	savers []*saver
	prober string
	round  int
	acked  int
	// took are the times to the first new acknowledgement, by what happened to which node.
	took map[string][]time.Duration
}

// newTrial starts a cluster, after prepare, if there is one.
func newTrial(t *testing.T, prepare func(*ring)) *trial {
	t.Helper()
	seed := *ringSeed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("repeat with -cluster.seed=%d", seed)
	x := &trial{
		ring: newRing(t, rand.New(rand.NewPCG(seed, 23)), prepare),
		up:   &uplink{up: make(chan struct{})}, took: map[string][]time.Duration{},
	}
	x.up.serve(x.leader().url)
	_, x.prober = x.operator().member("prober", "USDT", takerHas)
	for i := range ringPits {
		x.pits = append(x.pits, newPit(x.ring, x.up, 10+i))
	}
	var nodes []string
	for _, n := range x.nodes {
		nodes = append(nodes, n.Listen)
	}
	for _, p := range x.pits {
		x.rovers = append(x.rovers, rove(t.Context(), p.pair, rand.New(rand.NewPCG(x.rng.Uint64(), 2)), roverMost, nodes...))
	}
	for i := range saverRoutes {
		x.savers = append(x.savers, newSaver(x.ring, i))
	}
	return x
}

// victim picks a node: the leader in two of three rounds.
func (x *trial) victim(leader *ringNode) *ringNode {
	if x.rng.IntN(3) > 0 {
		return leader
	}
	others := slices.DeleteFunc(slices.Clone(x.nodes), func(n *ringNode) bool { return n == leader })
	return others[x.rng.IntN(len(others))]
}

// suffer is a round: a fault happens to a node under the traders, and ends under them. Afterwards the
// histories are checked.
func (x *trial) suffer(f blow) {
	x.t.Helper()
	x.round++
	leader := x.leader()
	node := x.victim(leader)
	stop := make(chan struct{})
	var work sync.WaitGroup
	for _, p := range x.pits {
		seed := x.rng.Uint64()
		work.Go(func() { p.work(x.round, seed, stop) })
	}
	for _, s := range x.savers {
		work.Go(func() { s.work(stop) })
	}
	x.await(x.after(1+x.rng.IntN(mostBefore)), "before a fault")

	x.up.down()
	began := time.Now()
	f.begin(node)
	what := f.name + " of another node"
	if node == leader {
		what = f.name + " of the leader"
	}
	x.took[what] = append(x.took[what], x.probe(x.prober, fmt.Sprint(x.round), began))
	x.up.serve(x.leader().url)
	x.await(x.after(1+x.rng.IntN(mostBefore)), "during a fault")
	f.end(node)
	x.await(x.after(1+x.rng.IntN(mostBefore)), "after a fault")

	close(stop)
	work.Wait()
	x.level() // an old leader knows it, so that reads are of the new one
	for _, p := range x.pits {
		x.acked += len(p.acked)
		p.decide(x.t)
	}
	var settling sync.WaitGroup
	for _, s := range x.savers {
		settling.Go(func() { s.decide(x.t) })
	}
	settling.Wait()
	if x.round%ringReconcile == 0 {
		x.reconcile()
	}
}

// replayed is what a replay of a node's journal ends with: the last command that the files say to be committed.
type replayed struct {
	Seq  uint64
	Hash string `json:"state_hash"`
}

// reconcile compares what followers were told with REST and the leader's journal, whose files learn of a commit
// by the entry after it.
func (x *trial) reconcile() {
	x.t.Helper()
	leader := x.operator()
	seq := operate[struct{ Seq uint64 }](leader, "status").Seq
	within(x.t, patience, "a journal with all that the leader has", func() bool {
		return tool[replayed](x.t, "journal", "replay", leader.data).Seq >= seq
	})
	journaled := leader.journaled()
	for _, p := range x.pits {
		for _, b := range p.books {
			b.reconcile(x.t, journaled[b.account])
		}
	}
	api, err := client.New(x.leader().url, client.Options{})
	must(x.t, err)
	defer api.Close()
	for _, w := range x.rovers {
		w.knows(x.t, api)
	}
}

// finish wants all nodes to have the same state after the same command, and prints what was measured.
func (x *trial) finish(what string) {
	x.t.Helper()
	x.reconcile()
	for _, p := range x.pits {
		for _, b := range p.books {
			b.end(x.t)
		}
	}
	for _, w := range x.rovers {
		must(x.t, w.end())
		trades, visits := w.told()
		x.t.Logf("%s: a client without a key was told of %d trades over %d connections", w.pair, trades, visits)
	}
	x.level()

	// The leader may tick meanwhile: the states are those after the last command that all know to be committed.
	seq := uint64(math.MaxUint64)
	for _, n := range x.nodes {
		tool[any](x.t, "journal", "verify", n.dir)
		seq = min(seq, tool[replayed](x.t, "journal", "replay", n.dir).Seq)
	}
	var states []replayed
	for _, n := range x.nodes {
		states = append(states, tool[replayed](x.t, "journal", "replay", n.dir, "--to", fmt.Sprint(seq)))
	}
	if states[0] != states[1] || states[0] != states[2] {
		x.t.Errorf("the nodes end in different states: %+v", states)
	}

	x.chainsAgree()

	fills, drops := 0, 0
	for _, p := range x.pits {
		for _, b := range p.books {
			f, d := b.told()
			fills, drops = fills+f, drops+d
		}
	}
	x.t.Logf("%d %s: %d orders acknowledged; followers told of %d fills over %d dropped connections", x.round, what, x.acked, fills, drops)
	credited, paid, canceled := 0, 0, 0
	for _, s := range x.savers {
		credited, paid, canceled = credited+s.credited, paid+s.paid, canceled+s.canceled
	}
	x.t.Logf("%d deposits credited, %d withdrawals paid and %d canceled", credited, paid, canceled)
	for _, what := range slices.Sorted(maps.Keys(x.took)) {
		x.t.Logf("first new acknowledgement after %s: %s", what, spreadOf(x.took[what]))
	}
	x.t.Logf("load %s", load())
}

// load returns the machine's load; empty on a system that does not tell.
func load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	return strings.TrimSpace(string(text))
}

// chainsAgree wants each network's chain to have what the ledger says.
func (x *trial) chainsAgree() {
	x.t.Helper()
	report := operate[struct {
		Networks []struct{ Network, Chain string }
	}](x.operator(), "audit")
	if len(report.Networks) == 0 {
		x.t.Error("no networks")
	}
	for _, n := range report.Networks {
		if n.Chain != "agrees" {
			x.t.Errorf("network %s: the chain %s", n.Network, n.Chain)
		}
	}
}

// spreadOf describes times.
func spreadOf(list []time.Duration) string {
	slices.Sort(list)
	at := func(share float64) time.Duration {
		return list[int(share*float64(len(list)-1))].Round(time.Millisecond)
	}
	return fmt.Sprintf("%d times, p50 %s, p90 %s, p99 %s, max %s", len(list), at(0.5), at(0.9), at(0.99), at(1))
}

// TestClusterKills kills nodes of three under traders, customers who deposit and withdraw, and followers of streams,
// the leader in most rounds, and brings them back: histories of orders and balances are linearizable, acknowledged
// orders are there, deposits are credited once and withdrawals paid once, followers know each fill once, and the
// nodes end in the same state.
func TestClusterKills(t *testing.T) {
	x := newTrial(t, nil)
	for range *ringKills {
		x.suffer(blow{"kill", (*ringNode).kill, x.start})
	}
	x.finish("kills")
}
