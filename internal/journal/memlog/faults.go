package memlog

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// Chaos has the probabilities of misbehaviour per step, each in thousandths.
type Chaos struct {
	// Delay: the step commits nothing.
	Delay int
	// Reorder: another proposal than the oldest is next.
	Reorder int
	// Drop: the oldest proposal gets no notice before the term changes.
	Drop int
	// Term: the term changes. Keep is the probability that a pending proposal is then
	// still committed.
	Term, Keep int
}

// SetChaos sets the probabilities for later steps.
func (l *Log) SetChaos(c Chaos) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	l.chaos = c
}

// hit draws an event with a probability of n in a thousand.
func (l *Log) hit(n int) bool { return n > 0 && l.chance.IntN(1000) < n }

// misbehave draws faults; it reports whether they take up the step.
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

// Hold makes steps commit nothing until Release, as if the other processes were
// unreachable.
func (l *Log) Hold() { l.hold(true) }

// Release ends Hold.
func (l *Log) Release() { l.hold(false) }

// SetFull makes steps refuse proposals, like a full disk, or ends that.
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

// Reverse reverses the order of the pending proposals.
func (l *Log) Reverse() {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	slices.Reverse(l.pending)
}

// Drop drops a pending proposal: it gets no notice before the term changes. It reports
// whether there was one.
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

// ChangeTerm begins a new term: every pending proposal is lost. Those for which keep
// returns true have reached the new leader and are committed by later steps; the others,
// all if keep is nil, are truncated.
func (l *Log) ChangeTerm(keep func(id uint64) bool) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	l.changeTerm(func(p journal.Proposal) bool { return keep != nil && keep(p.ID) })
}

func (l *Log) changeTerm(keep func(journal.Proposal) bool) {
	l.term++
	l.lose(keep)
}

// lose answers all pending proposals of this process with a Lost notice.
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

// Depose makes another process the leader: pending proposals are dropped, and later ones refused
// until Elect.
func (l *Log) Depose() {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	l.term++
	l.follows = true
	l.notify(journal.Notice{Kind: journal.Role, Term: l.term})
	for _, p := range l.pending {
		l.notify(journal.Notice{Kind: journal.Dropped, Proposal: p.ID})
	}
	l.pending = nil
}

// Elect makes this process the leader.
func (l *Log) Elect() {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	l.term++
	l.follows = false
	l.notify(journal.Notice{Kind: journal.Role, Leads: true, Term: l.term})
}

// Elsewhere commits a proposal of another process at once. Its ID is ignored.
func (l *Log) Elsewhere(p journal.Proposal) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	p.Commands = slices.Clone(p.Commands)
	l.notify(journal.Notice{Kind: journal.Committed, Batch: l.store.commit(l.term, &p)})
}

// Install installs a snapshot that ends at a tip, as if the log had fallen too far behind
// for batches. Pending proposals are lost, and nothing before the snapshot can be read.
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

// Fail makes the next step fail with a final error.
func (l *Log) Fail(err error) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	l.nextFailure = err
}
