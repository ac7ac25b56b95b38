package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/journaltest"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

// TestJoinByANewNumber lets a node of a new machine in, twice: when it has left, it comes back with a life that no
// node had. Numbers and addresses that the cluster has are refused.
func TestJoinByANewNumber(t *testing.T) {
	n := newLone(t)
	join := func(number uint64, address, listen string) (*cluster.Admission, error) {
		t.Helper()
		c, _, _, err := cluster.Prepare(number, time.Now())
		want(t, err)
		c.Address, c.Listen = address, listen
		return n.Admit(t.Context(), c)
	}
	refused := func(number uint64, address, listen, says string) {
		t.Helper()
		if _, err := join(number, address, listen); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("node %d joins at %s and %s: %v", number, address, listen, err)
		}
	}
	refused(1, "127.0.0.1:2", "127.0.0.1:3", "has a node 1 already")
	refused(2, "127.0.0.1:0", "127.0.0.1:3", "has the address")
	refused(2, "127.0.0.1:2", "127.0.0.1:1", "has the address")
	refused(0, "127.0.0.1:2", "127.0.0.1:3", "is no number")
	refused(1<<32+2, "127.0.0.1:2", "127.0.0.1:3", "is no number")

	before := uint64(0)
	for range 2 {
		a, err := join(2, "127.0.0.1:2", "127.0.0.1:3")
		want(t, err)
		if m := a.Config.Newest(2); m.Node <= before || m.Listen != "127.0.0.1:3" || a.Config.Node != m.Node {
			t.Errorf("node 2 joins as %+v, after %d", m, before)
		}
		before = a.Config.Node
		if _, err := n.Leave(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
	}
}

// life is the distance between two lives of a number.
const life = 1 << 32

// TestReplace lets a node of a new machine replace another one: who it replaces is one node, once, and stays so when the
// new machine loses its disk. A node that joins later under the number of the old one is not removed.
func TestReplace(t *testing.T) {
	c := &cluster.Config{Nodes: []cluster.Member{
		{Node: 1, Address: "a1", Listen: "l1"}, {Node: 2, Address: "a2", Listen: "l2"}, {Node: 3, Address: "a3", Listen: "l3"},
	}}
	refused := func(says string, n cluster.Newcomer) {
		t.Helper()
		if m, err := c.Next(&n); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v becomes %+v, %v", n, m, err)
		}
	}
	dead := cluster.Newcomer{Number: 4, Address: "a3", Listen: "l3", Replaces: 3}
	refused("has no node 7", cluster.Newcomer{Number: 4, Address: "a4", Listen: "l4", Replaces: 7})
	refused("node 3 has the address", cluster.Newcomer{Number: 4, Address: "a3", Listen: "l3", Replaces: 3, Running: true})
	m, err := c.Next(&dead)
	want(t, err)
	if m.Node != 4+life || m.Replaces != 3 {
		t.Fatalf("the newcomer becomes %+v", m)
	}

	c.Nodes = append(c.Nodes, *m)
	refused("node 3 is being replaced by node 4", cluster.Newcomer{Number: 3})
	refused("node 3 is being replaced by node 4", cluster.Newcomer{Number: 5, Address: "a5", Listen: "l5", Replaces: 3})
	replacement := cluster.Newcomer{Number: 5, Address: "a5", Listen: "l5", Replaces: 4}
	refused("node 4 has not replaced node 3 yet", replacement)
	refused("node 2 comes back, and replaces no node 1", cluster.Newcomer{Number: 2, Replaces: 1})
	refused("node 4 comes back, and replaces no node 2", cluster.Newcomer{Number: 4, Replaces: 2})
	_, err = c.Next(&cluster.Newcomer{Number: 4, Replaces: 3})
	want(t, err)
	again, err := c.Next(&cluster.Newcomer{Number: 4})
	want(t, err)
	if again.Node != 4+2*life || again.Replaces != 3 || again.Address != "a3" {
		t.Errorf("it comes back as %+v", again)
	}

	done := *c
	done.Nodes = slices.DeleteFunc(slices.Clone(c.Nodes), func(other cluster.Member) bool { return other.Node == 3 })
	if second, err := done.Next(&replacement); err != nil || second.Replaces != m.Node {
		t.Errorf("node 4 votes, and is replaced by %+v, %v", second, err)
	}

	c.Nodes = append(c.Nodes, cluster.Member{Node: 3 + 2*life})
	var removed []uint64
	for _, change := range c.Seating(m).GetChanges() {
		if change.GetType() == raftpb.ConfChangeRemoveNode {
			removed = append(removed, change.GetNodeId())
		} else if change.GetType() != raftpb.ConfChangeAddNode || change.GetNodeId() != m.Node {
			t.Errorf("the change has %v", change)
		}
	}
	if !slices.Equal(removed, []uint64{3}) {
		t.Errorf("for node 4 the nodes %d are removed", removed)
	}

	for _, step := range []struct {
		voters []uint64
		says   string
	}{
		{[]uint64{1, 2, 3}, ""}, {[]uint64{2, 3}, "of 2 nodes that vote none can be replaced"}, {[]uint64{1, 2}, ""},
	} {
		err := m.MayJoin(raftlog.Status{Node: 2, Voters: step.voters})
		if (err == nil) != (step.says == "") || err != nil && !strings.Contains(err.Error(), step.says) {
			t.Errorf("beside the voters %d: %v", step.voters, err)
		}
	}
	if err := m.MayJoin(raftlog.Status{Node: 3, Voters: []uint64{1, 2, 3}}); err == nil || !strings.Contains(err.Error(), "leads the cluster") {
		t.Errorf("the leader is to be replaced: %v", err)
	}
}

// TestNoVoterLeavesInAReplacement lets nodes leave while one is being replaced: of two voters that stayed none could be
// replaced any more. The newcomer may leave, and everybody once it votes.
func TestNoVoterLeavesInAReplacement(t *testing.T) {
	by := uint64(4 + life)
	c := &cluster.Config{Nodes: []cluster.Member{{Node: 1}, {Node: 2}, {Node: 3}, {Node: by, Replaces: 3}}}
	for number, says := range map[uint64]string{2: "node 3 is being replaced by node 4", 3: "node 3 is being replaced by node 4", 4: ""} {
		err := c.MayLeave(number, []uint64{1, 2, 3})
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("node %d leaves: %v", number, err)
		}
	}
	c.Nodes = slices.Delete(c.Nodes, 2, 3)
	for _, number := range []uint64{1, 2, 4} {
		if err := c.MayLeave(number, []uint64{1, 2, by}); err != nil {
			t.Errorf("node %d leaves: %v", number, err)
		}
	}
}

// TestReplaceOneThatAnswers replaces a node whose port takes connections, by a new life of its own or by another one, only if
// that is asked for.
func TestReplaceOneThatAnswers(t *testing.T) {
	n := newLone(t)
	port, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	want(t, err)
	defer func() { _ = port.Close() }()
	admit := func(c cluster.Newcomer) (*cluster.Admission, error) {
		t.Helper()
		made, _, _, err := cluster.Prepare(c.Number, time.Now())
		want(t, err)
		c.Pin, c.Records, c.Rules = made.Pin, made.Records, made.Rules
		return n.Admit(t.Context(), c)
	}
	_, err = admit(cluster.Newcomer{Number: 2, Address: port.Addr().String(), Listen: "127.0.0.1:2"})
	want(t, err)
	if _, err := admit(cluster.Newcomer{Number: 2}); err == nil || !strings.Contains(err.Error(), "node 2 still answers") {
		t.Errorf("a node that answers comes back: %v", err)
	}
	_, err = admit(cluster.Newcomer{Number: 2, Running: true})
	want(t, err)
	by := cluster.Newcomer{Number: 3, Address: "127.0.0.1:4", Listen: "127.0.0.1:3", Replaces: 2}
	if _, err := admit(by); err == nil || !strings.Contains(err.Error(), "node 2 still answers") {
		t.Errorf("a node that answers is replaced: %v", err)
	}
	by.Running = true
	a, err := admit(by)
	want(t, err)
	if m := a.Config.Newest(3); m.Replaces != a.Config.Newest(2).Node {
		t.Errorf("the node that was to replace node 2 is %+v", m)
	}
}

// TestLeaderHandsOverBeforeItIsReplaced has a learner that is to replace the leader: it gets no vote from that one,
// which looks for another leader and finds none.
func TestLeaderHandsOverBeforeItIsReplaced(t *testing.T) {
	n := newLone(t)
	if err := n.Seat(cluster.Member{Node: 2 + life, Replaces: 1}); !errors.Is(err, raftlog.ErrNoHeir) {
		t.Errorf("the leader is replaced: %v", err)
	}
}

// TestLearnerWithoutAVoteHoldsUpNoOther has two learners that have caught up, of which the first can get no vote now: the
// second gets its own.
func TestLearnerWithoutAVoteHoldsUpNoOther(t *testing.T) {
	n := newLone(t)
	c, _, _, err := cluster.Prepare(3, time.Now())
	want(t, err)
	second := uint64(3 + life)
	want(t, n.Seat(
		cluster.Member{Node: 2 + life, Replaces: 1, Pin: c.Pin, Address: "127.0.0.1:2"},
		cluster.Member{Node: second, Pin: c.Pin, Address: "127.0.0.1:3"},
	))
	for !slices.Contains(n.Log.Status().Voters, second) {
		runtime.Gosched()
	}
}

// TestAdoptKnowsLives adopts the members of a node that knows lives of nodes that have left: a number gets none of them.
func TestAdoptKnowsLives(t *testing.T) {
	d, c := founded(t)
	later := *c
	later.Changed, later.Lives = 5, 7
	want(t, c.Adopt(d, &later))
	m, err := c.Next(&cluster.Newcomer{Number: 4, Address: "127.0.0.1:4", Listen: "127.0.0.1:5"})
	want(t, err)
	if m.Node != 4+8*life {
		t.Errorf("a node joins as %d", m.Node)
	}
}

// TestJoinBehindTheArchive lets a node join whose leader has archived: it gets the archive, and has every command. One
// that is damaged, or lacks the first commands, makes no node, and a leader that has pruned admits none.
func TestJoinBehindTheArchive(t *testing.T) {
	n := newLone(t)
	for range 50 {
		n.commit(t, strings.Repeat("bourse", 2000))
	}
	id, err := n.Config().Identity()
	want(t, err)
	files := journal.NewFiles(n.disk, id)
	journaltest.Archive(t, files, n.Log.Durable())
	c, cert, key, err := cluster.Prepare(2, time.Now())
	want(t, err)
	c.Address, c.Listen = "127.0.0.1:2", "127.0.0.1:3"
	a, err := n.Admit(t.Context(), c)
	want(t, err)
	base, err := journal.ParseHeader(a.Base)
	want(t, err)
	settle := func(ctx context.Context, from string) (*journal.Files, error) {
		d, err := disk.Open(t.TempDir())
		want(t, err)
		t.Cleanup(func() { _ = d.Close() })
		source, err := disk.OpenExisting(from)
		want(t, err)
		defer func() { _ = source.Close() }()
		a.From, a.Segment = source, 256<<10
		err = cluster.Settle(ctx, d, a, cert, key)
		if _, none := cluster.LoadConfig(d); (none == nil) != (err == nil) {
			t.Errorf("after %v the configuration is %v", err, none)
		}
		return journal.NewFiles(d, id), err
	}

	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := settle(ended, n.data); !errors.Is(err, context.Canceled) {
		t.Errorf("the copy goes on behind its end: %v", err)
	}
	copied, err := settle(t.Context(), n.data)
	want(t, err)
	ours, err := files.Read(1)
	want(t, err)
	theirs, err := copied.Read(1)
	want(t, err)
	for tip := (journal.Tip{}); tip != base.Tip; {
		one, err := ours.Next()
		want(t, err)
		other, err := theirs.Next()
		want(t, err)
		if one.Tip() != other.Tip() || !bytes.Equal(one.Commands, other.Commands) {
			t.Fatalf("the newcomer has %+v, the leader %+v", other.Tip(), one.Tip())
		}
		tip = other.Tip()
	}
	if base.Tip.Last < 30 {
		t.Errorf("the leader has archived %d commands", base.Tip.Last)
	}
	want(t, errors.Join(ours.Close(), theirs.Close()))

	archived, err := filepath.Glob(filepath.Join(n.data, journal.ArchiveDir, "*"))
	want(t, err)
	lacking := t.TempDir()
	want(t, os.CopyFS(lacking, os.DirFS(n.data)))
	want(t, os.Remove(filepath.Join(lacking, journal.ArchiveDir, filepath.Base(archived[0]))))
	if _, err := settle(t.Context(), lacking); !errors.Is(err, journal.ErrCompacted) {
		t.Errorf("it begins without the first commands: %v", err)
	}
	last := archived[len(archived)-1]
	b, err := os.ReadFile(last)
	want(t, err)
	b[len(b)-2] ^= 8
	want(t, os.WriteFile(last, b, 0o600))
	damage := (*journal.DamageError)(nil)
	if _, err := settle(t.Context(), n.data); !errors.As(err, &damage) {
		t.Errorf("it begins with a damaged archive: %v", err)
	}
	boundary, err := files.Boundary(n.Log.Durable())
	want(t, err)
	if boundary != base.Tip.Last {
		t.Fatalf("the archive ends with command %d, the base begins behind %d", boundary, base.Tip.Last)
	}
	want(t, files.Prune(n.Log.Durable(), journal.Stub{Seq: boundary, Chain: base.Tip.Chain}))
	c.Number, c.Pin, c.Address, c.Listen = 3, "another", "127.0.0.1:4", "127.0.0.1:5"
	if _, err := n.Admit(t.Context(), c); !errors.Is(err, cluster.ErrPruned) {
		t.Errorf("a node joins whose leader has pruned: %v", err)
	}
}
