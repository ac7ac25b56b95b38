package raftlog

import (
	"errors"
	"io"
	"io/fs"
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/segments"
)

const (
	// signpost is the number of entries between two whose offsets are remembered.
	signpost = 32
	// mostRecent bounds the applied entries in memory, in bytes, mostItems their number.
	// Twice as many are dropped at once, so that an entry does not cost a copy of the list.
	mostRecent = 16 << 20
	mostItems  = 8192
	// readAhead is the size of a read of old entries, above the largest entry.
	readAhead = 1 << 20
)

// part is a segment of the live journal.
type part struct {
	head journal.Header
	// posts are the offsets of every signpost-th entry, ascending.
	posts []post
	// end is the offset behind the last entry. It is set when the next segment begins.
	end int64
}

type post struct {
	index uint64
	off   int64
}

// store is raft's log in segments. It is owned by the goroutine that calls Step.
type store struct {
	disk     disk.Disk
	identity journal.Identity
	spare    *segments.Spare

	// seg is the end of the last of parts; unnamed is true until that has its name.
	seg     segment
	parts   []*part
	unnamed bool
	// at and tip are the position and the tip behind the last entry.
	at  journal.Position
	tip journal.Tip
	// last is the kind of the last entry, proven the commit that it has.
	last   journal.EntryKind
	proven uint64
	// tail are the places of the entries that are not known to be committed.
	tail []place

	// commit is the last index known to be committed, applied the last one that was
	// applied; told is the commit that came with the entries to write, which record it.
	commit, applied, told uint64
	voter                 journal.Voter
	// members are those at the last change that was applied, with its index.
	members   *raftpb.ConfState
	membersAt uint64
	// changes are the indexes of the changes of members in the log, ascending. A change that
	// was applied may be missing.
	changes []uint64

	// terms are the first positions of each term, the first of them before any entry.
	terms []journal.Position
	// recent are the last entries, without a gap, of recentBytes.
	recent      []item
	recentBytes int
	// failed is the error of a read of old entries, with which raft panics.
	failed error
}

var _ raft.Storage = (*store)(nil)

// part returns the segment being written.
func (s *store) part() *part { return s.parts[len(s.parts)-1] }

// InitialState implements [raft.Storage].
func (s *store) InitialState() (*raftpb.HardState, *raftpb.ConfState, error) {
	return &raftpb.HardState{
		Term: new(s.voter.Term), Vote: new(s.voter.Vote), Commit: new(s.commit),
	}, s.members, nil
}

// FirstIndex implements [raft.Storage].
func (s *store) FirstIndex() (uint64, error) { return s.parts[0].head.Replica.At.Index + 1, nil }

// LastIndex implements [raft.Storage].
func (s *store) LastIndex() (uint64, error) { return s.at.Index, nil }

// Snapshot implements [raft.Storage]. A follower that needs one waits.
func (s *store) Snapshot() (*raftpb.Snapshot, error) {
	return nil, raft.ErrSnapshotTemporarilyUnavailable
}

// Term implements [raft.Storage].
func (s *store) Term(index uint64) (uint64, error) {
	switch {
	case index < s.parts[0].head.Replica.At.Index:
		return 0, raft.ErrCompacted
	case index > s.at.Index:
		return 0, raft.ErrUnavailable
	}
	for _, p := range slices.Backward(s.terms) {
		if p.Index <= index {
			return p.Term, nil
		}
	}
	return 0, raft.ErrCompacted
}

// note remembers the position, the kind and the offset of an entry.
func (s *store) note(at journal.Position, kind journal.EntryKind, off int64) {
	if kind == journal.EntryMembers {
		s.changes = append(s.changes, at.Index)
	}
	if at.Term != s.at.Term {
		s.terms = append(s.terms, at)
	}
	p := s.part()
	if n := len(p.posts); n == 0 || at.Index-p.posts[n-1].index >= signpost {
		p.posts = append(p.posts, post{at.Index, off})
	}
	s.at = at
}

// remember keeps an entry in memory.
func (s *store) remember(i *item) {
	s.recent = append(s.recent, *i)
	s.recentBytes += len(i.frame)
	if s.recentBytes < 2*mostRecent && len(s.recent) < 2*mostItems {
		return
	}

	n := 0
	for (s.recentBytes > mostRecent || len(s.recent)-n > mostItems) && s.recent[n].entry.GetIndex() < s.applied {
		s.recentBytes -= len(s.recent[n].frame)
		n++
	}
	s.recent = slices.Delete(s.recent, 0, n)
}

// forget removes all memory of the entries from an index on.
func (s *store) forget(from uint64) {
	s.terms = slices.DeleteFunc(s.terms, func(p journal.Position) bool { return p.Index >= from })
	p := s.part()
	p.posts = slices.DeleteFunc(p.posts, func(p post) bool { return p.index >= from })
	s.recent = slices.DeleteFunc(s.recent, func(i item) bool { return i.entry.GetIndex() >= from })
	s.changes = slices.DeleteFunc(s.changes, func(index uint64) bool { return index >= from })
	s.recentBytes = 0
	for i := range s.recent {
		s.recentBytes += len(s.recent[i].frame)
	}
}

// find returns an entry in memory.
func (s *store) find(index uint64) *item {
	if len(s.recent) == 0 {
		return nil
	}
	first := s.recent[0].entry.GetIndex()
	if index < first || index >= first+uint64(len(s.recent)) {
		return nil
	}
	return &s.recent[index-first]
}

// commitTo records the last index known to be committed.
func (s *store) commitTo(index uint64) {
	s.commit = max(s.commit, index)
	n := 0
	for n < len(s.tail) && s.tail[n].at.Index <= s.commit {
		n++
	}
	s.tail = slices.Delete(s.tail, 0, n)
}

// membersPending reports whether the log has a change of members that was not applied.
func (s *store) membersPending() bool {
	n := len(s.changes)
	return n > 0 && s.changes[n-1] > s.membersAt
}

// Entries implements [raft.Storage].
func (s *store) Entries(lo, hi, most uint64) ([]*raftpb.Entry, error) {
	switch first, _ := s.FirstIndex(); {
	case lo < first:
		return nil, raft.ErrCompacted
	case hi > s.at.Index+1:
		return nil, raft.ErrUnavailable
	}

	var list []*raftpb.Entry
	size := uint64(0)
	take := func(e *raftpb.Entry) bool {
		size += uint64(len(e.GetData())) + 16
		if len(list) > 0 && size > most {
			return false
		}
		list = append(list, e)
		return lo+uint64(len(list)) < hi
	}

	for i := s.find(lo); i != nil; i = s.find(lo + uint64(len(list))) {
		if !take(i.entry) {
			return list, nil
		}
	}
	if len(list) > 0 {
		return list, nil
	}
	err := s.read(lo, take)
	if err != nil && !errors.Is(err, raft.ErrCompacted) {
		s.failed = err
	}
	return list, err
}

// read reads old entries from an index on until take returns false or their segment ends.
func (s *store) read(from uint64, take func(*raftpb.Entry) bool) error {
	n := len(s.parts) - 1
	for n > 0 && s.parts[n].head.Replica.At.Index >= from {
		n--
	}

	p := s.parts[n]
	file, err := s.disk.Open(p.head.Name())
	if errors.Is(err, fs.ErrNotExist) && n < len(s.parts)-1 {
		s.parts = s.parts[n+1:] // it moved to the archive
		return raft.ErrCompacted
	}
	if err != nil {
		return err
	}
	return errors.Join(p.read(file, from, take), file.Close())
}

// read reads entries of a segment's file.
func (p *part) read(file disk.File, from uint64, take func(*raftpb.Entry) bool) error {
	off := int64(journal.Block)
	for _, post := range p.posts {
		if post.index <= from {
			off = post.off
		}
	}

	buf := make([]byte, readAhead)
	for {
		n, err := file.ReadAt(buf, off)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		// Entries alias the bytes, so each read has its own.
		b, used, failed := buf[:n:n], 0, error(nil)
		for used < n {
			var e journal.Entry
			if failed = p.head.ParseFirst(b[used:], off+int64(used), &e); failed != nil {
				break
			}
			used += e.Size
			if e.Kind.Replicated() && e.Index >= from && !take(entryOf(&e)) {
				return nil
			}
		}

		switch {
		case used > 0:
			off, buf = off+int64(used), make([]byte, readAhead)
		case p.end > 0 && off >= p.end:
			return nil
		default:
			return &journal.DamageError{File: p.head.Name(), Offset: off, Seq: p.head.First(), Cause: failed}
		}
	}
}
