package journaltest

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// process proposes, steps, and records the notices of an open log.
type process struct {
	t   *testing.T
	h   Harness
	log journal.Log
	// lastID is the last proposal's ID, open the unanswered proposals.
	lastID uint64
	open   map[uint64]journal.Proposal
	// tip and yielded are the tip and all batches yielded so far, over all lives of the
	// process.
	tip     journal.Tip
	yielded []journal.Batch
	lost    []journal.Proposal
}

func start(t *testing.T, h Harness) *process {
	t.Helper()
	p := &process{t: t, h: h, open: map[uint64]journal.Proposal{}}
	p.reopen()
	return p
}

// reopen opens the log and reads the batches committed since.
func (p *process) reopen() {
	p.t.Helper()
	p.log = p.h.Open(p.t)
	p.lastID, p.open = 0, map[uint64]journal.Proposal{}
	for _, b := range p.read(p.tip.Last + 1) {
		p.take(b)
	}
	if got := p.log.Durable(); got != p.tip.Last {
		p.t.Fatalf("after a start Durable is %d, and a reader's last command %d", got, p.tip.Last)
	}
	if n, ok := p.log.Next(); ok {
		p.t.Fatalf("after a start there is a notice of kind %d", n.Kind)
	}
}

// batch returns a proposal's commands, different for each ID.
func batch(id uint64, count, size int) []byte {
	b := make([]byte, count*size)
	for i := range b {
		b[i] = byte(id) ^ byte(i*7) ^ byte(i>>8)
	}
	return b
}

// propose proposes a batch, stepping until it is accepted.
func (p *process) propose(count, size int, now bourse.Time) {
	p.t.Helper()
	for {
		err := p.tryPropose(count, size, now)
		if err == nil {
			return
		}
		if !errors.Is(err, journal.ErrBusy) {
			p.t.Fatalf("Propose: %v", err)
		}
		p.step()
		p.drain()
	}
}

func (p *process) tryPropose(count, size int, now bourse.Time) error {
	id := p.lastID + 1
	prop := journal.Proposal{ID: id, Count: count, Time: now, Commands: batch(id, count, size)}
	if err := p.log.Propose(prop); err != nil {
		return err
	}
	p.lastID, p.open[id] = id, prop
	return nil
}

func (p *process) step() bool {
	p.t.Helper()
	more, err := p.log.Step()
	if err != nil {
		p.t.Fatalf("Step: %v", err)
	}
	return more
}

// settle steps and takes notices until there are no more.
func (p *process) settle() {
	p.t.Helper()
	for {
		more := p.step()
		if !p.drain() && !more {
			return
		}
	}
}

// drain takes all notices; false if there were none.
func (p *process) drain() bool {
	p.t.Helper()
	some := false
	for {
		n, ok := p.log.Next()
		if !ok {
			return some
		}
		some = true
		p.notice(n)
	}
}

func (p *process) notice(n *journal.Notice) {
	p.t.Helper()
	switch n.Kind {
	case journal.Committed:
		if n.Proposal != 0 {
			p.holdAgainst(p.answer(n.Proposal), &n.Batch)
		}
		if d := p.log.Durable(); d < n.Batch.Last() {
			p.t.Fatalf("%d was yielded while Durable was %d", n.Batch.Last(), d)
		}
		p.take(n.Batch)
	case journal.Lost:
		p.lost = append(p.lost, p.answer(n.Proposal))
	case journal.Installed:
		p.t.Fatal("a snapshot was installed without reason")
	default:
		p.t.Fatalf("a notice of kind %d", n.Kind)
	}
}

// answer returns the proposal of a notice, and closes it.
func (p *process) answer(id uint64) journal.Proposal {
	p.t.Helper()
	prop, ok := p.open[id]
	if !ok {
		p.t.Fatalf("proposal %d was answered, which is not open", id)
	}
	delete(p.open, id)
	return prop
}

func (p *process) holdAgainst(prop journal.Proposal, b *journal.Batch) {
	p.t.Helper()
	if b.Count != prop.Count || !bytes.Equal(b.Commands, prop.Commands) {
		p.t.Fatalf("proposal %d was committed with other commands", prop.ID)
	}
	if want := max(prop.Time, p.tip.Time); b.Time != want {
		p.t.Fatalf("proposal %d got time %d, not %d", prop.ID, b.Time, want)
	}
}

// take appends a batch, which must continue the journal.
func (p *process) take(b journal.Batch) {
	p.t.Helper()
	switch {
	case b.First != p.tip.Last+1:
		p.t.Fatalf("a batch begins at %d after %d", b.First, p.tip.Last)
	case b.Count < 1:
		p.t.Fatalf("a batch at %d has %d commands", b.First, b.Count)
	case b.Term < p.tip.Term || b.Time < p.tip.Time:
		p.t.Fatalf("at %d term and time go from %d and %d to %d and %d",
			b.First, p.tip.Term, p.tip.Time, b.Term, b.Time)
	}

	f := journal.Frame{
		First: b.First, Count: b.Count, Term: b.Term, Time: b.Time, Previous: p.tip.Chain, Commands: b.Commands,
	}
	if _, chain := f.Append(nil); chain != b.Chain {
		p.t.Fatalf("the hash of the batch at %d is not that of its frame", b.First)
	}

	b.Commands = bytes.Clone(b.Commands)
	p.yielded = append(p.yielded, b)
	p.tip = b.Tip()
}

// read returns all batches from a sequence on.
func (p *process) read(from bourse.Seq) []journal.Batch {
	p.t.Helper()
	r := p.reader(from)
	var list []journal.Batch
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			p.t.Fatalf("reading from %d: %v", from, err)
		}
		list = append(list, *b)
		list[len(list)-1].Commands = bytes.Clone(b.Commands)
	}
	if err := r.Close(); err != nil {
		p.t.Fatalf("closing a reader: %v", err)
	}
	return list
}

func (p *process) reader(from bourse.Seq) journal.Reader {
	p.t.Helper()
	r, err := p.log.Read(from)
	if err != nil {
		p.t.Fatalf("Read(%d): %v", from, err)
	}
	return r
}

// verify reads the journal and compares it with the yielded batches.
func (p *process) verify() {
	p.t.Helper()
	p.same(p.read(1), p.yielded)
}

func (p *process) same(got, want []journal.Batch) {
	p.t.Helper()
	if len(got) != len(want) {
		p.t.Fatalf("a reader has %d batches, not %d", len(got), len(want))
	}
	for i := range got {
		if !sameBatch(&got[i], &want[i]) {
			p.t.Fatalf("a reader has another batch at %d than was yielded", want[i].First)
		}
	}
}

func sameBatch(a, b *journal.Batch) bool {
	return a.First == b.First && a.Count == b.Count && a.Term == b.Term && a.Time == b.Time &&
		a.Chain == b.Chain && bytes.Equal(a.Commands, b.Commands)
}

func (p *process) close() {
	p.t.Helper()
	if err := p.log.Close(); err != nil {
		p.t.Fatalf("Close: %v", err)
	}
}
