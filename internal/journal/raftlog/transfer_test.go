package raftlog_test

import (
	"errors"
	"testing"

	"github.com/bourse-exchange/bourse/internal/journal"
)

// TestTransfer hands the lead over with proposals in flight: they are committed and answered, those that
// come behind are dropped and never committed, and the other node leads the next term without an election's
// time passing.
func TestTransfer(t *testing.T) {
	g := newTrio(t)
	g.elect(0)
	g.propose(0, "aa")
	if _, err := g.logs[0].Step(); err != nil {
		t.Fatal(err)
	}
	term := g.logs[0].Status().Term
	to, err := g.logs[0].Transfer(2)
	if err != nil || to != 2 {
		t.Fatalf("the leader hands over to %d: %v", to, err)
	}
	late := g.propose(0, "bb")
	g.step(20)

	if s := g.logs[1].Status(); !s.Open || s.Term != term+1 {
		t.Errorf("the other node: %+v", s)
	}
	if len(g.dropped) != 1 || g.dropped[0] != late {
		t.Errorf("dropped are %v, not %d", g.dropped, late)
	}
	g.propose(1, "cc")
	g.step(5)
	g.pass(4)
	g.wantAll("aa cc")
}

// TestTransferPicks lets the leader pick the voter that lacks the fewest entries, and refuses nodes that could not
// lead. A leader whose heir never answers goes on.
func TestTransferPicks(t *testing.T) {
	g := newTrio(t)
	g.elect(0)
	if _, err := g.logs[1].Transfer(3); !errors.Is(err, journal.ErrNotLeader) {
		t.Errorf("a replica hands over: %v", err)
	}
	for _, node := range []uint64{1, 9} {
		if _, err := g.logs[0].Transfer(node); err == nil {
			t.Errorf("the leader hands over to node %d", node)
		}
	}

	g.away[1] = true
	g.propose(0, "aa")
	g.step(5)
	to, err := g.logs[0].Transfer(0)
	if err != nil || to != 3 {
		t.Fatalf("the leader picks node %d: %v", to, err)
	}

	g.away[1], g.away[2] = false, true
	lost := g.propose(0, "bb")
	g.pass(25)
	g.propose(0, "cc")
	g.away[2] = false
	g.pass(25)
	if s := g.logs[0].Status(); !s.Open || len(g.dropped) != 1 || g.dropped[0] != lost {
		t.Errorf("the leader, whose heir was cut off: %+v; dropped are %v, not %d", s, g.dropped, lost)
	}
	g.wantAll("aa cc")
}
