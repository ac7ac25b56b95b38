package raftlog

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log"
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/segments"
)

const (
	defaultSegment = 64 << 20
	// leastSegment has room for a header, an entry, a mark and a seal.
	leastSegment = 8 * journal.Block
	mostSegment  = 1 << 30
)

// Limits of raft. A tick is 20 ms, so elections begin 200 to 400 ms after the leader's last
// message.
const (
	electionTicks  = 10
	heartbeatTicks = 2
	// mostPerMessage bounds the entries of a message, mostInflight those on their way to
	// a node, mostApplied those of a step that are applied, in bytes.
	mostPerMessage   = 1 << 20
	mostInflight     = 16 << 20
	mostApplied      = 4 << 20
	inflightMessages = 256
)

// FirstTerm is the term of a new cluster, before any election.
const FirstTerm = 1

// Options configure a log.
type Options struct {
	journal.Options
	// Send sends messages to the nodes that they name. Step calls it, and it must not
	// wait. The messages must not be changed.
	Send func([]*raftpb.Message)
	// Changed, if not nil, gets each change of the members that was applied, in Step; after a start it gets
	// changes again. An error is final.
	Changed func(*Change) error
	// MostApplied bounds the committed entries that a step hands to Next, in bytes. It hands at least
	// one. Zero means mostApplied.
	MostApplied uint64
}

// Cluster is the beginning of a cluster, equal on all of its first nodes.
type Cluster struct {
	Identity journal.Identity
	// Tip is the tip of the journal that the cluster continues, zero for a new exchange.
	Tip journal.Tip
	// Nodes are the ids of the first voters.
	Nodes []uint64
	// SegmentSize is as in journal.Options.
	SegmentSize int64
}

// Init makes the journal of a cluster's node in an empty data directory. After a crash it
// can be called again. The error is journal.ErrInUse if another process has the directory.
func Init(d disk.Disk, c *Cluster, node uint64) error {
	size, err := segmentSize(c.SegmentSize)
	if err != nil {
		return err
	}
	if node == raft.None || len(c.Nodes) == 0 || len(c.Nodes) > mostNodes || !slices.Contains(c.Nodes, node) {
		return fmt.Errorf("node %d is not one of %v", node, c.Nodes)
	}
	lock, err := acquire(d)
	if err != nil {
		return err
	}
	if err := begun(d); err != nil {
		return errors.Join(err, lock.Close())
	}
	return errors.Join(create(d, c, node, size), lock.Close())
}

// begun returns an error if a directory has a journal.
func begun(d disk.Disk) error {
	_, ok, err := journal.Identify(d)
	if ok {
		return errors.Join(err, errThere)
	}
	return err
}

// acquire makes the journal's directory and locks it.
func acquire(d disk.Disk) (io.Closer, error) {
	if err := segments.MakeDir(d, journal.LiveDir); err != nil {
		return nil, err
	}
	return journal.Lock(d)
}

// create makes the journal of one of the first nodes, in a directory that is locked.
func create(d disk.Disk, c *Cluster, node uint64, size int64) error {
	at := journal.Position{Index: journal.FirstIndex, Term: max(FirstTerm, c.Tip.Term)}
	s := &store{disk: d, identity: c.Identity, at: at, tip: c.Tip, commit: at.Index}
	s.members, s.membersAt = &raftpb.ConfState{Voters: c.Nodes}, at.Index
	return s.create(node, size)
}

// begin makes the first segment, which has a mark.
func (s *store) begin() error {
	if err := s.rotate(leastSegment); err != nil {
		return err
	}
	if err := s.mark(journal.EntrySeal); err != nil {
		return err
	}
	return s.name()
}

func segmentSize(size int64) (int64, error) {
	size = (size + journal.Block - 1) / journal.Block * journal.Block
	switch {
	case size == 0:
		return defaultSegment, nil
	case size < leastSegment || size > mostSegment:
		return 0, fmt.Errorf("segments of %d bytes: not between %d and %d", size, leastSegment, mostSegment)
	}
	return size, nil
}

// Open opens the journal of a cluster's node. It verifies every live segment. What follows
// the known commit waits for raft. Errors are those of filelog.Open; a *journal.DamageError
// means that the node may have forgotten what it acknowledged, and must not vote again
// under its id.
func Open(d disk.Disk, o Options) (*Log, *journal.Recovery, error) {
	l, r, err := load(d, &o)
	if err != nil {
		return nil, nil, err
	}
	if err := l.start(cmp.Or(o.MostApplied, mostApplied)); err != nil {
		return nil, nil, errors.Join(err, l.release())
	}
	return l, r, nil
}

// load is Open without raft.
func load(d disk.Disk, o *Options) (*Log, *journal.Recovery, error) {
	size, err := segmentSize(o.SegmentSize)
	if err != nil {
		return nil, nil, err
	}
	lock, err := acquire(d)
	if err != nil {
		return nil, nil, err
	}

	l := &Log{
		files: journal.NewFiles(d, o.Identity), lock: lock, send: o.Send, changed: o.Changed,
		wake: make(chan struct{}, 1), ready: make(chan struct{}, 1),
		store: store{disk: d, identity: o.Identity, spare: segments.NewSpare(d, size, o.Reserve)},
	}
	r, err := l.recover(o.Progress)
	if err != nil {
		return nil, nil, errors.Join(err, l.release())
	}
	return l, r, nil
}

// recover verifies the journal and continues at its end.
func (l *Log) recover(progress func(done, total int64)) (*journal.Recovery, error) {
	// The previous process may have crashed before it made a segment's name durable.
	if err := l.disk.SyncDir(journal.LiveDir); err != nil {
		return nil, err
	}
	end, committed, err := l.read(progress)
	if err != nil {
		return nil, err
	}
	l.begun = committed.Last
	l.durable.Store(uint64(committed.Last))

	torn, err := l.mend(&end)
	if err != nil {
		return nil, err
	}
	return &journal.Recovery{
		Tip: committed, First: end.First, Frames: end.Frames, Sealed: end.Last == journal.EntrySeal, Torn: torn,
	}, l.mark(journal.EntryMark)
}

// read verifies the journal and the promise, and returns the tip at the known commit. It writes nothing.
func (l *Log) read(progress func(done, total int64)) (end journal.End, committed journal.Tip, err error) {
	end, ok, err := l.files.Walk(progress, l.visit)
	switch {
	case err != nil:
		return end, committed, err
	case !ok:
		return end, committed, fmt.Errorf("%s: there is no journal of a cluster's node", journal.LiveDir)
	case end.Segment.Replica == nil:
		return end, committed, fmt.Errorf("%s: %w", end.Segment.Name(), journal.ErrReplica)
	}
	if l.voter, err = journal.LoadVoter(l.disk, l.identity); err != nil {
		return end, committed, err
	}
	if l.voter.Term < end.At.Term {
		return end, committed, l.voter.Older(end.At.Term)
	}
	l.at, l.tip = end.At, end.Tip
	return end, l.settle(), nil
}

// visit remembers an entry that a start finds.
func (l *Log) visit(h *journal.Header, off int64, e *journal.Entry, tip *journal.Tip) {
	if h.Replica == nil {
		return
	}
	if n := len(l.parts); n == 0 || l.parts[n-1].head.First() != h.First() {
		l.turn(h)
	}

	from, before := l.at, l.tip
	at := journal.Position{Index: e.Index, Term: from.Term}
	if e.Kind.Replicated() {
		at.Term = e.Frame.Term
		l.note(at, e.Kind, off)
	}
	l.tail = append(l.tail, place{at: at, kind: e.Kind, off: off, from: from, tip: before, part: l.part()})
	l.tip, l.last, l.proven = *tip, e.Kind, e.Commit
	l.part().end = off + int64(e.Size)
	l.commitTo(max(e.Commit, h.Replica.MembersAt))
}

// turn begins a segment that a start finds.
func (l *Log) turn(h *journal.Header) {
	if len(l.parts) == 0 {
		// Entries in the archive and before the cluster are committed.
		l.commit, l.at, l.tip = h.Replica.At.Index, h.Replica.At, h.Tip
		l.terms = []journal.Position{h.Replica.At}
	}
	l.parts = append(l.parts, &part{head: *h})
}

// settle returns the tip at the known commit, and decides with which members raft begins:
// those of the newest segment that begins at or below the commit. Raft applies the committed
// entries behind it again.
func (l *Log) settle() journal.Tip {
	for _, p := range slices.Backward(l.parts) {
		if r := p.head.Replica; r.At.Index <= l.commit {
			l.applied, l.membersAt = r.At.Index, r.MembersAt
			break
		}
	}
	if len(l.tail) > 0 {
		return l.tail[0].tip
	}
	return l.tip
}

// mend cuts a torn end and makes the entries before it durable.
func (l *Log) mend(end *journal.End) (*journal.CutEnd, error) {
	file, err := l.disk.Edit(end.Segment.Name())
	if err != nil {
		return nil, err
	}
	if err := l.resume(file, end.Offset); err != nil {
		return nil, err
	}

	var cut *journal.CutEnd
	if torn := end.Torn; torn != nil {
		name, err := segments.Keep(l.disk, file, torn)
		if err != nil {
			return nil, fmt.Errorf("keeping what is torn: %w", err)
		}
		if err := segments.Zero(file, torn.From, torn.To); err != nil {
			return nil, err
		}
		cut = &journal.CutEnd{Torn: *torn, Copy: name}
	}
	return cut, segments.Confirm(file, end)
}

// start starts raft. A step applies at most that many bytes.
func (l *Log) start(applied uint64) error {
	for _, p := range l.parts {
		if p.head.Replica.At.Index == l.applied {
			var err error
			if l.members, err = parseMembers(p.head.Replica.Members); err != nil {
				return &journal.DamageError{File: p.head.Name(), Seq: p.head.First(), Cause: err}
			}
		}
	}

	var err error
	l.node, err = raft.NewRawNode(&raft.Config{
		ID: l.voter.Node, Storage: &l.store, Applied: l.applied,
		ElectionTick: electionTicks, HeartbeatTick: heartbeatTicks,
		MaxSizePerMsg: mostPerMessage, MaxCommittedSizePerReady: applied,
		MaxInflightMsgs: inflightMessages, MaxInflightBytes: mostInflight,
		PreVote: true, CheckQuorum: true, DisableProposalForwarding: true, StepDownOnRemoval: true,
		Logger: &raft.DefaultLogger{Logger: log.New(io.Discard, "", 0)},
	})
	if err == nil {
		l.observe()
	}
	return err
}
