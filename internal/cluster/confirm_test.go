package cluster_test

import (
	"errors"
	"testing"

	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

// TestConfirm confirms a leader as long as a majority answers it, and never a replica.
func TestConfirm(t *testing.T) {
	sites := newSites(t, 3)
	var nodes []*node
	for i := range sites {
		d := memdisk.New(uint64(i))
		want(t, raftlog.Init(d, &raftlog.Cluster{Identity: identity, Nodes: []uint64{1, 2, 3}, SegmentSize: 256 << 10}, sites[i].node))
		nodes = append(nodes, startNode(t, &sites[i], sites, d))
	}
	first := leader(nodes...)
	for range 100 {
		want(t, first.log.Confirm(t.Context()))
	}
	for _, n := range nodes {
		if n == first {
			continue
		}
		if err := n.log.Confirm(t.Context()); !errors.Is(err, cluster.ErrUnconfirmed) {
			t.Errorf("a replica: %v", err)
		}
		n.stop()
	}
	if err := first.log.Confirm(t.Context()); !errors.Is(err, cluster.ErrUnconfirmed) {
		t.Errorf("a leader whom nobody answers: %v", err)
	}
}
