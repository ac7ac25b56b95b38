package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestClusterLeave takes a dead node out of three: the two that stay take orders, and it does not come back. The
// leader, nodes that are needed and one that the cluster never had stay.
func TestClusterLeave(t *testing.T) {
	r := newRing(t, nil, nil)
	leader := r.leader()
	_, key := r.operator().member("trader", "USDT", takerHas)
	r.level()
	gone, stays := r.nodes[leader.Node%ringNodes], r.nodes[(leader.Node+1)%ringNodes]
	refused := func(node uint64, says string) {
		t.Helper()
		_, stderr, code := run(t, "cluster", "leave", "--data", leader.dir, "--node", fmt.Sprint(node))
		if code == 0 || !strings.Contains(stderr, says) {
			t.Errorf("node %d leaves: exit %d, %s", node, code, stderr)
		}
	}
	refused(leader.Node, "let another one lead first")
	refused(9, "has no node 9")
	gone.kill()
	refused(stays.Node, "there are 2 nodes that vote, of which 1 answer")

	now := tool[left](t, "cluster", "leave", "--data", leader.dir, "--node", fmt.Sprint(gone.Node))
	want := []uint64{leader.Node, stays.Node}
	slices.Sort(want)
	if now.Left != gone.Node || !slices.Equal(now.Nodes, want) {
		t.Errorf("node %d has left: %+v", gone.Node, now)
	}
	refused(stays.Node, "of 2 nodes that vote none can leave")
	r.handover(key, "two", func() {})
	if view := tool[clusterView](t, "cluster", "status", "--data", stays.dir); len(view.Nodes) != 2 || view.Leader != leader.Node {
		t.Errorf("the status of two nodes: %+v", view)
	}

	path, err := binary()
	must(t, err)
	out, err := exec.Command(path, "dev", "--node", fmt.Sprint(gone.Node), "--data", r.data).CombinedOutput()
	if err == nil || !strings.Contains(string(out), fmt.Sprintf("and no node %d", gone.Node)) {
		t.Errorf("the node that left starts: %v, %s", err, out)
	}
}
