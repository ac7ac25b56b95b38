package main

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// TestStandbyOfCluster keeps a standby of three nodes under traders while leaders are killed: it follows whichever node
// leads, and its states are those of each. Then all nodes are killed. The standby is promoted, and what was answered before the
// time that it showed is there.
func TestStandbyOfCluster(t *testing.T) {
	address := freeAddress(t)
	r := newRing(t, nil, func(r *ring) { r.args = []string{"--cluster-listen=" + address, "--cluster-compare-every=100ms"} })
	p, _ := openPit(t.Context(), r.operator(), 10, r.told)
	p.enter(r.roamer)
	dir := filepath.Join(t.TempDir(), "standby")
	standby := followFrom(t, address, dir)
	standby.reaches()

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.ctx = ctx
	var work sync.WaitGroup
	work.Go(func() { p.work(1, 1, ctx.Done()) })
	for range 2 {
		r.await(r.after(30), "before a kill")
		leader := r.leader()
		leader.kill()
		r.leader()
		before := standby.status()
		r.await(r.after(30), "after a kill")
		within(t, patience, "states compared with the next leader", func() bool {
			now := standby.status()
			return now.Connected && now.Compared > before.Seq && now.AsOf.After(before.AsOf)
		})
		r.start(leader)
		within(t, patience, "a replica", func() bool { return leader.role.Load() == "replica" })
	}

	leader := r.leader()
	leader.kill() // first, so that no other one leads
	for _, n := range r.nodes {
		if n != leader {
			n.kill()
		}
	}
	shown := standby.status()
	cancel()
	work.Wait()
	standby.kill()
	tool[any](t, "promote", dir, "--source-is-gone")
	next := start(t, dir, slices.Clone(short)...)
	p.promoted(shown.AsOf)
	p.ctx = t.Context()
	p.enter(wayTo(t, next.url))
	p.conclude(t, partedFrom(p.start))
	next.audit()
}
