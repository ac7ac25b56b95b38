package memlog

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// Chaos says how often a step misbehaves, each out of a thousand.
type Chaos struct {
	// Delay: the step commits nothing.
	Delay int
	// Reorder: another proposal than the oldest is committed.
	Reorder int
	// Drop: the oldest proposal is not heard of before the term changes.
	Drop int
	// Term: the term changes. Keep is then, for each proposal, how often it is
	// committed after all.
	Term, Keep int
}

// SetChaos has the steps that follow misbehave by chance.
func (l *Log) SetChaos(c Chaos) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	l.chaos = c
}

// hit draws whether something that happens n times in a thousand happens now.
func (l *Log) hit(n int) bool { return n > 0 && l.chance.IntN(1000) < n }

// misbehave does what chance wants; it reports whether the step is over by it.
func (l *Log) misbehave() bool {
	if l.hit(l.chaos.Term) {
		l.changeTerm(func(journal.Proposal) bool { return l.hit(l.chaos.Keep) })
	}
	if l.hit(l.chaos.Delay) {
		return true
	}
	if l.hit(l.chaos.Reorder) && len(l.pending) > 1 {
		i := 1 + l.chance.IntN(len(l.pending)-1)
		l.pending[0], l.pending[i] = l.pending[i], l.pending[0]
	}
	if l.hit(l.chaos.Drop) && l.work() && l.pending[0].ID != 0 {
		l.drop(0)
		return true
	}
	return false
}

func (l *Log) drop(i int) {
	l.dropped = append(l.dropped, l.pending[i].ID)
	l.pending = slices.Delete(l.pending, i, i+1)
}

// Hold makes steps commit nothing until Release: the others cannot be reached.
func (l *Log) Hold() { l.hold(true) }

// Release ends Hold.
func (l *Log) Release() { l.hold(false) }

// SetFull makes steps refuse what was proposed, as a log whose disk is full, or takes
// that back.
func (l *Log) SetFull(full bool) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	l.full = full
}

func (l *Log) hold(held bool) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	l.held = held
}

// Reverse turns the order of the proposals that are not committed.
func (l *Log) Reverse() {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	slices.Reverse(l.pending)
}

// Drop drops a proposal that is not committed: nothing is heard of it before the
// term changes. It reports whether there was one.
func (l *Log) Drop(id uint64) bool {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	i := slices.IndexFunc(l.pending, func(p journal.Proposal) bool { return p.ID == id })
	if i < 0 || id == 0 {
		return false
	}
	l.drop(i)
	return true
}

// ChangeTerm begins a new term: every proposal that is not committed is lost.
// Those for which keep says so, and none if keep is nil, have reached the new
// leader and are committed by the steps that follow; the others are truncated.
func (l *Log) ChangeTerm(keep func(id uint64) bool) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	l.changeTerm(func(p journal.Proposal) bool { return keep != nil && keep(p.ID) })
}

func (l *Log) changeTerm(keep func(journal.Proposal) bool) {
	l.term++
	l.lose(keep)
}

// lose answers all proposals that are not committed with a Lost notice. Those
// from elsewhere stay.
func (l *Log) lose(keep func(journal.Proposal) bool) {
	for _, id := range l.dropped {
		l.notify(journal.Notice{Kind: journal.Lost, Proposal: id})
	}
	l.dropped = nil
	var kept []journal.Proposal
	for _, p := range l.pending {
		if p.ID == 0 {
			kept = append(kept, p)
			continue
		}
		l.notify(journal.Notice{Kind: journal.Lost, Proposal: p.ID})
		if keep(p) {
			p.ID = 0
			kept = append(kept, p)
		}
	}
	l.pending = kept
}

// Elsewhere commits at once what another process proposed. Its ID says nothing
// here.
func (l *Log) Elsewhere(p journal.Proposal) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	p.Commands = slices.Clone(p.Commands)
	l.notify(journal.Notice{Kind: journal.Committed, Batch: l.store.commit(l.term, &p)})
}

// Install puts the log where a snapshot ends, as if it had fallen too far behind
// to be told the batches between. What was proposed is lost, and nothing before
// the snapshot can be read any more.
func (l *Log) Install(at journal.Tip) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if at.Last <= l.store.tip.Last {
		bourse.Impossible("a snapshot at %d was installed on a log at %d", at.Last, l.store.tip.Last)
	}
	l.term = max(l.term, at.Term)
	l.pending = slices.DeleteFunc(l.pending, func(p journal.Proposal) bool { return p.ID == 0 })
	l.lose(func(journal.Proposal) bool { return false })
	l.store.frames, l.store.tip, l.store.first = nil, at, at.Last+1
	l.notify(journal.Notice{Kind: journal.Installed, Snapshot: at.Last})
}

// Fail makes the next step fail with an error, which is final.
func (l *Log) Fail(err error) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	l.nextFailure = err
}
