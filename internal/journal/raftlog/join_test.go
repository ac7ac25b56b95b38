package raftlog_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/journaltest"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

// member returns a change of one member.
func member(kind raftpb.ConfChangeType, id uint64) *raftpb.ConfChangeSingle {
	return &raftpb.ConfChangeSingle{Type: kind.Enum(), NodeId: new(id)}
}

// loseDisk ends a node, and puts a new one with an empty disk and the id 5 in its place.
func (g *trio) loseDisk(i int) {
	g.t.Helper()
	g.logs[i], g.disks[i], g.taken[i] = nil, memdisk.New(77), nil
	base := g.base(0)
	if err := raftlog.Join(g.disks[i], &base, 5, small); err != nil {
		g.t.Fatal(err)
	}
	g.open(i)
}

func (g *trio) base(i int) journal.Header {
	g.t.Helper()
	base, err := g.logs[i].Base()
	if err != nil {
		g.t.Fatal(err)
	}
	return base
}

// TestBaseBehindTheArchive archives segments beside a log: its base is the oldest that is left, from which a newcomer
// gets all entries, and no node can begin before that.
func TestBaseBehindTheArchive(t *testing.T) {
	g := newTrioThatTook(t, "aa", 40)
	if base := g.base(0); base.First() != 1 {
		t.Fatalf("the journal begins with command %d", base.First())
	}
	files := journal.NewFiles(g.disks[0], identity)
	journaltest.Archive(t, files, g.logs[0].Durable())
	stats, err := files.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if base := g.base(0); base.First() != stats.Live || stats.Live == 1 {
		t.Errorf("the base begins with command %d, the live segments with %d", base.First(), stats.Live)
	}
	g.propose(0, "zz")
	g.pass(5)
	if all := g.texts(1); all[len(all)-2:] != "zz" {
		t.Errorf("nothing is committed behind an archived base: %q", all)
	}
}

// TestJoin lets a node lose its disk that has acknowledged what a third one lacks. It comes back under another
// id and catches up while the leader takes commands, over several segments. It has no vote before that, and one
// afterwards, also after a start.
func TestJoin(t *testing.T) {
	g := newTrio(t)
	g.elect(0)
	g.away[2] = true
	for n := range 40 {
		g.propose(0, fmt.Sprintf("%02d", n))
		g.step(6)
	}
	g.loseDisk(1)

	// Node 3 lacks committed commands. Without the leader it must not be elected.
	g.away[0], g.away[2] = true, false
	g.pass(200)
	if s := g.logs[2].Status(); s.Role == raftlog.Leader {
		t.Fatalf("a node that lacks committed commands leads: %+v", s)
	}
	g.away[0] = false
	g.elect(0)

	g.away[1] = true
	g.change(&raftpb.ConfChangeV2{Changes: []*raftpb.ConfChangeSingle{member(raftpb.ConfChangeAddLearnerNode, 5)}})
	if list := g.logs[0].CaughtUp(); len(list) > 0 {
		t.Errorf("caught up without a message: %v", list)
	}
	g.away[1] = false
	for n := 40; len(g.logs[0].CaughtUp()) == 0; n++ {
		g.propose(0, fmt.Sprintf("%02d", n%100))
		g.pass(1)
	}
	g.change(&raftpb.ConfChangeV2{Changes: []*raftpb.ConfChangeSingle{
		member(raftpb.ConfChangeAddNode, 5), member(raftpb.ConfChangeRemoveNode, 2),
	}})
	g.pass(20)
	for i, l := range g.logs {
		if s := l.Status(); !slices.Equal(slices.Sorted(slices.Values(s.Voters)), []uint64{1, 3, 5}) {
			t.Errorf("node %d has the voters %v", i+1, s.Voters)
		}
	}
	g.wantAll(g.texts(0))
	g.verify(1, g.texts(0))

	g.restart(1)
	g.away[2] = true
	g.propose(0, "zz")
	g.pass(5)
	if all := g.texts(0); all[len(all)-2:] != "zz" {
		t.Errorf("the node that came back has no vote: %q", all)
	}
}

// TestJoinRefuses makes a node under the id of a member, which would forget the member's votes, and in a
// directory that has a journal.
func TestJoinRefuses(t *testing.T) {
	g := newTrio(t)
	base := g.base(0)
	if err := raftlog.Join(memdisk.New(7), &base, 2, small); err == nil {
		t.Error("a node is made anew under its id")
	}
	if err := raftlog.Join(g.disks[1].Clone(), &base, 5, small); err == nil {
		t.Error("a node is made where one is")
	}
	single := journal.Header{Identity: identity}
	if err := raftlog.Join(memdisk.New(8), &single, 5, small); !errors.Is(err, journal.ErrReplica) {
		t.Errorf("a node begins with a single node's segment: %v", err)
	}
}

// TestNoSnapshotIsSent lets a follower come back that lacks what the leader has archived: raft would send it a snapshot, and the log
// has none. The leader goes on with the other follower. The one that was away catches up as soon as a node
// leads that still has those entries.
func TestNoSnapshotIsSent(t *testing.T) {
	g := newTrio(t)
	g.leaveBehind()
	journaltest.Archive(t, journal.NewFiles(g.disks[0], identity), g.logs[0].Durable())
	g.restart(0) // the entries are in no memory any more
	g.elect(0)
	before := g.logs[2].Status().Last
	if base := g.base(0); base.Replica.At.Index <= before.Index {
		t.Fatalf("the leader begins behind %+v, and the follower ends at %+v", base.Replica.At, before)
	}

	g.sent, g.away[2] = nil, false
	g.propose(0, "zz")
	g.pass(100)
	for _, m := range g.sent {
		if m.GetType() == raftpb.MsgSnap {
			t.Errorf("node %d gets %v", m.GetTo(), m)
		}
	}
	if now := g.logs[2].Status(); now.Last != before || now.Leader != 1 {
		t.Errorf("the follower ended at %+v, and is %+v", before, now)
	}
	if all := g.texts(1); !strings.HasSuffix(all, " zz") {
		t.Errorf("the other follower has yielded %.99q", all)
	}

	g.elect(1)
	g.pass(30)
	if all := g.texts(2); all != g.texts(1) {
		t.Errorf("the follower has yielded %.99q", all)
	}
}
