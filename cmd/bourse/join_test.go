package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/cluster"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// newcomer returns a node of a new machine, which is not a member yet.
func (r *ring) newcomer(number uint64) *ringNode {
	r.t.Helper()
	listen := freeAddress(r.t)
	return &ringNode{
		Member: cluster.Member{Node: number, Listen: listen}, dir: nodeDir(r.data, number), url: "http://" + listen,
		log: filepath.Join(r.data, fmt.Sprintf("new-%d.log", number)),
	}
}

// without returns the nodes but one.
func (r *ring) without(gone *ringNode) []*ringNode {
	return slices.DeleteFunc(slices.Clone(r.nodes), func(n *ringNode) bool { return n == gone })
}

// replace puts a new node in the place of an old one, with flags, and starts it as the command says, after meanwhile.
func (r *ring) replace(stays, old, by *ringNode, meanwhile func(), flags ...string) {
	r.t.Helper()
	words := append([]string{
		"cluster", "replace", "--data", stays.dir, "--node", fmt.Sprint(old.Node), "--with", fmt.Sprint(by.Node), "--listen", by.Listen,
	}, flags...)
	answered := make(chan error, 1)
	var stdout string
	go func() {
		var stderr string
		var code int
		if stdout, stderr, code = run(r.t, words...); code != 0 {
			answered <- fmt.Errorf("exit %d, %s", code, stderr)
		}
		close(answered)
	}()

	within(r.t, patience, "a directory of the new node", func() bool {
		_, err := readConfig(by.dir)
		return err == nil
	})
	meanwhile()
	r.start(by)
	if err := <-answered; err != nil {
		r.t.Fatalf("node %d is replaced: %v", old.Node, err)
	}
	want := []uint64{by.Node}
	for _, n := range r.nodes {
		if n != old && n != by {
			want = append(want, n.Node)
		}
	}
	slices.Sort(want)
	if says := fmt.Sprintf(`{"replaced":%d,"by":%d,"nodes":%s}`, old.Node, by.Node, strings.ReplaceAll(fmt.Sprint(want), " ", ",")); strings.TrimSpace(stdout) != says {
		r.t.Errorf("node %d is replaced: %s, not %s", old.Node, stdout, says)
	}
}

// TestClusterReplace puts a new node in the place of a dead one while a trader trades: it catches up, and the exchange
// needs it from then on. The old one comes back, and takes part in nothing. Before that, what cannot be is refused and
// changes nothing.
func TestClusterReplace(t *testing.T) {
	r := newRing(t, nil, nil)
	leader := r.leader()
	_, key := r.operator().member("trader", "USDT", takerHas)
	r.level()
	old, stays, by := r.nodes[leader.Node%ringNodes], r.nodes[(leader.Node+1)%ringNodes], r.newcomer(4)
	refused := func(says string, words ...string) {
		t.Helper()
		if _, stderr, code := run(t, append([]string{"cluster"}, words...)...); code == 0 || !strings.Contains(stderr, says) {
			t.Errorf("%q: exit %d, %s", words, code, stderr)
		}
	}
	join := func(says string, number uint64, listen string) {
		t.Helper()
		refused(says, "join", "--data", stays.dir, "--node", fmt.Sprint(number), "--listen", listen)
	}
	join("is not empty", old.Node, by.Listen)
	join("has the address", 4, old.Listen)
	join("have the numbers 1 to 7", 8, by.Listen)
	replace := func(says string, node, with uint64) {
		t.Helper()
		refused(says, "replace", "--data", stays.dir, "--node", fmt.Sprint(node), "--with", fmt.Sprint(with), "--listen", by.Listen)
	}
	replace("still answers", old.Node, 4)
	replace("leads the cluster", leader.Node, 4)
	replace("has no node 6", 6, 4)
	replace("does not replace node", old.Node, leader.Node)
	replace("of a node that stays", stays.Node, 4)

	old.kill()
	r.nodes = append(r.without(old), by)
	r.handover(key, "replaced", func() { r.replace(stays, old, by, func() {}) })
	r.level()
	stays.kill()
	r.handover(key, "needed", func() {})
	r.start(stays)
	r.comesBackFenced(old, key)
}

// TestReplaceSaysWhatItWaitsFor asks what keeps a node that has joined from its vote.
func TestReplaceSaysWhatItWaitsFor(t *testing.T) {
	r := &returning{program: &program{}, data: "/srv", number: 4}
	at := func(applied, commit uint64) *standing {
		return &standing{Status: &cluster.Status{Applied: applied, Commit: commit}}
	}
	for _, step := range []struct {
		leader, own *standing
		says        string
	}{
		{at(9, 9), nil, "node 4 has joined, and does not run; start it: "},
		{nil, nil, "does not run; start it: "},
		{nil, at(5, 5), "node 4 waits for a leader"},
		{at(200, 200), at(0, 10), "node 4 catches up, and has 0 % of the journal"},
		{at(200, 200), at(199, 200), "node 4 catches up, and has 90 % of the journal"},
		{at(200, 200), at(200, 200), "node 4 has caught up, and waits for its vote"},
	} {
		if got := r.needs(step.leader, step.own); !strings.Contains(got, step.says) {
			t.Errorf("%q, not %q", got, step.says)
		}
	}
}

// TestReplaceGoesOn asks whether a new node has joined already in the place of an old one. One that has replaced a node is
// not to replace the next one of that number.
func TestReplaceGoesOn(t *testing.T) {
	const life = 1 << 32
	first, by := cluster.Member{Node: 3}, cluster.Member{Node: 4 + life, Replaces: 3}
	for _, step := range []struct {
		nodes  []cluster.Member
		joined bool
		says   string
	}{
		{[]cluster.Member{first}, false, ""},
		{[]cluster.Member{first, by}, true, ""},
		{[]cluster.Member{by}, true, ""},
		{[]cluster.Member{first, {Node: 4}}, true, "does not replace node 3"},
		{[]cluster.Member{by, {Node: 3 + 2*life}}, true, "does not replace node 3"},
	} {
		joined, err := (&clusterReplace{Node: 3, With: 4}).hasJoined(&cluster.Config{Nodes: step.nodes})
		if joined != step.joined || (err == nil) != (step.says == "") || err != nil && !strings.Contains(err.Error(), step.says) {
			t.Errorf("beside %+v: %t, %v", step.nodes, joined, err)
		}
	}
}

// comesBackFenced starts a node that was replaced: beside the others it does not start, and in another place it reaches
// none of them.
func (r *ring) comesBackFenced(old *ringNode, key string) {
	r.t.Helper()
	path, err := binary()
	must(r.t, err)
	out, err := exec.Command(path, "dev", "--node", fmt.Sprint(old.Node), "--data", r.data).CombinedOutput()
	if err == nil || !strings.Contains(string(out), fmt.Sprintf("and no node %d", old.Node)) {
		r.t.Errorf("the node that was replaced starts: %v, %s", err, out)
	}

	elsewhere := &ring{t: r.t, data: r.t.TempDir()}
	must(r.t, os.Symlink(filepath.Join(r.data, commonDir), filepath.Join(elsewhere.data, commonDir)))
	back := &ringNode{Member: old.Member, dir: nodeDir(elsewhere.data, old.Node), url: old.url, log: old.log + ".back"}
	must(r.t, os.Rename(old.dir, back.dir))
	elsewhere.nodes = []*ringNode{back}
	r.t.Cleanup(elsewhere.end)
	elsewhere.start(back)
	within(r.t, patience, "a replica", func() bool { return back.role.Load() == "replica" })
	before := elsewhere.status(back)
	r.handover(key, "fenced", func() {
		if buyAt(back.url, key, "old") {
			r.t.Errorf("node %d takes an order", old.Node)
		}
	})
	if s := elsewhere.status(back); s == nil || s.Leader != 0 || s.Commit != before.Commit || s.Term != before.Term {
		r.t.Errorf("node %d takes part: %+v, before %+v", old.Node, s, before)
	}
}

// TestClusterReplaceLeader puts a new node in the place of the one that leads, which leads again before the new one has
// caught up, and hands over then. After that another node joins under the number that has become free, with another id.
// A trader trades all the time.
func TestClusterReplaceLeader(t *testing.T) {
	if testing.Short() {
		return // `make cluster` runs it
	}
	r := newRing(t, nil, nil)
	old := r.leader()
	_, key := r.operator().member("trader", "USDT", takerHas)
	r.level()
	stays, by := r.nodes[old.Node%ringNodes], r.newcomer(4)
	r.nodes = append(r.nodes, by)
	waited := r.handover(key, "replaced", func() {
		r.replace(stays, old, by, func() {
			within(t, patience, "the node to be replaced as leader", func() bool {
				_, _, code := run(t, "cluster", "transfer", "--data", stays.dir, "--to", fmt.Sprint(old.Node))
				return code == 0
			})
		}, "--running")
	})
	t.Logf("%v without an acknowledgement while the leader was replaced", waited)
	old.kill()
	must(t, os.Rename(old.dir, old.dir+".old"))

	again := r.newcomer(old.Node)
	r.nodes = append(r.without(old), again)
	r.handover(key, "joined", func() {
		now := tool[joined](t, "cluster", "join", "--data", stays.dir, "--node", fmt.Sprint(again.Node), "--listen", again.Listen)
		if now.Joined != again.Node || len(now.Nodes) != 4 || now.Listen != again.Listen {
			t.Errorf("node %d joins: %+v", again.Node, now)
		}
		r.start(again)
		within(t, patience, "a vote of the new node", func() bool {
			s := r.status(again)
			return s != nil && s.Role == "replica"
		})
	})
	r.level()
	if config, err := readConfig(again.dir); err != nil || config.Node == old.Node || cluster.Number(config.Node) != old.Node {
		t.Errorf("node %d joins again under its old id: %+v, %v", old.Node, config, err)
	}
}

// TestClusterJoinArchived lets a node come back with an empty disk, and another one join, whose leader has archived what
// they lack: each begins with a copy of the archive, catches up, and has every command from the first on.
func TestClusterJoinArchived(t *testing.T) {
	if testing.Short() {
		return // `make cluster` runs it
	}
	g := startTrioOf(t, append([]string{"--segment-size=64KiB", "--snapshot-every=30"}, trioArgs...)...)
	first, lost := g.leader(), g.replica()
	archived := func(node uint64) bool {
		names, err := filepath.Glob(filepath.Join(nodeDir(g.data, node), journal.ArchiveDir, "*.seg.zst"))
		must(t, err)
		return len(names) > 0
	}
	_, key := (&server{t: t, data: nodeDir(g.data, first.Node)}).customer("trader")
	for n := 0; !archived(first.Node); n++ {
		if !buyAt("http://"+first.Listen, key, fmt.Sprint("order-", n)) {
			t.Fatalf("order %d was not taken", n)
		}
	}

	g.kill(lost)
	must(t, os.RemoveAll(nodeDir(g.data, lost.Node)))
	ends := []func(){g.again(lost.Node, first.Node)}
	listen := freeAddress(t)
	tool[joined](t, "cluster", "join", "--data", nodeDir(g.data, first.Node), "--node", "4", "--listen", listen)
	g.nodes = append(g.nodes, nodeLine{Node: 4, Listen: listen})
	ends = append(ends, g.again(4, first.Node))
	for i, node := range []uint64{lost.Node, 4} {
		ends[i]()
		if !archived(node) {
			t.Errorf("node %d has begun without an archive", node)
		}
		type verified struct {
			First uint64 `json:"first_seq"`
		}
		if v := tool[verified](t, "journal", "verify", nodeDir(g.data, node)); v.First != 1 {
			t.Errorf("node %d has commands from %d on", node, v.First)
		}
	}
}

// TestMembersKnowWhoIsGone wants a majority of the members to know that a node is gone before an operator is told: without the
// leader, the others would else need that node to elect another one.
func TestMembersKnowWhoIsGone(t *testing.T) {
	data := t.TempDir()
	told := func(node uint64, members ...uint64) {
		t.Helper()
		c := &cluster.Config{Epoch: 1, Node: node}
		for _, n := range members {
			c.Nodes = append(c.Nodes, cluster.Member{Node: n})
		}
		d, err := disk.Open(nodeDir(data, node))
		must(t, err)
		must(t, errors.Join(c.Save(d), d.Close()))
	}
	now := []uint64{1, 2, 4}
	told(1, now...)
	told(2, 1, 2, 3, 4)
	leader := &members{
		program: &program{ctx: t.Context()}, data: place(nodeDir(data, 1)), config: &cluster.Config{Sandbox: true, Node: 1},
	}
	if leader.knowGone(3, now) {
		t.Error("the leader alone is a majority")
	}
	told(4, now...)
	if !leader.knowGone(3, now) {
		t.Error("two of three are none")
	}
}
