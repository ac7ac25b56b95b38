package raftlog_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

// bereaved returns three nodes of which the first and the third are lost for good. The second has a batch that
// it does not know to be committed.
func bereaved(t *testing.T, seed uint64) *trio {
	t.Helper()
	g := seededTrio(t, seed)
	g.elect(0)
	g.propose(0, "aa")
	g.step(6)
	before := g.logs[1].Status().Last.Index
	g.propose(0, "bb")
	for g.logs[1].Status().Last.Index == before {
		if _, err := g.logs[0].Step(); err != nil {
			t.Fatal(err)
		}
		if _, err := g.logs[1].Step(); err != nil {
			t.Fatal(err)
		}
	}
	g.disks[1] = g.disks[1].Clone()
	g.logs, g.taken = [3]*raftlog.Log{}, [3][]journal.Batch{}
	return g
}

// recover5 makes the second node of three the only one, under the id 5.
func (g *trio) recover5() error {
	_, err := raftlog.Recover(g.disks[1], options(small, nil).Options, 5, []byte("context"))
	return err
}

// TestRecover makes the node that is left the only one: it leads alone, and what it did not know to be committed
// counts. Another one that joins it replays the change with the rest.
func TestRecover(t *testing.T) {
	g := bereaved(t, 0)
	end, err := raftlog.Inspect(g.disks[1], identity)
	if err != nil {
		t.Fatal(err)
	}
	if end.Last.Index != end.Commit+1 || end.Tip.Last != 4 || end.Committed.Last != 2 || !slices.Equal(end.Voters, []uint64{1, 2, 3}) {
		t.Errorf("the end is %+v", end)
	}
	if err := g.recover5(); err != nil {
		t.Fatal(err)
	}
	g.open(1)
	g.elect(1)
	if s := g.logs[1].Status(); s.Node != 5 || !slices.Equal(s.Voters, []uint64{5}) || s.Term <= end.Last.Term {
		t.Errorf("the node is %+v", s)
	}
	g.propose(1, "cc")
	g.step(4)
	g.verify(1, "aa bb cc")

	base, err := g.logs[1].Base()
	if err != nil {
		t.Fatal(err)
	}
	g.disks[0] = memdisk.New(99)
	if err := raftlog.Join(g.disks[0], &base, 4, small); err != nil {
		t.Fatal(err)
	}
	g.open(0)
	for _, kind := range []raftpb.ConfChangeType{raftpb.ConfChangeAddLearnerNode, raftpb.ConfChangeAddNode} {
		err := g.logs[1].Change(&raftpb.ConfChangeV2{Changes: []*raftpb.ConfChangeSingle{member(kind, 4)}})
		if err != nil {
			t.Fatal(err)
		}
		g.pass(20)
	}
	g.propose(1, "dd")
	g.pass(4)
	if got := g.texts(0); got != "aa bb cc dd" {
		t.Errorf("the node that joins has %q", got)
	}
	if s := g.logs[0].Status(); !slices.Equal(s.Voters, []uint64{4, 5}) || s.Role != raftlog.Replica {
		t.Errorf("the node that joins is %+v", s)
	}
}

// TestRecoverRefuses makes a node the only one under the id of a member, and while its process runs.
func TestRecoverRefuses(t *testing.T) {
	g := bereaved(t, 0)
	for _, id := range []uint64{1, 2, 3} {
		if _, err := raftlog.Recover(g.disks[1], options(small, nil).Options, id, nil); err == nil {
			t.Errorf("node 2 goes on as node %d", id)
		}
	}
	g.open(1)
	if err := g.recover5(); !errors.Is(err, journal.ErrInUse) {
		t.Errorf("the journal of a running node: %v", err)
	}
	if _, err := raftlog.Inspect(g.disks[1], identity); !errors.Is(err, journal.ErrInUse) {
		t.Errorf("the end of a running node: %v", err)
	}
}

// TestRecoverInAJointChange recovers a node whose last entry begins a joint change that nothing ends.
func TestRecoverInAJointChange(t *testing.T) {
	g := newTrio(t)
	g.elect(0)
	g.away[1], g.away[2] = true, true
	err := g.logs[0].Change(&raftpb.ConfChangeV2{Changes: []*raftpb.ConfChangeSingle{
		member(raftpb.ConfChangeAddNode, 5), member(raftpb.ConfChangeRemoveNode, 2),
	}})
	if err != nil {
		t.Fatal(err)
	}
	g.step(4)
	g.disks[1], g.logs = g.disks[0].Clone(), [3]*raftlog.Log{}
	if _, err := raftlog.Recover(g.disks[1], options(small, nil).Options, 8, nil); err != nil {
		t.Fatal(err)
	}
	g.open(1)
	g.away[1] = false
	for range 50 {
		g.pass(1)
	}
	if s := g.logs[1].Status(); !s.Open || !slices.Equal(s.Voters, []uint64{8}) {
		t.Errorf("the node is %+v", s)
	}
}

// TestRecoverCutAnywhere cuts the power at each operation of a recovery. A second call ends it.
func TestRecoverCutAnywhere(t *testing.T) {
	for n := 1; ; n++ {
		for outcome := range uint64(4) {
			g := bereaved(t, outcome)
			g.disks[1].StopAt(n)
			err := g.recover5()
			if err == nil {
				return
			}
			g.disks[1] = g.disks[1].Crash()
			t.Run(fmt.Sprintf("%d of %d", n, outcome), func(t *testing.T) {
				g.t = t
				if err := g.recover5(); err != nil {
					t.Fatal(err)
				}
				g.open(1)
				g.elect(1)
				g.verify(1, "aa bb")
			})
		}
	}
}
