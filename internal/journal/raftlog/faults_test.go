package raftlog_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/journaltest"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

func removal(ids ...uint64) *raftpb.ConfChangeV2 {
	c := new(raftpb.ConfChangeV2)
	for _, id := range ids {
		c.Changes = append(c.Changes, &raftpb.ConfChangeSingle{Type: raftpb.ConfChangeRemoveNode.Enum(), NodeId: new(id)})
	}
	return c
}

// TestImpossibleMembers asks for members that no cluster can have. Nothing is proposed: an entry that
// no node can apply would end them all, at every start.
func TestImpossibleMembers(t *testing.T) {
	many := new(raftpb.ConfChangeV2)
	for id := range uint64(14) {
		many.Changes = append(many.Changes, &raftpb.ConfChangeSingle{
			Type: raftpb.ConfChangeAddLearnerNode.Enum(), NodeId: new(10 + id),
		})
	}
	for name, c := range map[string]*raftpb.ConfChangeV2{
		"nobody votes": removal(1, 2, 3), "no joint change to leave": {}, "too many": many,
	} {
		t.Run(name, func(t *testing.T) {
			g := newTrio(t)
			g.elect(0)
			before := g.logs[0].Status().Last
			if err := g.logs[0].Change(c); err == nil {
				t.Error("the change is taken")
			}
			g.step(8)
			if last := g.logs[0].Status().Last; last != before {
				t.Errorf("an entry follows %+v: %+v", before, last)
			}
		})
	}
}

// TestTwoVotersKeepTheirVotes asks two voters to take the vote of one, which could leave the other without
// a leader for ever. A third voter makes it possible again.
func TestTwoVotersKeepTheirVotes(t *testing.T) {
	g := newTrio(t)
	g.elect(0)
	g.change(removal(3))
	demotion := &raftpb.ConfChangeV2{Changes: []*raftpb.ConfChangeSingle{
		{Type: raftpb.ConfChangeAddLearnerNode.Enum(), NodeId: new(uint64(2))},
	}}
	swap := removal(2)
	addition := &raftpb.ConfChangeSingle{Type: raftpb.ConfChangeAddNode.Enum(), NodeId: new(uint64(3))}
	swap.Changes = append(swap.Changes, addition)
	for _, c := range []*raftpb.ConfChangeV2{removal(1), removal(2), demotion, swap} {
		if err := g.logs[0].Change(c); err == nil {
			t.Errorf("%v is taken", c.Changes)
		}
	}

	g.change(&raftpb.ConfChangeV2{Changes: []*raftpb.ConfChangeSingle{addition}})
	g.change(removal(1))
	g.elect(1)
	if v := g.logs[1].Status().Voters; !slices.Equal(v, []uint64{2, 3}) {
		t.Errorf("voters are %v", v)
	}
}

// TestAMajorityKeepsItsVotes asks three voters to take two votes at once, by a joint change, which could leave the
// third without a leader for ever. One vote is taken.
func TestAMajorityKeepsItsVotes(t *testing.T) {
	g := newTrio(t)
	g.elect(0)
	change := func(list ...*raftpb.ConfChangeSingle) *raftpb.ConfChangeV2 {
		return &raftpb.ConfChangeV2{Changes: list}
	}
	remove, demote, add := raftpb.ConfChangeRemoveNode, raftpb.ConfChangeAddLearnerNode, raftpb.ConfChangeAddNode
	for _, c := range []*raftpb.ConfChangeV2{
		change(member(remove, 1), member(demote, 2)),
		change(member(remove, 2), member(remove, 3)),
		change(member(demote, 2), member(remove, 3), member(add, 5), member(add, 6)),
	} {
		if err := g.logs[0].Change(c); err == nil {
			t.Errorf("%v is taken", c.Changes)
		}
	}
	g.change(change(member(demote, 2), member(remove, 2)))
	if v := g.logs[0].Status().Voters; !slices.Equal(v, []uint64{1, 3}) {
		t.Errorf("voters are %v", v)
	}
}

// change changes the members by the first node, and steps until that is done.
func (g *trio) change(c *raftpb.ConfChangeV2) {
	g.t.Helper()
	if err := g.logs[0].Change(c); err != nil {
		g.t.Fatal(err)
	}
	g.step(8)
}

// TestMembersAreKnownAtOnce kills two nodes right after they have applied the change that makes one of them a voter,
// and takes the third away for good. They lead: their disks prove that the change is committed, wherever in a segment
// it was applied.
func TestMembersAreKnownAtOnce(t *testing.T) {
	t.Run("with room", func(t *testing.T) {
		killBehindAChange(t, 0, func(g *trio) { g.step(12) })
	})
	t.Run("without room", func(t *testing.T) { // that other marks have taken
		for index := range uint64(small / journal.Block) {
			killBehindAChange(t, index, func(g *trio) { g.stepAndMark(12) })
		}
	})
}

// killBehindAChange changes the members behind an entry, or as early as can be. Step takes all nodes through a change.
func killBehindAChange(t *testing.T, index uint64, step func(g *trio)) {
	t.Helper()
	g := newTrio(t)
	g.elect(0)
	for g.logs[0].Status().Last.Index < index { // elections made some of the entries, and not always as many
		g.propose(0, "aa")
		g.step(6)
	}
	for _, kind := range []raftpb.ConfChangeType{raftpb.ConfChangeAddLearnerNode, raftpb.ConfChangeAddNode} {
		c := &raftpb.ConfChangeV2{Changes: []*raftpb.ConfChangeSingle{member(kind, 3)}}
		if err := g.logs[0].Change(c); err != nil {
			t.Fatal(err)
		}
		step(g)
	}
	for i := range g.logs {
		if s := g.logs[i].Status(); len(s.Voters) != 3 {
			t.Fatalf("node %d has the voters %v", i+1, s.Voters)
		}
	}

	g.away[0] = true
	g.restart(1)
	g.restart(2)
	g.elect(1)
}

// stepAndMark steps all nodes, each of which marks its journal after each step.
func (g *trio) stepAndMark(rounds int) {
	g.t.Helper()
	for range rounds {
		g.step(1)
		for i, l := range g.logs {
			if err := l.Mark(); err != nil {
				g.t.Fatalf("node %d: %v", i+1, err)
			}
		}
	}
}

// TestLateMessageOfAnOlderTerm answers a leader as a node does that gets a late message of the leader's former term: it
// tells its own term, which is this leader's. The leader still sends the node its entries.
func TestLateMessageOfAnOlderTerm(t *testing.T) {
	g := newTrio(t)
	g.away[2] = true
	g.elect(0)
	term := g.logs[0].Status().Term
	g.receive(g.logs[0], &raftpb.Message{
		Type: raftpb.MsgAppResp.Enum(), From: new(uint64(3)), To: new(uint64(1)), Term: &term,
	})
	g.step(3)

	g.away[2] = false
	g.propose(0, "aa")
	g.pass(20)
	g.wantAll("aa")
}

// TestOldPromise opens a journal whose entries are of a later term than the promise: the node has
// forgotten one.
func TestOldPromise(t *testing.T) {
	g := newTrio(t)
	old, err := journal.LoadVoter(g.disks[0], identity)
	if err != nil {
		t.Fatal(err)
	}
	g.elect(0)
	d := g.disks[0].Clone()
	if err := old.Save(d, identity); err != nil {
		t.Fatal(err)
	}
	damage := (*journal.DamageError)(nil)
	if _, _, err := raftlog.Open(d, options(small, nil)); !errors.As(err, &damage) || damage.File != "journal/voter" {
		t.Errorf("the start returns %v", err)
	}
}

// TestArchiveLeavesACommittedEntry archives at a leader whose last segment has nothing that is
// committed. The next leader refuses that segment, and the node continues in the one before.
func TestArchiveLeavesACommittedEntry(t *testing.T) {
	g := newTrio(t)
	g.elect(0)
	for range 3 {
		g.propose(0, strings.Repeat("a", 10000))
		g.step(6)
	}
	g.away[0] = true
	for range 4 {
		g.propose(0, strings.Repeat("x", 14000))
	}
	g.step(4)
	journaltest.Archive(t, journal.NewFiles(g.disks[0], identity), g.logs[0].Durable()+1)
	if d := g.logs[0].Durable(); d != 6 {
		t.Fatalf("%d commands are committed, and the segment ends elsewhere", d)
	}
	g.elect(1)
	g.propose(1, "bb")
	g.step(6)
	g.away[0] = false
	g.pass(30)
	g.restart(0)
	g.pass(30)
	if got := g.texts(0); !strings.HasSuffix(got, " bb") {
		t.Errorf("the node has yielded %.99q", got)
	}
}

// leaveBehind has the first node lead and the third one miss entries of several segments.
func (g *trio) leaveBehind() {
	g.t.Helper()
	g.elect(0)
	g.away[2] = true
	for range 9 {
		g.propose(0, strings.Repeat("a", 9000))
		g.step(6)
	}
}

// TestFailedReads lets the read of an old entry fail. The step returns the error.
func TestFailedReads(t *testing.T) {
	g := newTrio(t)
	g.leaveBehind()
	g.restart(0)
	g.elect(0)
	bad := errors.New("bad sector")
	g.disks[0].Inject(func(op memdisk.Op) error {
		if op.Kind == memdisk.OpRead {
			return bad
		}
		return nil
	})
	g.away[2] = false
	for range 100 {
		g.logs[0].Tick()
		if _, err := g.logs[0].Step(); err != nil {
			if !errors.Is(err, bad) {
				t.Error(err)
			}
			return
		}
		g.logs[1].Tick()
		g.logs[2].Tick()
		g.step2()
	}
	t.Error("nothing was read")
}

// TestMembersBehindRefusedOnes gives a slow node two changes of members, of which a later leader
// refuses the second before the node has applied the first. The segments that begin then must not
// have the members before the first.
func TestMembersBehindRefusedOnes(t *testing.T) {
	g := newTrio(t)
	s := newScript()
	var list []*raftpb.Entry
	for range 20 { // more than a step applies
		list = append(list, s.batch(2))
	}
	list = append(list, s.change(t, 2, removal(3)))
	known := s.last
	s.hand(g, 2, known.Index, append(list, s.change(t, 2, removal(2))))
	if a := g.logs[0].Status().Applied; a >= known.Index {
		t.Fatal("the node has applied the first change")
	}

	s.last, s.sent = known, known
	s.hand(g, 3, known.Index, []*raftpb.Entry{s.batch(3), s.batch(3)})
	two := []uint64{1, 2}
	if v := g.logs[0].Status().Voters; !slices.Equal(v, two) {
		t.Fatalf("voters are %v", v)
	}
	// A start takes the members from the segment that began in that step: its beginning is the last commit on the disk.
	began := s.last.Index - 1
	s.hand(g, 3, began, []*raftpb.Entry{s.batch(3)})
	g.restart(0)
	if c := g.logs[0].Status().Commit; c != began {
		t.Fatalf("after a start entry %d is committed, not %d", c, began)
	}
	for more := true; more; {
		var err error
		if more, err = g.logs[0].Step(); err != nil {
			t.Fatal(err)
		}
	}
	if v := g.logs[0].Status().Voters; !slices.Equal(v, two) {
		t.Errorf("after a start voters are %v", v)
	}
}

// script makes the entries of leaders for the first node.
type script struct {
	tip journal.Tip
	// last is the position of the last entry made, sent that of the last one handed over.
	last, sent journal.Position
}

// newScript returns the script behind what Init wrote.
func newScript() script {
	begin := journal.Position{Index: 1, Term: 1}
	return script{last: begin, sent: begin}
}

func (s *script) entry(term uint64, kind raftpb.EntryType, data []byte) *raftpb.Entry {
	s.last = journal.Position{Index: s.last.Index + 1, Term: term}
	return &raftpb.Entry{Type: kind.Enum(), Index: new(s.last.Index), Term: new(term), Data: data}
}

// batch makes a batch larger than a segment.
func (s *script) batch(term uint64) *raftpb.Entry {
	f := journal.Frame{
		First: s.tip.Last + 1, Count: 1, Term: term, Time: 5, Previous: s.tip.Chain, Commands: make([]byte, 250<<10),
	}
	data, chain := f.Append(nil)
	s.tip = journal.Tip{Last: f.First, Chain: chain, Term: term, Time: 5}
	return s.entry(term, raftpb.EntryNormal, data)
}

func (s *script) change(t *testing.T, term uint64, c *raftpb.ConfChangeV2) *raftpb.Entry {
	t.Helper()
	data, err := proto.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return s.entry(term, raftpb.EntryConfChangeV2, data)
}

// hand hands entries of the second node to the first one, which steps once.
func (s *script) hand(g *trio, term, commit uint64, list []*raftpb.Entry) {
	g.t.Helper()
	g.receive(g.logs[0], &raftpb.Message{
		Type: raftpb.MsgApp.Enum(), From: new(uint64(2)), To: new(uint64(1)), Term: new(term),
		Index: new(s.sent.Index), LogTerm: new(s.sent.Term), Commit: new(commit), Entries: list,
	})
	if _, err := g.logs[0].Step(); err != nil {
		g.t.Fatal(err)
	}
	s.sent = s.last
}

// TestForeignMessages hands a node messages that no other node sends to it. None of them reaches
// raft, and neither does a good one beside them.
func TestForeignMessages(t *testing.T) {
	good := raftpb.Message{
		Type: raftpb.MsgHeartbeat.Enum(), From: new(uint64(2)), To: new(uint64(1)), Term: new(uint64(7)),
	}
	for name, spoil := range map[string]func(m *raftpb.Message){
		"to another":     func(m *raftpb.Message) { m.To = new(uint64(3)) },
		"of nobody":      func(m *raftpb.Message) { m.From = nil },
		"of itself":      func(m *raftpb.Message) { m.From = new(uint64(1)) },
		"of its storage": func(m *raftpb.Message) { m.From = new(raft.LocalApplyThread) },
		"without a term": func(m *raftpb.Message) { m.Term = nil },
		"a proposal":     func(m *raftpb.Message) { m.Type = raftpb.MsgProp.Enum() },
		"a snapshot":     func(m *raftpb.Message) { m.Type = raftpb.MsgSnap.Enum() },
		"a tick":         func(m *raftpb.Message) { m.Type = raftpb.MsgHup.Enum() },
	} {
		t.Run(name, func(t *testing.T) {
			g := newTrio(t)
			bad := proto.Clone(&good).(*raftpb.Message)
			spoil(bad)
			before := g.logs[0].Status()
			if err := g.logs[0].Receive(proto.Clone(&good).(*raftpb.Message), bad); err == nil {
				t.Error("the message is taken")
			}
			g.step(1)
			if after := g.logs[0].Status(); after.Term != before.Term || after.Last != before.Last {
				t.Errorf("the node went from %+v to %+v", before, after)
			}
		})
	}
}

// TestMalformedChange hands a follower a change of members that cannot be read. The node ends
// before it writes the change, which no node could apply at any start.
func TestMalformedChange(t *testing.T) {
	g := newTrio(t)
	s := newScript()
	bad := s.entry(2, raftpb.EntryConfChangeV2, []byte{0xff})
	before := g.logs[0].Status().Last
	g.receive(g.logs[0], &raftpb.Message{
		Type: raftpb.MsgApp.Enum(), From: new(uint64(2)), To: new(uint64(1)), Term: new(uint64(2)),
		Index: new(s.sent.Index), LogTerm: new(s.sent.Term), Commit: new(bad.GetIndex()), Entries: []*raftpb.Entry{bad},
	})
	if _, err := g.logs[0].Step(); err == nil {
		t.Error("the change is taken")
	}
	g.restart(0)
	if last := g.logs[0].Status().Last; last != before {
		t.Errorf("the last entry is %+v, and was %+v", last, before)
	}
}

// TestInitInUse makes a journal where another process has the directory.
func TestInitInUse(t *testing.T) {
	d := memdisk.New(1)
	if err := d.MkdirAll(journal.LiveDir); err != nil {
		t.Fatal(err)
	}
	lock, err := journal.Lock(d)
	if err != nil {
		t.Fatal(err)
	}
	c := raftlog.Cluster{Identity: identity, Nodes: []uint64{1}}
	if err := raftlog.Init(d, &c, 1); !errors.Is(err, journal.ErrInUse) {
		t.Errorf("beside another process: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if err := raftlog.Init(d, &c, 1); err != nil {
		t.Error(err)
	}
}
