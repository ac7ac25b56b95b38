package cluster_test

import (
	"errors"
	"testing"
	"time"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
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

// TestConfirmIsOfOneLead lets a node lose its lead and win a later one while its notices wait: what its clients read is of
// the first lead, and another node has written since. A majority that says it leads the later one confirms nothing.
func TestConfirmIsOfOneLead(t *testing.T) {
	var raw [3]*raftlog.Log
	send := func(messages []*raftpb.Message) {
		for _, m := range messages {
			want(t, raw[m.GetTo()-1].Receive(m))
		}
	}
	var nodes [3]*cluster.Log
	for i := range nodes {
		d := memdisk.New(uint64(i))
		want(t, raftlog.Init(d, &raftlog.Cluster{Identity: identity, Nodes: []uint64{1, 2, 3}, SegmentSize: 256 << 10}, uint64(i+1)))
		var err error
		raw[i], _, err = raftlog.Open(d, raftlog.Options{
			Options: journal.Options{Identity: identity, SegmentSize: 256 << 10}, Send: send,
		})
		want(t, err)
		nodes[i] = cluster.NewLog(raw[i], time.Now)
	}
	step := func(until func() bool) {
		for !until() {
			for _, n := range nodes {
				_, err := n.Step()
				want(t, err)
			}
		}
	}
	leads := func(i int) func() bool { return func() bool { return raw[i].Status().Open } }
	confirmed := func(n *cluster.Log) (err error) {
		asked := make(chan error, 1)
		go func() { asked <- n.Confirm(t.Context()) }()
		step(func() bool {
			select {
			case err = <-asked:
				return true
			default:
				return false
			}
		})
		return err
	}

	step(func() bool { raw[0].Tick(); return leads(0)() })
	if role, ok := nodes[0].Next(); !ok || role.Kind != journal.Role || !role.Leads {
		t.Fatalf("a leader is told %+v", role)
	}
	want(t, confirmed(nodes[0]))

	_, err := raw[0].Transfer(2)
	want(t, err)
	step(leads(1))
	want(t, nodes[1].Propose(journal.Proposal{ID: 1, Count: 1, Commands: []byte("a")}))
	step(func() bool { return raw[1].Durable() == 1 })
	_, err = raw[1].Transfer(1)
	want(t, err)
	step(leads(0))
	if err := confirmed(nodes[0]); !errors.Is(err, cluster.ErrUnconfirmed) {
		t.Errorf("what was read in an earlier lead is confirmed: %v", err)
	}

	for role, ok := nodes[0].Next(); ok; role, ok = nodes[0].Next() {
		if role.Kind == journal.Role && role.Leads {
			break
		}
	}
	if err := confirmed(nodes[0]); !errors.Is(err, cluster.ErrUnconfirmed) {
		t.Errorf("a process that lost its lead is confirmed in the next one: %v", err)
	}
}
