package memlog

import (
	"math/rand/v2"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// room bounds the pending proposals and notices; beyond it the log is busy.
const room = 16

// Log is a journal.Log in memory. The methods of faults.go belong to the goroutine that
// calls Step.
type Log struct {
	store  *Store
	term   uint64
	chance *rand.Rand
	ready  chan struct{}

	// pending are the proposals not committed, in commit order; an ID of zero means
	// another process or an earlier term.
	pending []journal.Proposal
	// dropped are the IDs of dropped proposals, lost when the term changes.
	dropped []uint64
	lastID  uint64
	notices []journal.Notice
	// yielded is the notice last returned by Next, lent its commands.
	yielded journal.Notice
	lent    []byte

	held bool
	// follows is true while another process leads.
	follows bool
	full    bool
	chaos   Chaos
	marks   int
	closed  bool
	// failure stopped the log, nextFailure will stop it at the next step.
	failure, nextFailure error
}

var _ journal.Log = (*Log)(nil)

// usable returns an error if the log has stopped. The caller holds mu.
func (l *Log) usable() error {
	switch {
	case l.failure != nil:
		return l.failure
	case l.closed || l.store.owner != l:
		return journal.ErrClosed
	default:
		return nil
	}
}

// Propose implements [journal.Log].
func (l *Log) Propose(p journal.Proposal) error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	switch err := l.usable(); {
	case err != nil:
		return err
	case p.Count < 1 || len(p.Commands) < p.Count || len(p.Commands) > journal.MaxFrame:
		return journal.ErrTooLarge
	case l.follows:
		return journal.ErrNotLeader
	case len(l.pending)+len(l.dropped)+len(l.notices) >= room:
		return journal.ErrBusy
	case p.ID <= l.lastID:
		bourse.Impossible("proposal %d after %d", p.ID, l.lastID)
	}
	l.lastID = p.ID
	p.Commands = slices.Clone(p.Commands)
	l.pending = append(l.pending, p)
	return nil
}

// Step commits one proposal, unless it misbehaves.
func (l *Log) Step() (more bool, err error) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if err := l.usable(); err != nil {
		return false, err
	}

	if l.nextFailure != nil {
		l.failure = l.nextFailure
		return false, l.failure
	}

	if l.full && l.work() {
		l.notify(journal.Notice{Kind: journal.Refused, Proposal: l.pending[0].ID})
		l.pending = slices.Delete(l.pending, 0, 1)
		return l.work(), nil
	}

	if l.misbehave() {
		return l.work(), nil
	}
	if l.work() {
		l.commit()
	}
	return l.work(), nil
}

// work reports whether a step can commit a proposal.
func (l *Log) work() bool { return !l.held && len(l.pending) > 0 }

func (l *Log) commit() {
	p := l.pending[0]
	l.pending = slices.Delete(l.pending, 0, 1)
	l.notify(journal.Notice{Kind: journal.Committed, Proposal: p.ID, Batch: l.store.commit(l.term, &p)})
}

func (l *Log) notify(n journal.Notice) {
	l.notices = append(l.notices, n)
	select {
	case l.ready <- struct{}{}:
	default:
	}
}

// Prepare does nothing.
func (l *Log) Prepare() (bool, error) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	return false, l.usable()
}

// Unprepared returns nil: Prepare has no work.
func (l *Log) Unprepared() <-chan struct{} { return nil }

// Mark only counts: everything committed is durable here.
func (l *Log) Mark() error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	l.marks++
	return l.usable()
}

// Marks returns the number of calls to Mark.
func (l *Log) Marks() int {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	return l.marks
}

// Next returns the next notice. A closed log still returns its notices; a crashed one
// returns none.
func (l *Log) Next() (*journal.Notice, bool) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if len(l.notices) == 0 || l.store.owner != l {
		return nil, false
	}
	l.yielded = l.notices[0]
	l.notices = slices.Delete(l.notices, 0, 1)
	l.lent = lend(l.lent, l.yielded.Batch.Commands)
	l.yielded.Batch.Commands = l.lent
	return &l.yielded, true
}

// Ready returns a channel that receives when Next may have notices.
func (l *Log) Ready() <-chan struct{} { return l.ready }

// Durable returns the last sequence that is committed.
func (l *Log) Durable() bourse.Seq { return l.store.Tip().Last }

// Read returns a reader of the batches from sequence from on.
func (l *Log) Read(from bourse.Seq) (journal.Reader, error) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if from < l.store.first {
		return nil, journal.ErrCompacted
	}
	return &reader{store: l.store, next: from}, nil
}

// Close commits the pending proposals. Dropped ones, and all of a held log, are lost.
func (l *Log) Close() error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if err := l.usable(); err != nil {
		l.closed = true
		if err == l.failure { //nolint:errorlint // it is the same error, not one like it
			return nil
		}
		return err
	}
	for l.work() {
		l.commit()
	}
	l.lose(func(journal.Proposal) bool { return false })
	l.closed = true
	return nil
}
