package journaltest

import (
	"errors"
	"io"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

func testCommits(t *testing.T, h Harness) {
	p := start(t, h)
	for i := range 50 {
		p.propose(1+i%7, 1+i, bourse.Time(i))
		if i%3 == 0 {
			p.settle()
		}
	}
	p.settle()
	if len(p.open) != 0 || len(p.lost) != 0 {
		t.Fatalf("%d proposals have no answer and %d were lost", len(p.open), len(p.lost))
	}
	p.verify()
	p.close()
}

func testDurable(t *testing.T, h Harness) {
	p := start(t, h)
	if got := p.log.Durable(); got != 0 {
		t.Fatalf("Durable of an empty log is %d", got)
	}
	p.propose(3, 8, 1)
	if n, ok := p.log.Next(); ok {
		t.Fatalf("a notice of kind %d before any step", n.Kind)
	}
	if got := p.log.Durable(); got != 0 {
		t.Fatalf("Durable before any step is %d", got)
	}
	p.settle()
	if got := p.log.Durable(); got != 3 {
		t.Fatalf("Durable after three commands is %d", got)
	}
	p.close()
}

func testTooLarge(t *testing.T, h Harness) {
	p := start(t, h)
	for _, c := range []struct{ count, size int }{{0, 0}, {1, journal.MaxFrame + 1}} {
		if err := p.tryPropose(c.count, c.size, 1); !errors.Is(err, journal.ErrTooLarge) {
			t.Fatalf("%d commands of %d bytes: %v", c.count, c.size, err)
		}
	}
	p.propose(1, journal.MaxFrame, 1)
	p.propose(journal.MaxFrame, 1, 1)
	p.settle()
	if p.tip.Last != 1+journal.MaxFrame {
		t.Fatalf("two full frames end at %d", p.tip.Last)
	}
	p.verify()
	p.close()
}

func testBusy(t *testing.T, h Harness) {
	const most = 100_000
	p := start(t, h)
	n := 0
	var err error
	for ; err == nil && n < most; n++ {
		err = p.tryPropose(1, 64, 1)
	}
	if !errors.Is(err, journal.ErrBusy) {
		t.Fatalf("after %d proposals without a step: %v", n, err)
	}

	// Notices must be bounded as well.
	for n = 0; n < most; n++ {
		if err = p.tryPropose(1, 64, 1); err != nil && !p.step() {
			break
		}
	}
	if n == most {
		t.Fatalf("%d proposals without a notice taken", n)
	}

	p.settle()
	if err := p.tryPropose(1, 64, 1); err != nil {
		t.Fatalf("after everything was taken: %v", err)
	}
	p.settle()
	p.verify()
	p.close()
}

func testKeepsNothing(t *testing.T, h Harness) {
	p := start(t, h)
	mine := batch(1, 1, 100)
	p.open[1] = journal.Proposal{ID: 1, Count: 1, Time: 5, Commands: batch(1, 1, 100)}
	if err := p.log.Propose(journal.Proposal{ID: 1, Count: 1, Time: 5, Commands: mine}); err != nil {
		t.Fatal(err)
	}
	clear(mine)
	p.lastID = 1
	p.settle()
	p.verify()
	p.close()
}

func testMonotone(t *testing.T, h Harness) {
	p := start(t, h)
	for _, now := range []bourse.Time{10, 20, 15, -3, 21} {
		p.propose(1, 8, now)
		p.settle() // compares each batch with the one before
	}
	if p.tip.Time != 21 {
		t.Fatalf("the last batch is of time %d", p.tip.Time)
	}
	p.close()
	p.reopen()
	p.propose(1, 8, 7)
	p.settle()
	if p.tip.Time != 21 {
		t.Fatalf("after a start the clock stood at %d", p.tip.Time)
	}
	p.close()
}

func testReadAnywhere(t *testing.T, h Harness) {
	p := start(t, h)
	for i := range 12 {
		p.propose(1+i%4, 16, bourse.Time(i))
	}
	p.settle()
	for i, b := range p.yielded {
		for seq := b.First; seq <= b.Last(); seq++ {
			p.same(p.read(seq), p.yielded[i:])
		}
	}
	p.same(p.read(p.tip.Last+1), nil)
	p.close()
}

func testReadBehind(t *testing.T, h Harness) {
	p := start(t, h)
	first, end := p.reader(1), p.reader(1)
	for i := range 20 {
		if _, err := end.Next(); !errors.Is(err, io.EOF) {
			t.Fatalf("a reader at the end: %v", err)
		}
		p.propose(2, 32, bourse.Time(i))
		if _, err := end.Next(); !errors.Is(err, io.EOF) {
			t.Fatalf("a reader has a batch before it is committed: %v", err)
		}

		p.settle()
		b, err := end.Next()
		if err != nil || !sameBatch(b, &p.yielded[i]) {
			t.Fatalf("a reader behind the writer has another batch at %d: %v", p.yielded[i].First, err)
		}
	}

	for i := range p.yielded {
		b, err := first.Next()
		if err != nil || !sameBatch(b, &p.yielded[i]) {
			t.Fatalf("a slow reader has another batch at %d: %v", p.yielded[i].First, err)
		}
	}

	if err := errors.Join(first.Close(), end.Close()); err != nil {
		t.Fatal(err)
	}
	p.close()
}

func testMark(t *testing.T, h Harness) {
	p := start(t, h)
	for i := range 5 {
		for range i % 3 {
			if err := p.log.Mark(); err != nil {
				t.Fatal(err)
			}
		}
		p.propose(1, 8, bourse.Time(i))
		p.settle()
	}
	if err := errors.Join(p.log.Mark(), p.log.Mark()); err != nil {
		t.Fatal(err)
	}
	p.settle()
	p.verify()
	h.Crash(t)
	p.reopen()
	p.verify()
	p.close()
}

func testClose(t *testing.T, h Harness) {
	p := start(t, h)
	p.propose(1, 8, 1)
	p.settle()
	for range 3 {
		if err := p.tryPropose(2, 8, 2); err != nil {
			t.Fatal(err)
		}
	}

	p.close()
	p.drain()
	if len(p.open) != 0 || p.tip.Last != 7 {
		t.Fatalf("a close left %d proposals without an answer, and the journal at %d", len(p.open), p.tip.Last)
	}

	if err := p.tryPropose(1, 8, 3); !errors.Is(err, journal.ErrClosed) {
		t.Fatalf("Propose after Close: %v", err)
	}
	if _, err := p.log.Step(); !errors.Is(err, journal.ErrClosed) {
		t.Fatalf("Step after Close: %v", err)
	}

	p.reopen()
	p.verify()
	p.close()
}

func testReopen(t *testing.T, h Harness) {
	p := start(t, h)
	p.close()
	for i := range 4 {
		p.reopen()
		p.verify()
		for j := range 6 {
			p.propose(1+j, 40, bourse.Time(i*10+j))
		}
		p.settle()
		p.close()
	}
	p.reopen()
	p.verify()
	p.close()
}

// testCrash kills the process with proposals in every state. Yielded batches must
// survive; an unanswered proposal is committed as a whole or not at all.
func testCrash(t *testing.T, h Harness) {
	p := start(t, h)
	for life := range 12 {
		for i := range 1 + life%5 {
			p.propose(1+i, 100, bourse.Time(life*10+i))
			if i%2 == 0 {
				p.step()
			}
		}
		if life%3 == 0 {
			p.settle()
		}

		yielded, unanswered := len(p.yielded), p.open
		h.Crash(t)
		p.reopen()

		for _, b := range p.yielded[yielded:] {
			if !proposed(unanswered, &b) {
				t.Fatalf("after a crash there is a batch at %d that nobody proposed", b.First)
			}
		}
		p.verify()
	}
	p.close()
}

func proposed(open map[uint64]journal.Proposal, b *journal.Batch) bool {
	for _, prop := range open {
		if b.Count == prop.Count && string(b.Commands) == string(prop.Commands) {
			return true
		}
	}
	return false
}

func testCompact(t *testing.T, h Harness) {
	p := start(t, h)
	for i := range 200 {
		p.propose(3, 512, bourse.Time(i))
	}
	p.settle()
	behind := p.reader(1)
	h.(Compactor).Compact(t, 300)
	if _, err := p.log.Read(1); !errors.Is(err, journal.ErrCompacted) {
		t.Fatalf("reading what was cut away: %v", err)
	}
	p.same(p.read(300), p.yielded[99:])
	if err := behind.Close(); err != nil {
		t.Fatal(err)
	}
	p.close()
	p.log = h.Open(t)
	p.same(p.read(300), p.yielded[99:])
	p.close()
}
