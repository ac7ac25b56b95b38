package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

	var second nodeLine
	for n := 0; second.Node == 0; n++ {
		if other := g.nodes[n%3]; other.Node != first.Node && buyAt("http://"+other.Listen, clients[0].key, fmt.Sprint("second-", n)) {
			second = other
		}
	}
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

// TestDamagedNode flips a byte in the journal of a node that is down: its start asks the leader to make it
// anew, keeps what was damaged, and votes again under another id.
func TestDamagedNode(t *testing.T) {
	g := startTrio(t)
	first, hit := g.leader(), g.replica()
	before := g.id(hit.Node)
	g.kill(hit)
	segments, err := filepath.Glob(filepath.Join(nodeDir(g.data, hit.Node), "journal", "*.seg"))
	must(t, err)
	flip(t, segments[0])

	g.again(hit.Node, first.Node)
	g.voting(hit.Node, before, first.Node)
	kept := filepath.Join(nodeDir(g.data, hit.Node), "torn", "node-1", "journal", filepath.Base(segments[0]))
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("the damaged segment is not kept: %v", err)
	}
	g.end(first.Node)
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

// TestDamageUnderARunningNode flips a byte below each of two running nodes, a replica and then the leader. They
// find it, begin again in their processes, and vote under other ids; the exchange goes on. The aim is a minute.
func TestDamageUnderARunningNode(t *testing.T) {
	if testing.Short() {
		return // a node reads its journal again every 10 s
	}
	g := startTrio(t)
	first, other := g.leader(), g.replica()
	s := &server{t: t, data: nodeDir(g.data, first.Node)}
	_, key := s.customer("trader")
	for _, hit := range []nodeLine{other, first} {
		before, began := g.id(hit.Node), time.Now()
		segments, err := filepath.Glob(filepath.Join(nodeDir(g.data, hit.Node), "journal", "*.seg"))
		must(t, err)
		flipUnder(t, segments[0])

		for id := before; id == before; {
			if c, err := readConfig(nodeDir(g.data, hit.Node)); err == nil {
				id = c.Node
			}
		}
		leader := uint64(0)
		for n := 0; leader == 0; n++ {
			if at := g.nodes[n%3]; buyAt("http://"+at.Listen, key, fmt.Sprint(hit.Node, "-", n)) {
				leader = at.Node
			}
		}
		g.voting(hit.Node, before, leader)
		t.Logf("node %d votes again after %v", hit.Node, time.Since(began).Round(time.Millisecond))
		if err := syscall.Kill(hit.PID, 0); err != nil {
			t.Errorf("the process of node %d has ended: %v", hit.Node, err)
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
