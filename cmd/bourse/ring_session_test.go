package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestSessionOutlivesTheLeader logs a person in at the page of a replica, and lets the other replica lead, and then the node of the page: its
// session goes on, and is that of the pages of all nodes.
func TestSessionOutlivesTheLeader(t *testing.T) {
	r := newRing(t, nil, nil)
	leader := r.leader()
	page, other := r.nodes[leader.Node%ringNodes], r.nodes[(leader.Node+1)%ringNodes]
	b := &browser{server: &server{t: t, data: leader.dir, url: page.url}}
	b.join("ada@example.org")
	for _, to := range []*ringNode{other, page} {
		within(t, patience, fmt.Sprintf("node %d leads", to.Node), func() bool {
			_, _, _ = run(t, "cluster", "transfer", "--data", leader.dir, "--to", fmt.Sprint(to.Node))
			return r.leader() == to
		})
		r.level() // the earlier leader is a replica
		for _, n := range r.nodes {
			b.url = n.url
			within(t, patience, fmt.Sprintf("an answer at node %d", n.Node), func() bool { return b.ask("GET", "/web/session", "") == 200 })
			if !strings.Contains(b.text, `"email":"ada@example.org"`) {
				t.Errorf("while node %d leads, the page of node %d says %s", to.Node, n.Node, b.text)
			}
		}
	}
}
