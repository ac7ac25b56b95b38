package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse/client"
	"github.com/bourse-exchange/bourse/internal/outside"
)

// trio is a sandbox of three nodes.
type trio struct {
	t    *testing.T
	data string
	cmd  *exec.Cmd
	log  bytes.Buffer
	// nodes are the lines that the parent printed.
	nodes []nodeLine
}

var trioArgs = []string{"--no-bots", "--catalogue=demo", "--log-level=info"}

// startTrio starts three nodes, and reads their lines.
func startTrio(t *testing.T) *trio {
	t.Helper()
	return startTrioOf(t, trioArgs...)
}

// startTrioOf starts three nodes with flags.
func startTrioOf(t *testing.T, flags ...string) *trio {
	t.Helper()
	path, err := binary()
	must(t, err)
	g := &trio{t: t, data: t.TempDir()}
	g.cmd = exec.Command(path, append([]string{"dev", "--nodes", "3", "--data", g.data, "--listen", "127.0.0.1:0"}, flags...)...)
	g.cmd.Stderr = &g.log
	t.Cleanup(func() {
		if g.cmd.Process != nil && g.cmd.ProcessState == nil {
			_ = g.cmd.Process.Kill()
			_ = g.cmd.Wait()
		}
		if t.Failed() {
			t.Logf("log of the nodes:\n%s", g.log.String())
		}
	})

	nodes, err := outside.Nodes(g.cmd, 3)
	must(t, err)
	for _, n := range nodes {
		g.nodes = append(g.nodes, nodeLine(n))
	}
	return g
}

// leader returns the leader of the start.
func (g *trio) leader() (l nodeLine) {
	g.t.Helper()
	for i, n := range g.nodes {
		if n.Node != uint64(i+1) || n.PID == 0 || n.Listen == "" {
			g.t.Errorf("line %d is of %+v", i+1, n)
		}
		if n.Role == "leader" {
			l = n
		}
	}
	if l.Node == 0 {
		g.t.Fatalf("no leader: %+v", g.nodes)
	}
	return l
}

// status asks a node for the cluster's.
func (g *trio) status(node uint64) clusterView {
	g.t.Helper()
	return tool[clusterView](g.t, "cluster", "status", "--data", nodeDir(g.data, node))
}

// buyAt places an order at a node; false if the node did not take it.
func buyAt(url, key, id string) bool {
	api, err := client.New(url, client.Options{Key: key})
	if err != nil {
		return false
	}
	defer api.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, err = api.Place(ctx, &client.NewOrder{
		Pair: "BTC/USDT", Side: client.Buy, Type: client.LimitOrder, TimeInForce: client.IOC, ClientID: id, Price: "60000", Amount: "0.001",
	})
	return err == nil
}

// TestNodes kills the leader of three nodes under traders: what was acknowledged is there, another node
// takes orders, and the killed one comes back as a replica. The nodes end with their parent.
func TestNodes(t *testing.T) {
	g := startTrio(t)
	first := g.leader()
	for _, n := range g.nodes {
		if n.Role == "replica" {
			_, stderr, code := run(t, "admin", "--data", nodeDir(g.data, n.Node), "fees", "collect")
			if code != exitFailed || !strings.Contains(stderr, fmt.Sprintf("data directory of node %d", first.Node)) {
				t.Errorf("an operator's verb at a replica: exit %d: %s", code, stderr)
			}
		}
	}

	var clients []*teller
	s := &server{t: t, data: nodeDir(g.data, first.Node)}
	operate[any](s, "webhook", "add", "http://127.0.0.1:1/")
	for i := range 3 {
		_, key := s.customer(fmt.Sprintf("trader%d", i))
		clients = append(clients, &teller{key: key, life: fmt.Sprint("first-", i)})
	}
	var killed time.Time
	tradeUntil(t, "http://"+first.Listen, clients, nil, 100, func() {
		must(t, syscall.Kill(first.PID, syscall.SIGKILL))
		killed = time.Now()
	})

	second := g.next(first, clients[0].key)
	t.Logf("first new acknowledgement %v after the kill", time.Since(killed).Round(time.Millisecond))
	acked := 0
	for _, c := range clients {
		acked += len(c.acked)
		if lost := c.missing(t, "http://"+second.Listen); len(lost) > 0 {
			t.Errorf("%d of %d acknowledged orders are missing, the first %v", len(lost), len(c.acked), lost[0])
		}
	}
	t.Logf("%d orders were acknowledged before", acked)
	if view := g.status(second.Node); view.Leader != second.Node || view.Term < 2 || view.Nodes[first.Node-1].Role != "away" {
		t.Errorf("the status after the kill: %+v", view)
	}

	s.data = nodeDir(g.data, second.Node)
	if list, _, _ := run(t, "admin", "--data", s.data, "webhook", "list"); strings.Contains(list, "does not open") {
		t.Errorf("another leader opens no secret of a webhook: %s", list)
	}

	g.bringBack(first.Node, second.Node)
	g.end(second.Node)
}

// bringBack starts a node that was killed, and ends it once it has what the leader has.
func (g *trio) bringBack(node, leader uint64) {
	g.t.Helper()
	end := g.again(node, leader)
	end()
}

// again starts a node that was killed, and waits until it has what the leader has.
func (g *trio) again(node, leader uint64) (end func()) {
	g.t.Helper()
	end = g.back(node)
	least := g.status(leader).Nodes[leader-1].Applied
	for caught := false; !caught; {
		s := g.status(leader).Nodes[node-1]
		caught = s.Role == "replica" && s.Applied >= least && s.LagMS >= 0 && s.LagMS < 10_000
	}
	return end
}

// back starts a node again, by itself.
func (g *trio) back(node uint64) (end func()) {
	g.t.Helper()
	path, err := binary()
	must(g.t, err)
	listen := g.nodes[node%3].Listen // the parent's flag, which is the address of another node
	cmd := exec.Command(path, append([]string{"dev", "--node", fmt.Sprint(node), "--data", g.data, "--listen", listen}, trioArgs...)...)
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	must(g.t, err)
	must(g.t, cmd.Start())
	g.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if g.t.Failed() {
			g.t.Logf("log of the node that came back:\n%s", log.String())
		}
	})
	var l nodeLine
	must(g.t, json.NewDecoder(out).Decode(&l))
	if l.Node != node || l.Role != "replica" || l.Listen != g.nodes[node-1].Listen {
		g.t.Errorf("the node comes back as %+v", l)
	}

	return func() {
		must(g.t, cmd.Process.Signal(syscall.SIGTERM))
		must(g.t, cmd.Wait())
	}
}

// end ends the parent, and wants its nodes to end.
func (g *trio) end(leader uint64) {
	g.t.Helper()
	must(g.t, g.cmd.Process.Signal(syscall.SIGTERM))
	if err := g.cmd.Wait(); err != nil {
		g.t.Errorf("the parent: %v", err)
	}
	for _, n := range g.nodes {
		if err := syscall.Kill(n.PID, 0); err == nil {
			g.t.Errorf("node %d is still there", n.Node)
		}
	}
	if view := g.status(leader); view.Leader != 0 {
		g.t.Errorf("there is still a leader: %+v", view)
	}
}

// TestDeposedLeader stops the leader's process until another one leads, and lets it go on: what it acknowledges then, the other one
// has, and it starts anew as a replica in its process.
func TestDeposedLeader(t *testing.T) {
	g := startTrio(t)
	first := g.leader()
	s := &server{t: t, data: nodeDir(g.data, first.Node)}
	_, key := s.customer("trader")
	g.freeze(first)
	second := g.next(first, key)
	zombie := &teller{key: key}
	buy := func() {
		if id := fmt.Sprint("zombie-", len(zombie.acked)); buyAt("http://"+first.Listen, key, id) {
			zombie.acked = append(zombie.acked, told{id, time.Now()})
		}
	}
	must(t, syscall.Kill(first.PID, syscall.SIGCONT))
	view := g.status(first.Node)
	for view.Nodes[first.Node-1].Role != "replica" || view.Leader == 0 || len(zombie.acked) == 0 {
		buy()
		view = g.status(first.Node)
	}
	if lost := zombie.missing(t, "http://"+second.Listen); len(lost) > 0 {
		t.Errorf("a deposed leader acknowledged %d orders that the next one does not know, of %d", len(lost), len(zombie.acked))
	}
	if err := syscall.Kill(first.PID, 0); err != nil {
		t.Errorf("the process has ended: %v", err)
	}
	g.end(view.Leader)
}

// TestNodesMakeThePast has the leader make the past of a sandbox's traders together with the other nodes:
// it ends now, and no time passes in it while a frame waits for its commit, which a tick would show.
func TestNodesMakeThePast(t *testing.T) {
	if testing.Short() {
		return // it commits 2,400 frames one after the other
	}
	g := startTrioOf(t, "--catalogue=demo")
	first := g.leader()
	stdout, stderr, code := run(t, "journal", "dump", nodeDir(g.data, first.Node))
	if code != 0 {
		t.Fatalf("the journal: exit %d: %s", code, stderr)
	}
	now := time.Now()
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	var last struct{ Time time.Time }
	must(t, json.Unmarshal([]byte(lines[len(lines)-1]), &last))
	if last.Time.After(now) || now.Sub(last.Time) > time.Hour {
		t.Errorf("the last of %d commands is of %v, and it is %v", len(lines), last.Time, now)
	}
	if ticks := strings.Count(stdout, `"command":"tick`); ticks > 100 {
		t.Errorf("%d ticks in the past", ticks)
	}
	g.end(first.Node)
}
