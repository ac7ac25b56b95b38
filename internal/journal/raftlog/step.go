package raftlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// Step takes messages, ticks and proposals, and does what raft asks for: a leader's entries
// go out, everything is written and synced once, the other messages go out, and what is
// committed goes to Next. An error is final, and the process must stop.
func (l *Log) Step() (more bool, err error) {
	if err := l.usable(); err != nil {
		return false, err
	}
	more, err = l.step()
	return more, l.fail(err)
}

func (l *Log) step() (more bool, err error) {
	defer func() {
		if l.store.failed != nil {
			_ = recover()
			more, err = false, l.store.failed
		}
	}()
	l.receive()
	for ; l.ticks > 0; l.ticks-- {
		l.node.Tick()
	}
	if err := l.propose(); err != nil {
		return false, err
	}

	if l.node.HasReady() {
		ready := l.node.Ready()
		if err := l.handle(&ready); err != nil {
			return false, err
		}
		l.node.Advance(ready)
	}

	l.observe()
	return l.node.HasReady() || len(l.queue) > 0 && l.leads(), nil
}

// receive hands the messages to raft. A node whose notices nobody takes leaves out entries:
// it then counts as slow, and its memory stays bounded.
func (l *Log) receive() {
	l.mu.Lock()
	messages, slow := l.inbox, len(l.notices) > mostNotices
	l.inbox = nil
	l.mu.Unlock()

	for _, m := range messages {
		if slow && m.GetType() == raftpb.MsgApp || l.tells(m) {
			continue
		}
		_ = l.node.Step(m) // raft refuses messages of strangers
	}
}

// tells reports whether a message only tells a former leader of the term, which has come to it: a node answers so to a
// message of an older term that was late. A leader of this term would take entry 0 for where the node's log ends, and
// send nothing any more: no log has the entry before the first.
func (l *Log) tells(m *raftpb.Message) bool {
	return m.GetType() == raftpb.MsgAppResp && !m.GetReject() && m.GetIndex() == 0 && m.GetTerm() <= l.node.BasicStatus().GetTerm()
}

// propose stamps the proposals and hands them to raft: sequence, time, term and the hash of
// the frame before are the leader's. Proposals of a node that leads no more are dropped.
func (l *Log) propose() error {
	if len(l.queue) == 0 {
		return nil
	}
	if !l.leads() {
		for i := range l.queue {
			l.notify(journal.Notice{Kind: journal.Dropped, Proposal: l.queue[i].ID})
		}
		l.queue = nil
		return nil
	}

	tip, term := l.tip, l.node.BasicStatus().GetTerm()
	for _, p := range l.queue {
		f := journal.Frame{
			First: tip.Last + 1, Count: p.Count, Term: term, Time: max(tip.Time, p.Time),
			Previous: tip.Chain, Commands: p.Commands,
		}
		data, chain := f.Append(nil)

		switch err := l.node.Propose(data); {
		case errors.Is(err, raft.ErrProposalDropped):
			l.notify(journal.Notice{Kind: journal.Dropped, Proposal: p.ID})
			continue
		case err != nil:
			return fmt.Errorf("proposing command %d: %w", f.First, err)
		}
		p.at.Term = term
		l.flying = append(l.flying, p)
		tip = journal.Tip{Last: tip.Last + bourse.Seq(p.Count), Chain: chain, Term: term, Time: f.Time}
	}
	l.queue = nil
	return nil
}

// handle does what raft asks for, in an order that no crash can turn into a broken promise.
func (l *Log) handle(ready *raft.Ready) error {
	if !raft.IsEmptySnap(ready.Snapshot) {
		return errors.New("a snapshot came, and none was asked for")
	}

	for i := range ready.ReadStates {
		l.confirmed = max(l.confirmed, binary.BigEndian.Uint64(ready.ReadStates[i].RequestCtx))
	}

	voter := l.voter
	if h := ready.HardState; !raft.IsEmptyHardState(h) {
		voter.Term, voter.Vote = h.GetTerm(), h.GetVote()
	}
	promises := voter != l.voter

	// A leader's entries may go out before they are on its own disk: it counts itself
	// only afterwards. Heartbeats wait for the disk, so that a leader whose disk hangs is
	// replaced.
	early, late := sortOut(ready.Messages, !promises)
	l.deliver(early)

	if promises {
		if err := voter.Save(l.disk, l.identity); err != nil {
			return fmt.Errorf("voting: %w", err)
		}
		l.voter = voter
	}
	l.place(ready.Entries)
	// The entries record the commit that comes with them. A node that has acknowledged a change of the members must know
	// after a start that the one before it is committed: with the members before both, others could elect it beside a leader.
	l.told = ready.GetCommit()
	if err := l.append(ready.Entries); err != nil {
		return err
	}
	l.commitTo(min(ready.GetCommit(), l.at.Index))
	l.deliver(late)

	members := l.membersAt
	for _, e := range ready.CommittedEntries {
		if err := l.apply(e); err != nil {
			return err
		}
	}
	if l.membersAt == members {
		return nil
	}
	// A start must know that the change is committed. With the members before it, two nodes that begin again would wait for
	// the third, although it left or lost its disk.
	return l.prove()
}

// sortOut returns the messages that go out before the write, and those that go out after it.
func sortOut(messages []*raftpb.Message, ahead bool) (early, late []*raftpb.Message) {
	for _, m := range messages {
		if ahead && m.GetType() == raftpb.MsgApp {
			early = append(early, m)
		} else {
			late = append(late, m)
		}
	}
	return early, late
}

func (l *Log) deliver(messages []*raftpb.Message) {
	if len(messages) > 0 {
		l.send(messages)
	}
}

// place gives the proposals that fly their indexes, from the entries that raft has made of
// them.
func (l *Log) place(entries []*raftpb.Entry) {
	next := 0
	for next < len(l.flying) && l.flying[next].at.Index > 0 {
		next++
	}
	for _, e := range entries {
		if next == len(l.flying) {
			return
		}
		if e.GetType() == raftpb.EntryNormal && len(e.GetData()) > 0 && e.GetTerm() == l.flying[next].at.Term {
			l.flying[next].at.Index = e.GetIndex()
			next++
		}
	}
}

// apply hands a committed entry to Next. It is on this node's disk.
func (l *Log) apply(e *raftpb.Entry) error {
	if e.GetIndex() > l.at.Index {
		return fmt.Errorf("entry %d is committed, and %d is the last one written", e.GetIndex(), l.at.Index)
	}
	l.applied = e.GetIndex()
	own := l.land(e)

	switch {
	case e.GetType() == raftpb.EntryConfChangeV2:
		return l.change(e)
	case len(e.GetData()) == 0:
		if s := l.node.BasicStatus(); s.RaftState == raft.StateLeader && s.GetTerm() == e.GetTerm() {
			l.opened = e.GetTerm()
		}
		return nil
	}

	b, err := l.batch(e)
	if err != nil || b.Last() <= l.begun {
		return err
	}
	l.durable.Store(uint64(b.Last()))
	l.notify(journal.Notice{Kind: journal.Committed, Proposal: own, Batch: b})
	return nil
}

// batch returns the batch of an entry.
func (l *Log) batch(e *raftpb.Entry) (journal.Batch, error) {
	if i := l.find(e.GetIndex()); i != nil {
		return i.batch, nil
	}
	var f journal.Frame
	_, chain, err := journal.ParseFrame(e.GetData(), &f)
	return f.Batch(chain), err
}

// land returns the ID of this process's proposal that became an entry, zero if none did.
// Terms never go back in a log, so an entry of a later term proves that earlier proposals
// which are not in the log never will be.
func (l *Log) land(e *raftpb.Entry) (own uint64) {
	at := journal.Position{Index: e.GetIndex(), Term: e.GetTerm()}
	for len(l.flying) > 0 {
		p := &l.flying[0]
		switch {
		case p.at == at:
			own = p.ID
		case p.at.Term < at.Term:
			l.notify(journal.Notice{Kind: journal.Dropped, Proposal: p.ID})
		default:
			return own
		}
		l.flying = l.flying[1:]
	}
	return own
}

// change applies a change of members.
func (l *Log) change(e *raftpb.Entry) error {
	c, err := changeOf(e)
	if err != nil {
		return err
	}
	l.members, l.membersAt = l.node.ApplyConfChange(c), e.GetIndex()
	l.changes = slices.DeleteFunc(l.changes, func(index uint64) bool { return index <= l.membersAt })
	if l.changed == nil {
		return nil
	}
	return l.changed(&Change{Index: e.GetIndex(), Context: c.GetContext(), Nodes: nodesOf(l.members)})
}

// observe refreshes the status.
func (l *Log) observe() {
	b := l.node.BasicStatus()
	s := Status{
		Node: l.voter.Node, Term: b.GetTerm(), Leader: b.Lead, Role: Replica,
		Commit: l.commit, Applied: l.applied, Last: l.at, Voters: l.members.GetVoters(),
	}
	switch b.RaftState {
	case raft.StateLeader:
		s.Role, s.Open = Leader, l.opened == s.Term
	case raft.StateCandidate, raft.StatePreCandidate:
		s.Role = Candidate
	default:
		if !slices.Contains(l.members.GetVoters(), s.Node) {
			s.Role = Learner // also one that has not reached the entry that it came with
		}
	}

	l.mu.Lock()
	l.status = s
	l.mu.Unlock()
	l.announce(&s) // whom its notice wakes reads the new status
}

// announce notifies of a change of this node's role.
func (l *Log) announce(s *Status) {
	leads := uint64(0)
	if s.Open {
		leads = s.Term
	}
	if leads == l.led {
		return
	}
	if l.led != 0 {
		l.notify(journal.Notice{Kind: journal.Role, Term: s.Term})
	}
	if leads != 0 {
		l.notify(journal.Notice{Kind: journal.Role, Leads: true, Term: s.Term})
	}
	l.led = leads
}

// Close finishes the pending proposals, gives those that it cannot finish a Lost notice,
// seals the log and releases it. A failed log is only released, without notices.
func (l *Log) Close() error {
	if l.closed {
		return nil
	}
	var err error
	if l.failed == nil {
		err = l.finish()
	}
	l.closed = true
	return errors.Join(err, l.release())
}

func (l *Log) finish() error {
	for more := true; more; {
		var err error
		if more, err = l.Step(); err != nil {
			return err
		}
	}
	for _, p := range append(l.flying, l.queue...) {
		l.notify(journal.Notice{Kind: journal.Lost, Proposal: p.ID})
	}
	l.flying, l.queue = nil, nil
	if l.last == journal.EntrySeal {
		return nil
	}
	return l.mark(journal.EntrySeal)
}

// release closes the files and the lock.
func (l *Log) release() error {
	return errors.Join(l.spare.Close(), l.seg.close(), l.lock.Close())
}
