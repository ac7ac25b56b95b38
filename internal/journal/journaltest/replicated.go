package journaltest

import (
	"errors"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// group is a process with a replicated log.
type group struct {
	*process
	Replicated
}

func runReplicated(t *testing.T, fresh func(t *testing.T) Harness) {
	for _, c := range []struct {
		name string
		test func(g group)
	}{
		{"commits out of order", testReverse},
		{"truncates at a change of term", testTruncate},
		{"commits the lost after all", testKeep},
		{"answers what was dropped", testDrop},
		{"commits what others propose", testElsewhere},
		{"installs snapshots", testInstall},
		{"loses what it cannot finish", testCloseHeld},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := fresh(t)
			c.test(group{start(t, h), h.(Replicated)})
		})
	}
}

// fly proposes n batches and checks that none is committed.
func (g group) fly(n int) {
	g.t.Helper()
	g.Hold()
	before := g.tip
	for range n {
		if err := g.tryPropose(2, 16, before.Time+1); err != nil {
			g.t.Fatalf("Propose: %v", err)
		}
	}
	g.settle()
	if g.tip != before || len(g.open) != n {
		g.t.Fatalf("a log that is held has committed something")
	}
}

func testReverse(g group) {
	g.fly(3)
	g.Reverse()
	g.Release()

	for _, want := range []uint64{3, 2, 1} {
		for len(g.yielded) < int(4-want) {
			g.step()
			g.drain()
		}
		if string(g.yielded[3-want].Commands) != string(batch(want, 2, 16)) {
			g.t.Fatalf("batch %d is not proposal %d", 4-want, want)
		}
	}

	g.settle()
	if len(g.open) != 0 {
		g.t.Fatalf("%d proposals have no answer", len(g.open))
	}
	g.verify()
	g.close()
}

func testTruncate(g group) {
	g.propose(1, 8, 1)
	g.settle()
	term := g.tip.Term
	g.fly(3)
	g.ChangeTerm(nil)
	g.Release()
	g.settle()
	if len(g.lost) != 3 || len(g.open) != 0 || g.tip.Last != 1 {
		g.t.Fatalf("%d of 3 were lost, the journal ends at %d", len(g.lost), g.tip.Last)
	}
	g.propose(1, 8, 1)
	g.settle()
	if g.tip.Term <= term || g.tip.Last != 2 {
		g.t.Fatalf("command %d is of term %d after term %d", g.tip.Last, g.tip.Term, term)
	}
	g.verify()
	g.close()
}

func testKeep(g group) {
	g.fly(3)
	g.ChangeTerm(func(id uint64) bool { return id != 2 })
	g.Release()
	g.settle()
	if len(g.lost) != 3 || g.tip.Last != 4 {
		g.t.Fatalf("%d of 3 were lost, the journal ends at %d", len(g.lost), g.tip.Last)
	}
	for _, b := range g.yielded {
		if string(b.Commands) == string(batch(2, 2, 16)) {
			g.t.Fatal("what was truncated was committed")
		}
	}
	g.verify()
	g.close()
}

func testDrop(g group) {
	g.fly(3)
	if !g.Drop(2) || g.Drop(2) {
		g.t.Fatal("a proposal can be dropped once")
	}
	g.Release()
	g.settle()
	if len(g.open) != 1 || g.tip.Last != 4 {
		g.t.Fatalf("%d proposals have no answer, the journal ends at %d", len(g.open), g.tip.Last)
	}
	g.ChangeTerm(nil)
	g.settle()
	if len(g.lost) != 1 || g.lost[0].ID != 2 {
		g.t.Fatalf("%d proposals were lost", len(g.lost))
	}
	g.verify()
	g.close()
}

func testElsewhere(g group) {
	g.fly(1)
	g.Elsewhere(journal.Proposal{ID: 1, Count: 5, Time: 9, Commands: batch(77, 5, 8)})
	g.drain()
	if len(g.open) != 1 || g.tip.Last != 5 {
		g.t.Fatalf("another's batch answered ours, or is not there: the journal ends at %d", g.tip.Last)
	}
	g.Release()
	g.settle()
	if len(g.open) != 0 || g.tip.Last != 7 {
		g.t.Fatalf("%d proposals have no answer, the journal ends at %d", len(g.open), g.tip.Last)
	}
	g.verify()
	g.close()
}

func testInstall(g group) {
	g.propose(3, 8, 1)
	g.settle()
	behind := g.reader(2)
	g.fly(2)
	at := journal.Tip{Last: 1000, Chain: journal.Hash{1, 2, 3}, Term: g.tip.Term + 5, Time: 50}
	g.Install(at)
	g.Release()

	for len(g.open) > 0 {
		n, ok := g.log.Next()
		if !ok || n.Kind != journal.Lost {
			g.t.Fatal("what was proposed before a snapshot was installed is not lost")
		}
		g.notice(n)
	}

	n, ok := g.log.Next()
	if !ok || n.Kind != journal.Installed || n.Snapshot != at.Last || g.log.Durable() != at.Last {
		g.t.Fatalf("no notice of the snapshot at %d", at.Last)
	}

	if _, err := behind.Next(); !errors.Is(err, journal.ErrCompacted) {
		g.t.Fatalf("a reader before the snapshot: %v", err)
	}

	for _, from := range []bourse.Seq{1, 4, at.Last} {
		if _, err := g.log.Read(from); !errors.Is(err, journal.ErrCompacted) {
			g.t.Fatalf("reading from %d, before the snapshot: %v", from, err)
		}
	}

	g.tip, g.yielded = at, nil
	g.propose(2, 8, 1)
	g.settle() // compares the batch with the snapshot's tip
	g.same(g.read(at.Last+1), g.yielded)
	g.close()
}

func testCloseHeld(g group) {
	g.fly(2)
	g.close()
	g.drain()
	if len(g.lost) != 2 {
		g.t.Fatalf("%d of 2 proposals were lost", len(g.lost))
	}
	g.reopen()
	g.close()
}
