package memlog

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// Store holds the committed frames, which survive a crash. Safe for concurrent use.
type Store struct {
	mu     sync.Mutex
	frames []frame
	tip    journal.Tip
	// first is the oldest command kept, the next command if none is.
	first bourse.Seq
	// owner is the log opened last, the only one alive.
	owner *Log
}

// frame is the encoding of a committed batch.
type frame struct {
	last  bourse.Seq
	bytes []byte
}

// NewStore returns an empty store.
func NewStore() *Store { return &Store{first: 1} }

// Tip returns the journal's tip.
func (s *Store) Tip() journal.Tip {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tip
}

// Open opens a log in a new term. It is a crash of the log opened before, whose pending
// proposals are gone. The seed determines all chances.
func (s *Store) Open(seed uint64) *Log {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &Log{
		store: s, term: s.tip.Term + 1, ready: make(chan struct{}, 1),
		//nolint:gosec // a test's chances must repeat
		chance: rand.New(rand.NewPCG(seed, seed^0x2545f4914f6cdd1d)),
	}
	s.owner = l
	return l
}

// Compact drops the frames whose commands are all below before, like a prune.
func (s *Store) Compact(before bourse.Seq) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for n < len(s.frames) && s.frames[n].last < before {
		s.first = s.frames[n].last + 1
		n++
	}
	s.frames = slices.Delete(s.frames, 0, n)
}

// commit appends a batch. The caller holds mu.
func (s *Store) commit(term uint64, p *journal.Proposal) journal.Batch {
	f := journal.Frame{
		First: s.tip.Last + 1, Count: p.Count, Term: term, Time: max(s.tip.Time, p.Time),
		Previous: s.tip.Chain, Commands: p.Commands,
	}
	bytes, chain := f.Append(nil)
	b := f.Batch(chain)
	s.tip = b.Tip()
	s.frames = append(s.frames, frame{s.tip.Last, bytes})
	return b
}

// reader reads the store's frames.
type reader struct {
	store  *Store
	next   bourse.Seq
	closed bool
	batch  journal.Batch
	lent   []byte
}

// Next implements [journal.Reader].
func (r *reader) Next() (*journal.Batch, error) {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	switch {
	case r.closed:
		return nil, journal.ErrClosed
	case r.next < r.store.first:
		return nil, fmt.Errorf("%w: %d, the oldest is %d", journal.ErrCompacted, r.next, r.store.first)
	}
	i, _ := slices.BinarySearchFunc(r.store.frames, r.next, func(f frame, seq bourse.Seq) int {
		return cmp.Compare(f.last, seq)
	})
	if i == len(r.store.frames) {
		return nil, io.EOF
	}

	var f journal.Frame
	_, chain, err := journal.ParseFrame(r.store.frames[i].bytes, &f)
	if err != nil {
		return nil, fmt.Errorf("frame before %d: %w", r.store.frames[i].last, err)
	}

	r.lent = lend(r.lent, f.Commands)
	f.Commands = r.lent
	r.batch = f.Batch(chain)
	r.next = r.batch.Last() + 1
	return &r.batch, nil
}

// Close releases the reader.
func (r *reader) Close() error {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	r.closed = true
	return nil
}

// lend copies b into the buffer lent before, after overwriting it to expose callers that
// kept it.
func lend(before, b []byte) []byte {
	for i := range before {
		before[i] = 0xdb
	}
	if cap(before) < len(b) {
		before = make([]byte, 0, 2*len(b))
	}
	return append(before[:0], b...)
}
