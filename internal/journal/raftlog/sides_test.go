package raftlog_test

import (
	"slices"
	"testing"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

// sides is a cluster of four nodes, of which messages reach those of the same side.
type sides struct {
	t     *testing.T
	disks map[uint64]*memdisk.Disk
	logs  map[uint64]*raftlog.Log
	// side is the side of each node. Messages to the node holds are held.
	side  map[uint64]int
	holds uint64
	held  []*raftpb.Message
	// acknowledged is the disk of node 3 as it was when its last answer to entries went out.
	acknowledged *memdisk.Disk
}

func (s *sides) send(messages []*raftpb.Message) {
	for _, m := range messages {
		if m.GetFrom() == 3 && m.GetType() == raftpb.MsgAppResp {
			s.acknowledged = s.disks[3].Clone()
		}
		switch l := s.logs[m.GetTo()]; {
		case l == nil || s.side[m.GetTo()] != s.side[m.GetFrom()]:
		case m.GetTo() == s.holds:
			s.held = append(s.held, m)
		default:
			s.receive(l, m)
		}
	}
}

func (s *sides) receive(l *raftlog.Log, messages ...*raftpb.Message) {
	s.t.Helper()
	if err := l.Receive(messages...); err != nil {
		s.t.Errorf("%v are refused: %v", messages, err)
	}
}

func (s *sides) open(id uint64) {
	s.t.Helper()
	l, _, err := raftlog.Open(s.disks[id], options(small, s.send))
	if err != nil {
		s.t.Fatal(err)
	}
	s.logs[id] = l
}

// pass lets each node take steps, each after a number of ticks.
func (s *sides) pass(rounds, ticks int) {
	s.t.Helper()
	for range rounds {
		for id := uint64(1); id <= 4; id++ {
			l := s.logs[id]
			if l == nil {
				continue
			}
			for range ticks {
				l.Tick()
			}
			if _, err := l.Step(); err != nil {
				s.t.Fatalf("node %d: %v", id, err)
			}
			for ok := true; ok; {
				_, ok = l.Next()
			}
		}
	}
}

// newSides returns nodes 1, 2 and 3 that vote, of which the first one leads, and the learner 4, which has caught up.
func newSides(t *testing.T) *sides {
	t.Helper()
	s := &sides{t: t, disks: map[uint64]*memdisk.Disk{}, logs: map[uint64]*raftlog.Log{}, side: map[uint64]int{}}
	c := raftlog.Cluster{Identity: identity, Nodes: []uint64{1, 2, 3}, SegmentSize: small}
	for _, id := range c.Nodes {
		s.disks[id] = memdisk.New(id)
		if err := raftlog.Init(s.disks[id], &c, id); err != nil {
			t.Fatal(err)
		}
		s.open(id)
	}
	for !s.logs[1].Status().Open {
		s.pass(1, 1)
		for _, l := range s.logs {
			_, _ = l.Transfer(1) // it may lead, or there is no leader yet
		}
	}
	base, err := s.logs[1].Base()
	if err != nil {
		t.Fatal(err)
	}
	s.disks[4] = memdisk.New(4)
	if err := raftlog.Join(s.disks[4], &base, 4, small); err != nil {
		t.Fatal(err)
	}
	s.open(4)
	s.change(member(raftpb.ConfChangeAddLearnerNode, 4))
	for len(s.logs[1].CaughtUp()) == 0 {
		s.pass(1, 1)
	}
	s.pass(10, 0)
	return s
}

func (s *sides) change(c ...*raftpb.ConfChangeSingle) {
	s.t.Helper()
	if err := s.logs[1].Change(&raftpb.ConfChangeV2{Changes: c}); err != nil {
		s.t.Fatal(err)
	}
}

// TestRestartKnowsTheMembers replaces node 3 by node 4 while node 2 is away. Node 3 gets the end of the joint change in
// one step with the news that its beginning is committed, and is killed as soon as its answer is out. With the members
// of before it could be elected by node 2, and both would commit other entries than nodes 1 and 4.
func TestRestartKnowsTheMembers(t *testing.T) {
	s := newSides(t)
	leader := s.logs[1]
	s.side[2] = 1
	s.change(member(raftpb.ConfChangeAddNode, 4), member(raftpb.ConfChangeRemoveNode, 3))
	begins := leader.Status().Last.Index + 1
	for s.logs[3].Status().Last.Index < begins {
		s.pass(1, 0)
	}
	s.holds = 3
	s.pass(10, 0)
	s.receive(s.logs[3], s.held...)
	s.holds = 0
	if _, err := s.logs[3].Step(); err != nil {
		t.Fatal(err)
	}
	if last := s.logs[3].Status().Last.Index; len(s.held) < 2 || last != begins+1 {
		t.Fatalf("%d messages brought node 3 to entry %d, not %d", len(s.held), last, begins+1)
	}

	s.side[3] = 1
	s.disks[3] = s.acknowledged
	s.open(3)
	s.pass(3, 0)
	if got := leader.Status(); got.Commit != begins+1 || !slices.Equal(slices.Sorted(slices.Values(got.Voters)), []uint64{1, 2, 4}) {
		t.Fatalf("the change has not ended: %+v", got)
	}
	term := leader.Status().Term
	for range 100 {
		s.pass(3, 0)
		s.pass(1, 1)
	}
	for _, id := range []uint64{2, 3} {
		if got := s.logs[id].Status(); got.Term != term || got.Commit > begins+1 {
			t.Errorf("node %d is elected, or follows one that is: %+v", id, got)
		}
	}

	if err := leader.Propose(journal.Proposal{ID: 1, Count: 2, Time: bourse.Time(1), Commands: []byte("aa")}); err != nil {
		t.Fatal(err)
	}
	s.pass(10, 0)
	s.side = map[uint64]int{}
	for range 100 {
		s.pass(3, 0)
		s.pass(1, 1)
	}
	for id, l := range s.logs {
		if id != 3 && l.Durable() != 2 {
			t.Errorf("node %d has not got what nodes 1 and 4 acknowledged: %+v", id, l.Status())
		}
	}
}
