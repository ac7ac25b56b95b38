package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bourse-exchange/bourse/internal/needs"
)

// shadowed is a cluster with a standby, and clients who trade.
type shadowed struct {
	*ring
	pit     *pit
	standby *copyOf
	// ports are the addresses that the standby follows, one of each node.
	ports []string
	// end ends the clients.
	end func()
}

// newShadowed makes a cluster with a standby. The nodes have an address for it each, or share one; prepare is called before they start.
func newShadowed(t *testing.T, shared bool, prepare func(*ring)) *shadowed {
	t.Helper()
	w := new(shadowed)
	w.ring = newRing(t, nil, func(r *ring) {
		r.args = []string{"--cluster-compare-every=100ms"}
		for _, n := range r.nodes {
			if len(w.ports) == 0 || !shared {
				w.ports = append(w.ports, freeAddress(t))
			}
			n.args = []string{"--cluster-listen=" + w.ports[len(w.ports)-1]}
		}
		if prepare != nil {
			prepare(r)
		}
	})
	w.pit, _ = openPit(t.Context(), w.operator(), 10, w.told)
	w.pit.enter(w.roamer)
	w.standby = followFrom(t, strings.Join(w.ports, ","), filepath.Join(t.TempDir(), "standby"))
	w.standby.reaches()

	ctx, cancel := context.WithCancel(t.Context())
	w.pit.ctx = ctx
	var work sync.WaitGroup
	work.Go(func() { w.pit.work(1, 1, ctx.Done()) })
	w.end = func() {
		cancel()
		work.Wait()
	}
	t.Cleanup(w.end)
	w.await(w.after(30), "at first")
	return w
}

// gone kills all nodes, the leader first, so that no other one leads.
func (r *ring) gone() {
	leader := r.leader()
	leader.kill()
	for _, n := range r.nodes {
		if n != leader {
			n.kill()
		}
	}
}

// promotes makes the standby the exchange, which has ended, as the nodes have. It has what was answered before the time that it showed.
func (w *shadowed) promotes(shown standbyStatus) {
	w.t.Helper()
	w.end()
	tool[any](w.t, "promote", w.standby.dir, "--source-is-gone")
	next := start(w.t, w.standby.dir, slices.Clone(short)...)
	w.pit.promoted(shown.AsOf)
	w.pit.ctx = w.t.Context()
	w.pit.enter(wayTo(w.t, next.url))
	w.pit.conclude(w.t, partedFrom(w.pit.start))
	next.audit()
}

// TestStandbyOfCluster keeps a standby of three nodes under traders while leaders are killed: it follows whichever node
// leads, and its states are those of each. Then all nodes are killed. The standby is promoted, and what was answered before the
// time that it showed is there.
func TestStandbyOfCluster(t *testing.T) {
	w := newShadowed(t, true, nil)
	for range 2 {
		leader := w.leader()
		leader.kill()
		w.leader()
		before := w.standby.status()
		w.await(w.after(30), "after a kill")
		within(t, patience, "states compared with the next leader", func() bool {
			now := w.standby.status()
			return now.Connected && now.Compared > before.Seq && now.AsOf.After(before.AsOf)
		})
		w.start(leader)
		within(t, patience, "a replica", func() bool { return leader.role.Load() == "replica" })
	}

	w.gone()
	shown := w.standby.status()
	w.standby.kill()
	w.promotes(shown)
}

// TestStandbyOfACutLeader cuts the leader of three nodes off from the others, and not from the standby, which knows the addresses of all
// three: it goes to the next leader. Then all are killed, and it is promoted.
func TestStandbyOfACutLeader(t *testing.T) {
	var cables []*cable
	w := newShadowed(t, false, func(r *ring) { cables = r.cabled() })
	leader := w.leader()
	for _, c := range cables {
		if c.from == leader.Node || c.to == leader.Node {
			c.cut()
		}
	}
	within(t, patience, "another leader", func() bool { return w.leader() != leader })
	w.await(w.after(30), "after a cut")
	next, before := w.leader(), w.standby.status()
	within(t, patience, "a standby of the next leader", func() bool {
		now := w.standby.status()
		return now.Connected && now.Source == w.ports[next.Node-1] && now.AsOf.After(before.AsOf)
	})

	w.gone()
	shown := w.standby.status()
	w.standby.kill()
	w.promotes(shown)
}

// TestStandbyOfAHungLeader lets the disk of the leader hang, which does not know that it is replaced until its disk goes on, and answers the
// standby meanwhile. The next one takes orders. The standby does not take the word of the first one for all that was acknowledged: promoted at
// that moment, it has what was answered before the time that it shows.
func TestStandbyOfAHungLeader(t *testing.T) {
	needs.Program(t, "strace")
	w := newShadowed(t, false, nil)
	leader := w.leader()
	mend := leader.hang(t, hangs[1].calls, hangs[1].delay)
	within(t, patience, "another leader", func() bool { return w.leader() != leader })
	w.await(w.after(30), "after a stall")
	shown := w.standby.status()
	w.standby.kill()
	mend()
	w.gone()
	w.promotes(shown)
}
