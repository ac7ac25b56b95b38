package raftlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

// trio is a cluster of three nodes whose messages arrive at once, or never.
type trio struct {
	t     *testing.T
	disks [3]*memdisk.Disk
	logs  [3]*raftlog.Log
	// away are the nodes that no message reaches or leaves.
	away [3]bool
	// sent are all messages, in order.
	sent []*raftpb.Message
	// taken are the batches of each node's notices.
	taken   [3][]journal.Batch
	dropped []uint64
	// roles are the Leads of each node's notices of its role.
	roles  [3][]bool
	lastID uint64
}

func newTrio(t *testing.T) *trio { return seededTrio(t, 0) }

func seededTrio(t *testing.T, seed uint64) *trio {
	t.Helper()
	c := raftlog.Cluster{Identity: identity, Nodes: []uint64{1, 2, 3}, SegmentSize: small}
	g := &trio{t: t}
	for i := range g.logs {
		g.disks[i] = memdisk.New(3*seed + uint64(i))
		if err := raftlog.Init(g.disks[i], &c, uint64(i+1)); err != nil {
			t.Fatal(err)
		}
		g.open(i)
	}
	return g
}

func (g *trio) open(i int) *journal.Recovery {
	g.t.Helper()
	l, r, err := raftlog.Open(g.disks[i], options(small, g.send))
	if err != nil {
		g.t.Fatal(err)
	}
	g.logs[i] = l
	return r
}

func (g *trio) send(messages []*raftpb.Message) {
	g.sent = append(g.sent, messages...)
	for _, m := range messages {
		to := slot(m.GetTo())
		if l := g.logs[to]; l != nil && l.Status().Node == m.GetTo() && !g.away[to] && !g.away[slot(m.GetFrom())] {
			g.receive(l, m)
		}
	}
}

// slot returns the place of a node. A node that replaces another one has its place, and an id that is higher
// by three.
func slot(id uint64) uint64 { return (id - 1) % 3 }

func (g *trio) receive(l *raftlog.Log, m *raftpb.Message) {
	g.t.Helper()
	if err := l.Receive(m); err != nil {
		g.t.Errorf("%v is refused: %v", m, err)
	}
}

// step steps each node that runs, and takes its notices.
func (g *trio) step(rounds int) {
	g.t.Helper()
	for range rounds {
		for i, l := range g.logs {
			if l == nil {
				continue
			}
			if _, err := l.Step(); err != nil {
				g.t.Fatalf("node %d: %v", i+1, err)
			}
			g.take(i)
		}
	}
}

func (g *trio) take(i int) {
	for n, ok := g.logs[i].Next(); ok; n, ok = g.logs[i].Next() {
		switch n.Kind {
		case journal.Dropped:
			g.dropped = append(g.dropped, n.Proposal)
			continue
		case journal.Role:
			g.roles[i] = append(g.roles[i], n.Leads)
			continue
		default:
		}
		b := n.Batch
		b.Commands = bytes.Clone(b.Commands)
		g.taken[i] = append(g.taken[i], b)
	}
}

// elect lets time run until a node leads. Another leader hands over to it.
func (g *trio) elect(i int) {
	g.t.Helper()
	for range 500 {
		if g.logs[i].Status().Open {
			return
		}
		g.pass(1)
		for j, l := range g.logs {
			if j != i && l != nil && !g.away[j] && l.Status().Open {
				_, _ = l.Transfer(uint64(i + 1)) // it may be too early
			}
		}
	}
	g.t.Fatalf("node %d does not lead: %+v", i+1, g.logs[i].Status())
}

// pass lets time run for all nodes.
func (g *trio) pass(ticks int) {
	g.t.Helper()
	for range ticks {
		for _, l := range g.logs {
			if l != nil {
				l.Tick()
			}
		}
		g.step(3)
	}
}

// propose proposes a batch of two commands.
func (g *trio) propose(i int, text string) uint64 {
	g.t.Helper()
	g.lastID++
	p := journal.Proposal{ID: g.lastID, Count: 2, Time: bourse.Time(1000 * g.lastID), Commands: []byte(text)}
	if err := g.logs[i].Propose(p); err != nil {
		g.t.Fatalf("node %d: %v", i+1, err)
	}
	return g.lastID
}

// texts are the commands that a node has yielded.
func (g *trio) texts(i int) string {
	var list []string
	for _, b := range g.taken[i] {
		list = append(list, string(b.Commands))
	}
	return strings.Join(list, " ")
}

func (g *trio) wantAll(want string) {
	g.t.Helper()
	for i := range g.logs {
		if got := g.texts(i); got != want {
			g.t.Errorf("node %d has yielded %q, not %q", i+1, got, want)
		}
	}
}

// TestRoles moves the lead to another node: each learns of its role, the new leader behind
// everything that was committed before.
func TestRoles(t *testing.T) {
	g := newTrio(t)
	g.elect(0)
	g.propose(0, "aa")
	g.step(3)
	g.elect(1)
	g.pass(5)

	if got := g.roles[0]; len(got) < 2 || got[len(got)-1] {
		t.Errorf("node 1 was told %v of its lead", got)
	}
	for i, want := range [3]bool{false, true, false} {
		got := g.roles[i]
		if leads := len(got) > 0 && got[len(got)-1]; leads != want {
			t.Errorf("node %d was told %v of its lead", i+1, got)
		}
		for n := range got {
			if got[n] != (n%2 == 0) {
				t.Errorf("node %d was told %v: twice the same", i+1, got)
			}
		}
	}
	g.wantAll("aa")
}

// TestThreeAgree proposes at a leader: all nodes yield the same batches with the same hashes.
func TestThreeAgree(t *testing.T) {
	g := newTrio(t)
	g.elect(0)
	for n := range 60 {
		g.propose(0, fmt.Sprintf("%02d", n))
		g.step(6)
	}
	g.pass(4)
	for i := 1; i < 3; i++ {
		if !slices.EqualFunc(g.taken[0], g.taken[i], func(a, b journal.Batch) bool {
			return a.Chain == b.Chain && a.First == b.First && a.Time == b.Time
		}) {
			t.Errorf("node %d has other batches: %s", i+1, g.texts(i))
		}
	}
	if n := len(g.taken[0]); n != 60 {
		t.Errorf("%d batches", n)
	}
	if err := g.logs[1].Propose(journal.Proposal{ID: 99, Count: 1, Commands: []byte("x")}); !errors.Is(err, journal.ErrNotLeader) {
		t.Errorf("a proposal to a replica: %v", err)
	}
}

// TestRefusedTail lets a leader write entries that nobody else has. The next leader refuses
// them: they are cut, copied, and answered as dropped.
func TestRefusedTail(t *testing.T) {
	for _, tail := range []int{1, 3, 40} {
		g := newTrio(t)
		g.elect(0)
		g.propose(0, "aa")
		g.step(6)

		g.away[0] = true
		var ids []uint64
		for n := range tail {
			// The log takes four at a time, so longer tails have larger batches.
			if n < 4 {
				ids = append(ids, g.propose(0, strings.Repeat("x", 2+200*tail)))
			}
		}
		g.step(4)
		if got := g.logs[0].Status().Last.Index - g.logs[0].Status().Commit; got != uint64(min(tail, 4)) {
			t.Fatalf("the tail has %d entries", got)
		}
		g.verify(0, "aa")
		g.elect(1)
		g.propose(1, "bb")
		g.step(6)

		g.away[0] = false
		g.pass(30)
		g.wantAll("aa bb")
		if !slices.Equal(g.dropped, ids) {
			t.Errorf("dropped are %v, not %v", g.dropped, ids)
		}
		names, err := g.disks[0].List(journal.TornDir)
		if err != nil || len(names) == 0 {
			t.Errorf("no copy of what was cut: %v, %v", names, err)
		}
		g.verify(0, "aa bb")
		g.restart(0)
		g.verify(0, "aa bb")
	}
}

// restart ends a node's process and starts it again.
func (g *trio) restart(i int) {
	g.t.Helper()
	g.disks[i] = g.disks[i].Clone()
	g.open(i)
}

// verify lets a node mark its commit, and reads its journal.
func (g *trio) verify(i int, want string) {
	g.t.Helper()
	if err := g.logs[i].Mark(); err != nil {
		g.t.Fatal(err)
	}
	r, err := journal.NewFiles(g.disks[i], identity).Read(1)
	if err != nil {
		g.t.Fatal(err)
	}
	var list []string
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			g.t.Fatal(err)
		}
		list = append(list, string(b.Commands))
	}
	if got := strings.Join(list, " "); got != want {
		g.t.Errorf("the journal of node %d has %.99q, not %q", i+1, got, want)
	}
}

// TestCutAnywhere cuts the power at each operation of a cut. A start finds what was committed,
// and a prefix of the tail, and the cut then ends as it would have.
func TestCutAnywhere(t *testing.T) {
	t.Run("within a segment", func(t *testing.T) { cutAnywhere(t, 2000) })
	t.Run("of a whole segment", func(t *testing.T) { cutAnywhere(t, 14000) })
}

func cutAnywhere(t *testing.T, size int) {
	for n := 1; ; n++ {
		for outcome := range uint64(4) {
			if !cutAt(t, size, n, outcome) {
				return
			}
		}
	}
}

// cutAt cuts the power at an operation; false if the cut ended before.
func cutAt(t *testing.T, size, n int, outcome uint64) bool {
	t.Helper()
	g := seededTrio(t, outcome)
	g.elect(0)
	g.propose(0, "aa")
	g.step(6)
	g.away[0] = true
	for range 4 {
		g.propose(0, strings.Repeat("x", size))
	}
	g.step(4)
	if err := g.logs[0].Mark(); err != nil {
		t.Fatal(err)
	}
	g.elect(1)
	g.propose(1, "bb")
	g.step(6)

	g.pass(1)
	g.away[0] = false
	g.disks[0].StopAt(n)
	for range 60 {
		g.logs[1].Tick()
		g.logs[2].Tick()
		if _, err := g.logs[0].Step(); err != nil {
			g.afterCut(n)
			return true
		}
		g.take(0)
		g.step2()
	}
	g.wantAll("aa bb")
	return false
}

// afterCut starts the first node again.
func (g *trio) afterCut(n int) {
	g.t.Helper()
	g.disks[0] = g.disks[0].Crash()
	g.taken[0] = nil
	if r := g.open(0); g.logs[0].Status().Last.Index < 3 || r.Tip.Last > 4 {
		g.t.Fatalf("stopped at operation %d: a start finds %+v", n, g.logs[0].Status())
	}
	g.pass(30)
	g.verify(0, "aa bb")
}

// step2 steps the second and the third node.
func (g *trio) step2() {
	for i := 1; i < 3; i++ {
		if _, err := g.logs[i].Step(); err != nil {
			g.t.Fatal(err)
		}
		g.take(i)
	}
}

// TestMessagesAroundTheWrite wants a leader's entries to go out before its write, and the
// answer of a follower after its own.
func TestMessagesAroundTheWrite(t *testing.T) {
	g := newTrio(t)
	g.elect(0)
	g.pass(1)
	g.sent = nil
	g.disks[0].Inject(func(op memdisk.Op) error {
		if op.Kind == memdisk.OpWrite && len(g.sent) == 0 {
			t.Error("the leader writes before its entries are out")
		}
		return nil
	})
	g.propose(0, "aa")
	if _, err := g.logs[0].Step(); err != nil {
		t.Fatal(err)
	}
	if n := len(g.sent); n != 2 || g.sent[0].GetType() != raftpb.MsgApp {
		t.Errorf("%d messages are out", n)
	}
	g.disks[0].Inject(nil)

	g.sent = nil
	g.disks[1].Inject(func(op memdisk.Op) error {
		if op.Kind.Changes() && len(g.sent) > 0 {
			t.Error("a follower writes after its answer is out")
		}
		return nil
	})
	if _, err := g.logs[1].Step(); err != nil {
		t.Fatal(err)
	}
	if len(g.sent) != 1 || g.sent[0].GetType() != raftpb.MsgAppResp {
		t.Errorf("the follower sent %v", g.sent)
	}
}

// TestForgedEntries hands a follower entries that do not continue its journal. It ends before
// it acknowledges them.
func TestForgedEntries(t *testing.T) {
	good := journal.Frame{First: 1, Count: 2, Term: 2, Time: 5, Commands: []byte("aa")}
	for name, forge := range map[string]func(f *journal.Frame, b []byte) []byte{
		"sequence": func(f *journal.Frame, _ []byte) []byte { f.First = 2; return nil },
		"chain":    func(f *journal.Frame, _ []byte) []byte { f.Previous[0] = 1; return nil },
		"term":     func(f *journal.Frame, _ []byte) []byte { f.Term = 1; return nil },
		"time":     func(f *journal.Frame, _ []byte) []byte { f.Time = -1; return nil },
		"checksum": func(_ *journal.Frame, b []byte) []byte { b[len(b)-1]++; return b },
		"length":   func(_ *journal.Frame, b []byte) []byte { return append(b, 0) },
		"no batch": func(f *journal.Frame, _ []byte) []byte { f.Count, f.Commands = 0, nil; return nil },
		"":         func(*journal.Frame, []byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			g := newTrio(t)
			f := good
			whole, _ := f.Append(nil)
			data := forge(&f, whole)
			if data == nil {
				data, _ = f.Append(nil)
			}
			m := &raftpb.Message{
				Type: raftpb.MsgApp.Enum(), From: new(uint64(2)), To: new(uint64(1)), Term: new(uint64(2)),
				Index: new(uint64(1)), LogTerm: new(uint64(1)), Commit: new(uint64(1)),
				Entries: []*raftpb.Entry{{
					Type: raftpb.EntryNormal.Enum(), Index: new(uint64(2)), Term: new(uint64(2)), Data: data,
				}},
			}
			g.sent = nil
			g.receive(g.logs[0], m)
			_, err := g.logs[0].Step()
			if (err == nil) != (name == "") {
				t.Errorf("the step returns %v", err)
			}
			if err != nil && len(g.sent) > 0 {
				t.Errorf("the node answers %v", g.sent)
			}
			if _, again := g.logs[0].Step(); err != nil && again == nil {
				t.Error("the node continues")
			}
		})
	}
}

// TestFollowersCatchUp brings back a node that missed many segments: the leader reads what it
// no longer has in memory.
func TestFollowersCatchUp(t *testing.T) {
	g := newTrio(t)
	g.elect(0)
	g.away[2] = true
	var want []string
	for n := range 200 {
		text := strings.Repeat(fmt.Sprintf("%03d", n), 40)
		want = append(want, text)
		g.propose(0, text)
		g.step(6)
	}
	g.restart(0)
	g.elect(0)
	g.away[2] = false
	g.pass(40)
	if got := g.texts(2); got != strings.Join(want, " ") {
		t.Errorf("the follower has %d batches of %d", len(g.taken[2]), len(want))
	}
}

// TestStartsAtTheCommit restarts a node whose last entry is on its disk, and is committed as
// far as the others know but not as far as this node does.
func TestStartsAtTheCommit(t *testing.T) {
	g := newTrio(t)
	g.elect(0)
	g.propose(0, "aa")
	g.step(6)
	g.away[1], g.away[2] = true, true
	g.propose(0, "bb")
	g.step(2)
	g.logs[1], g.logs[2] = nil, nil
	before := g.logs[0].Status().Last

	g.restart(0)
	if d := g.logs[0].Durable(); d != 2 {
		t.Errorf("after the start command %d is committed", d)
	}
	if _, err := g.logs[0].Read(3); err != nil {
		t.Error(err)
	}
	if last := g.logs[0].Status().Last; last != before {
		t.Errorf("the last entry is %+v", last)
	}
}

// TestMembersChange removes a node. The change survives restarts of the others, and the
// segments in which it was made may go to the archive.
func TestMembersChange(t *testing.T) {
	g := newTrio(t)
	g.elect(0)
	g.propose(0, "aa")
	g.step(6)
	c := &raftpb.ConfChangeV2{Changes: []*raftpb.ConfChangeSingle{{
		Type: raftpb.ConfChangeRemoveNode.Enum(), NodeId: new(uint64(3)),
	}}}
	if err := g.logs[1].Change(c); !errors.Is(err, journal.ErrNotLeader) {
		t.Errorf("a replica changes members: %v", err)
	}
	if err := g.logs[0].Change(c); err != nil {
		t.Fatal(err)
	}
	g.step(8)
	g.logs[2] = nil
	two := []uint64{1, 2}
	if got := g.logs[1].Status().Voters; !slices.Equal(got, two) {
		t.Fatalf("voters are %v", got)
	}

	g.restart(0)
	g.elect(0)
	if got := g.logs[0].Status().Voters; !slices.Equal(got, two) {
		t.Fatalf("after a start voters are %v", got)
	}
	for range 20 {
		g.propose(0, strings.Repeat("y", 9000))
		g.step(6)
	}
	moved, err := journal.NewFiles(g.disks[0], identity).ArchiveNext(30)
	if err != nil || !moved {
		t.Fatal(moved, err)
	}
	g.restart(0)
	if got := g.logs[0].Status().Voters; !slices.Equal(got, two) {
		t.Errorf("behind the archive voters are %v", got)
	}
	g.elect(1)
}

// TestContinuesASingleNodesJournal begins a cluster at the tip of another journal.
func TestContinuesASingleNodesJournal(t *testing.T) {
	tip := journal.Tip{Last: 41, Chain: journal.Hash{7}, Term: 9, Time: 1000}
	d := memdisk.New(1)
	c := raftlog.Cluster{Identity: identity, Tip: tip, Nodes: []uint64{5}, SegmentSize: small}
	if err := raftlog.Init(d, &c, 5); err != nil {
		t.Fatal(err)
	}
	if err := raftlog.Init(d, &c, 5); err == nil {
		t.Error("a journal is made for the second time")
	}
	h := &alone{disk: d}
	l := h.Open(t)
	if err := l.Propose(journal.Proposal{ID: 1, Count: 1, Time: 5, Commands: []byte("a")}); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if _, err := l.Step(); err != nil {
			t.Fatal(err)
		}
	}
	n, ok := l.Next()
	if !ok || n.Batch.First != 42 || n.Batch.Term <= 9 || n.Batch.Time != 1000 {
		t.Errorf("the first batch is %+v", n)
	}
}

func TestOpenRefuses(t *testing.T) {
	single := memdisk.New(1)
	l, _, err := filelog.Open(single, journal.Options{Identity: identity})
	if err != nil || l.Close() != nil {
		t.Fatal(err)
	}
	if _, _, err := raftlog.Open(single, options(small, nil)); !errors.Is(err, journal.ErrReplica) {
		t.Errorf("a single node's journal: %v", err)
	}
	if _, _, err := raftlog.Open(memdisk.New(1), options(small, nil)); err == nil {
		t.Error("an empty directory is a journal")
	}

	h := newAlone(t, 1, nil)
	if err := h.disk.Remove("journal/voter"); err != nil {
		t.Fatal(err)
	}
	damage := (*journal.DamageError)(nil)
	if _, _, err := raftlog.Open(h.disk, options(small, nil)); !errors.As(err, &damage) || damage.File != "journal/voter" {
		t.Errorf("without a promise: %v", err)
	}
}
