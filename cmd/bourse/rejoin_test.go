package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// replica returns a node of the start that does not lead.
func (g *trio) replica() nodeLine {
	g.t.Helper()
	for _, n := range g.nodes {
		if n.Role == "replica" {
			return n
		}
	}
	g.t.Fatalf("no replica: %+v", g.nodes)
	return nodeLine{}
}

// kill kills a node, and waits until it is away.
func (g *trio) kill(n nodeLine) {
	g.t.Helper()
	must(g.t, syscall.Kill(n.PID, syscall.SIGKILL))
	for g.status(g.leader().Node).Nodes[n.Node-1].Role != "away" {
		continue // the parent reaps it
	}
}

// id returns the id under which a node of the sandbox votes.
func (g *trio) id(node uint64) uint64 {
	g.t.Helper()
	c, err := readConfig(nodeDir(g.data, node))
	must(g.t, err)
	return c.Node
}

// voting waits until a node votes under another id than before, as the leader has it.
func (g *trio) voting(node, before, leader uint64) {
	g.t.Helper()
	for {
		c, err := readConfig(nodeDir(g.data, leader))
		must(g.t, err)
		if c.Member(before) == nil && c.Newest(node).Node != before {
			return
		}
	}
}

// TestEmptyDisk empties the directory of a node and starts it again while traders trade. It comes back under
// another id, because it has forgotten its votes, and catches up. It has a vote in the place of its former life:
// with it the cluster survives the loss of the leader, and has all that was acknowledged.
func TestEmptyDisk(t *testing.T) {
	g := startTrio(t)
	first, lost := g.leader(), g.replica()
	s := &server{t: t, data: nodeDir(g.data, first.Node)}
	var clients []*teller
	for i := range 3 {
		_, key := s.customer(fmt.Sprintf("trader%d", i))
		clients = append(clients, &teller{key: key, life: fmt.Sprint("first-", i)})
	}

	before := g.id(lost.Node)
	g.kill(lost)
	must(t, os.RemoveAll(nodeDir(g.data, lost.Node)))
	tradeUntil(t, "http://"+first.Listen, clients, nil, 100, func() {
		g.again(lost.Node, first.Node)
		if id := g.id(lost.Node); id == before || cluster.Number(id) != lost.Node {
			t.Errorf("node %d comes back under id %d", before, id)
		}
		g.voting(lost.Node, before, first.Node)
		must(t, syscall.Kill(first.PID, syscall.SIGKILL))
	})

	second := g.next(first, clients[0].key)
	acked := 0
	for _, c := range clients {
		acked += len(c.acked)
		if missing := c.missing(t, "http://"+second.Listen); len(missing) > 0 {
			t.Errorf("%d of %d acknowledged orders are missing, the first %v", len(missing), len(c.acked), missing[0])
		}
	}
	t.Logf("%d orders were acknowledged before the leader died", acked)

	// Its bytes are those of the other nodes.
	stdout, stderr, code := run(t, "journal", "verify", nodeDir(g.data, lost.Node))
	if code != 0 {
		t.Errorf("the journal of the node that came back: exit %d: %s%s", code, stdout, stderr)
	}
}

// TestDamagedNode flips a byte in the journal of a node that is down: its start fetches the damaged entries from the
// others, keeps what was damaged, and the node votes under its id. Then its vote is lost: it comes back under another id.
func TestDamagedNode(t *testing.T) {
	g := startTrio(t)
	first, hit := g.leader(), g.replica()
	before := g.id(hit.Node)
	g.kill(hit)
	segment := g.segment(hit.Node)
	flipUnder(t, segment)
	end := g.again(hit.Node, first.Node)
	g.mended(hit.Node, before)
	end()

	dir := nodeDir(g.data, hit.Node)
	must(t, os.Remove(filepath.Join(dir, "journal", "voter")))
	g.again(hit.Node, first.Node)
	g.voting(hit.Node, before, first.Node)
	if _, err := os.Stat(filepath.Join(dir, "torn", "node-1", "journal", filepath.Base(segment))); err != nil {
		t.Errorf("the data of the node without a vote are not kept: %v", err)
	}
	g.end(first.Node)
}

// segment returns the file of the oldest live segment of a node.
func (g *trio) segment(node uint64) string {
	g.t.Helper()
	segments, err := filepath.Glob(filepath.Join(nodeDir(g.data, node), "journal", "*.seg"))
	must(g.t, err)
	return segments[0]
}

// mended wants a node to have its id still, and a copy of its damaged segment.
func (g *trio) mended(node, id uint64) {
	g.t.Helper()
	if now := g.id(node); now != id {
		g.t.Errorf("node %d has come back under id %d", id, now)
	}
	if _, err := os.Stat(filepath.Join(nodeDir(g.data, node), "torn", "damaged-"+filepath.Base(g.segment(node)))); err != nil {
		g.t.Errorf("the damaged segment of node %d is not kept: %v", node, err)
	}
}

// TestTwoDamagedNodes kills the leader and another node of three under traders, and flips a byte in both journals. They
// come back by themselves under their ids, and have all that was acknowledged: no majority was there to admit them anew.
func TestTwoDamagedNodes(t *testing.T) {
	g := startTrio(t)
	first, other := g.leader(), g.replica()
	third := g.nodes[6-first.Node-other.Node-1]
	s := &server{t: t, data: nodeDir(g.data, first.Node)}
	_, key := s.customer("trader")
	c := &teller{key: key, life: "first-"}
	tradeUntil(t, "http://"+first.Listen, []*teller{c}, nil, 50, func() {
		g.kill(first)
		g.kill(other)
	})
	hit := []nodeLine{first, other}
	var ids []uint64
	for _, n := range hit {
		ids = append(ids, g.id(n.Node))
		flipUnder(t, g.segment(n.Node))
	}

	for i, n := range hit {
		g.back(n.Node)
		g.mended(n.Node, ids[i])
	}
	must(t, syscall.Kill(third.PID, syscall.SIGKILL))
	leader, n := nodeLine{}, 0
	within(t, patience, "led by one of the two", func() bool {
		at := hit[n%2]
		if n++; buyAt("http://"+at.Listen, key, fmt.Sprint("second-", n)) {
			leader = g.nodes[g.status(at.Node).Leader-1]
		}
		return leader.Node != 0
	})
	if missing := c.missing(t, "http://"+leader.Listen); len(missing) > 0 || len(c.acked) < 50 {
		t.Errorf("%d of %d acknowledged orders are missing: %v", len(missing), len(c.acked), missing)
	}
}

// TestKeepIn moves a node's data aside three times; a fourth time it refuses, and touches nothing.
func TestKeepIn(t *testing.T) {
	data := t.TempDir()
	d, err := disk.Open(data)
	must(t, err)
	defer func() { _ = d.Close() }()
	for n := range mostKept {
		must(t, os.MkdirAll(filepath.Join(data, "journal"), 0o700))
		must(t, os.WriteFile(filepath.Join(data, "journal", "x"), nil, 0o600))
		must(t, os.WriteFile(filepath.Join(data, cluster.ConfigFile), nil, 0o600))
		keep, err := keepIn(d)
		must(t, err)
		must(t, setAside(d, keep))
		for _, name := range []string{"journal/x", cluster.ConfigFile} {
			if _, err := os.Stat(filepath.Join(data, "torn", fmt.Sprint("node-", n+1), name)); err != nil {
				t.Errorf("%s is not kept: %v", name, err)
			}
		}
	}
	if left, err := d.List("."); err != nil || len(left) != 1 {
		t.Errorf("left are %v, %v", left, err)
	}
	if _, err := keepIn(d); err == nil || !strings.Contains(err.Error(), "replace the disk") {
		t.Errorf("a fourth copy: %v", err)
	}

	must(t, os.RemoveAll(filepath.Join(data, "torn", "node-1")))
	if keep, err := keepIn(d); err != nil || keep != "torn/node-1" {
		t.Errorf("after a copy was removed the data go to %q, %v", keep, err)
	}

	must(t, os.MkdirAll(filepath.Join(data, "journal"), 0o700))
	lock, err := journal.Lock(d)
	must(t, err)
	if err := setAside(d, "torn/other"); !errors.Is(err, journal.ErrInUse) {
		t.Errorf("data in use are moved: %v", err)
	}
	must(t, lock.Close())
}

// TestNodeThatCannotBeMadeLeavesNothing makes a node whose leader's archive lacks what it begins behind, more often than
// data are kept: the data of its former life stay, and nothing else does.
func TestNodeThatCannotBeMadeLeavesNothing(t *testing.T) {
	r := &returning{program: &program{ctx: t.Context()}, data: t.TempDir(), number: 2}
	d, err := disk.Open(r.dir())
	must(t, err)
	defer func() { _ = d.Close() }()
	empty, err := disk.Open(t.TempDir())
	must(t, err)
	defer func() { _ = empty.Close() }()
	config := cluster.Config{Exchange: "04020000000000000000000000000000", Sandbox: true, Node: 2 + 1<<32}
	id, err := config.Identity()
	must(t, err)
	voter := make([]byte, 13) // node 1 of one voter, and three empty lists
	voter[0], voter[1] = 1, 1
	base := journal.Header{
		Identity: id, Tip: journal.Tip{Last: 9},
		Replica: &journal.Replica{At: journal.Position{Index: 9, Term: 1}, Members: voter},
	}
	a := &cluster.Admission{Config: config, Base: base.Bytes(), From: struct{ disk.Disk }{empty}}

	must(t, os.WriteFile(filepath.Join(r.dir(), cluster.ConfigFile), []byte("former"), 0o600))
	for range mostKept + 1 {
		keep, err := keepIn(d)
		must(t, err)
		must(t, setAside(d, keep))
		if err := r.settle(d, a, []byte("cert"), []byte("key")); !errors.Is(err, journal.ErrCompacted) {
			t.Fatalf("the node is made: %v", err)
		}
		if left, err := d.List("."); err != nil || !slices.Equal(left, []string{journal.TornDir}) {
			t.Fatalf("left are %v, %v", left, err)
		}
	}
	kept, err := d.List(journal.TornDir)
	must(t, err)
	if text, err := os.ReadFile(filepath.Join(r.dir(), journal.TornDir, "node-1", cluster.ConfigFile)); len(kept) != 1 || string(text) != "former" {
		t.Errorf("kept are %v, and %q, %v", kept, text, err)
	}
}

// TestDamageUnderRunningNodes flips a byte below the leader and below a replica at once. They find it, begin again
// in their processes, and vote under their ids: without the third node the exchange goes on. The aim is a minute.
func TestDamageUnderRunningNodes(t *testing.T) {
	if testing.Short() {
		return // a node reads its journal again every 10 s
	}
	g := startTrio(t)
	first, other := g.leader(), g.replica()
	third := g.nodes[6-first.Node-other.Node-1]
	s := &server{t: t, data: nodeDir(g.data, first.Node)}
	_, key := s.customer("trader")
	hit := []nodeLine{first, other}
	began := time.Now()
	ids := []uint64{g.id(first.Node), g.id(other.Node)}
	for _, n := range hit {
		flipUnder(t, g.segment(n.Node))
	}

	orders := 0
	buy := func(nodes []nodeLine) {
		for taken := false; !taken; orders++ {
			taken = buyAt("http://"+nodes[orders%len(nodes)].Listen, key, fmt.Sprint("order-", orders))
		}
	}
	for _, n := range hit {
		name := filepath.Join(nodeDir(g.data, n.Node), "torn", "damaged-"+filepath.Base(g.segment(n.Node)))
		for kept := false; !kept; {
			buy(g.nodes)
			_, err := os.Stat(name)
			kept = err == nil
		}
	}
	must(t, syscall.Kill(third.PID, syscall.SIGKILL))
	buy(hit)
	t.Logf("both nodes vote again after %v", time.Since(began).Round(time.Millisecond))
	for i, n := range hit {
		g.mended(n.Node, ids[i])
		if err := syscall.Kill(n.PID, 0); err != nil {
			t.Errorf("the process of node %d has ended: %v", n.Node, err)
		}
	}
}

// flipUnder flips a bit in the middle of what a segment holds that a process has open: in the checksum of an
// entry.
func flipUnder(t *testing.T, name string) {
	t.Helper()
	b, err := os.ReadFile(name)
	must(t, err)
	half := len(bytes.TrimRight(b, "\x00")) / 2
	at := len(bytes.TrimRight(b[:half], "\x00")) - 1
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	must(t, err)
	_, err = file.WriteAt([]byte{b[at] ^ 4}, int64(at))
	must(t, errors.Join(err, file.Close()))
}

// TestMembersOfANodeThatWasAway starts a node that was away while another one came back under another id, and was
// told of it by nobody. It knows the member by the configuration of a node that is not away, and keeps that.
func TestMembersOfANodeThatWasAway(t *testing.T) {
	data := t.TempDir()
	c := cluster.Config{Exchange: "04020000000000000000000000000000", Sandbox: true, Epoch: 1}
	var dirs []disk.Disk
	for n := range uint64(3) {
		d, err := disk.Open(nodeDir(data, n+1))
		must(t, err)
		defer func() { _ = d.Close() }()
		dirs, c.Nodes = append(dirs, d), append(c.Nodes, cluster.Member{Node: n + 1})
	}
	must(t, cluster.Found(c, dirs, time.Now(), 1<<20))
	const life = 1 << 32
	later, err := readConfig(nodeDir(data, 3))
	must(t, err)
	later.Nodes[1], later.Changed = cluster.Member{Node: 2 + life, Pin: "new", Since: 70}, 70
	text, err := json.Marshal(later)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(nodeDir(data, 3), cluster.ConfigFile), text, 0o600))

	for _, start := range []string{"the first", "the next"} {
		own, err := (&returning{data: data, number: 1}).config()
		must(t, err)
		if m := own.Member(2 + life); own.Node != 1 || len(own.Nodes) != 3 || own.Changed != 70 || m == nil || m.Pin != "new" {
			t.Errorf("%s start has node %d of %+v", start, own.Node, own.Nodes)
		}
		must(t, os.WriteFile(filepath.Join(nodeDir(data, 3), cluster.ConfigFile), []byte("{"), 0o600))
	}
}

// TestNodeThatIsGoneBesideAnother starts a node that was replaced, beside the directory of another one that is gone and
// was not told of it. What counts is the configuration that knows the newest change.
func TestNodeThatIsGoneBesideAnother(t *testing.T) {
	data := t.TempDir()
	write := func(c *cluster.Config) {
		t.Helper()
		d, err := disk.Open(nodeDir(data, cluster.Number(c.Node)))
		must(t, err)
		must(t, errors.Join(c.Save(d), d.Close()))
	}
	before := []cluster.Member{{Node: 1}, {Node: 2}, {Node: 3}}
	write(&cluster.Config{Epoch: 1, Node: 1, Nodes: []cluster.Member{{Node: 1}, {Node: 4}, {Node: 5}}, Changed: 90})
	for _, gone := range []uint64{2, 3} {
		write(&cluster.Config{Epoch: 1, Node: gone, Nodes: before})
	}
	for _, gone := range []uint64{2, 3} {
		if own, err := (&returning{data: data, number: gone}).config(); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("and no node %d", gone)) {
			t.Errorf("node %d begins with %+v, %v", gone, own, err)
		}
	}
}
