package cluster_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

// TestStall lets the leader's disk hang at its next sync. It sends nothing then, so that another node leads; it is
// stalled after a number of looks, confirms nobody without waiting for its disk, and is a replica once the disk goes
// on.
func TestStall(t *testing.T) {
	sites := newSites(t, 3)
	nodes, disks := []*node{}, map[*node]*memdisk.Disk{}
	for i := range sites {
		d := memdisk.New(uint64(i))
		want(t, raftlog.Init(d, &raftlog.Cluster{Identity: identity, Nodes: []uint64{1, 2, 3}, SegmentSize: 256 << 10}, sites[i].node))
		nodes = append(nodes, startNode(t, &sites[i], sites, d))
		disks[nodes[i]] = d
	}
	first := leader(nodes...)
	hangs, goesOn := make(chan struct{}), make(chan struct{})
	goOn := sync.OnceFunc(func() { close(goesOn) })
	defer goOn()
	held := false
	disks[first].Inject(func(op memdisk.Op) error {
		if op.Kind == memdisk.OpSync && !held {
			held = true
			close(hangs)
			<-goesOn
		}
		return nil
	})
	want(t, first.log.Propose(journal.Proposal{ID: 1, Count: 1, Commands: []byte("a")}))
	stepped := make(chan error, 1)
	go func() {
		_, err := first.log.Step()
		stepped <- err
	}()
	<-hangs

	asked := make(chan error, 1)
	go func() { asked <- first.log.Confirm(t.Context()) }()
	for n := range cluster.StalledAfter + 1 {
		if first.log.Stalled() {
			t.Errorf("stalled after %d looks", n)
		}
		first.log.Look()
	}
	if !first.log.Stalled() {
		t.Fatal("not stalled")
	}
	for waits := true; waits; first.log.Look() { // the question may have come after a look
		select {
		case err := <-asked:
			waits = false
			if !errors.Is(err, cluster.ErrUnconfirmed) {
				t.Errorf("a stalled leader is confirmed: %v", err)
			}
		default:
		}
	}
	var others []*node
	for _, n := range nodes {
		if n != first {
			others = append(others, n)
		}
	}
	second := leader(others...)

	goOn()
	want(t, <-stepped)
	<-first.log.Deposed()
	first.log.Look()
	if first.log.Stalled() {
		t.Error("stalled although the disk goes on")
	}
	for answered := false; !answered; { // it may be dropped, if no other node was connected
		notice := <-first.notices
		answered = notice.Proposal == 1
		if answered && notice.Kind != journal.Committed && notice.Kind != journal.Dropped {
			t.Errorf("what the leader sent before its disk hung is answered by %+v", notice)
		}
	}
	if err := second.log.Confirm(t.Context()); err != nil {
		t.Errorf("the next leader: %v", err)
	}
}
