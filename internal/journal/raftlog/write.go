package raftlog

import (
	"fmt"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// segment is the file being written.
type segment struct {
	file disk.File
	// off is the offset behind the last entry, size the file's length. The entries below
	// synced are durable.
	off, size, synced int64
	// unwritten are the entries that end at off and are not in the file yet.
	unwritten []byte
}

// close closes the file, if there is one.
func (g *segment) close() error {
	if g.file == nil {
		return nil
	}
	return g.file.Close()
}

// place is the place of an entry that is not known to be committed, and of a mark behind it.
type place struct {
	// at is the position of the entry, or of the entry before a mark.
	at   journal.Position
	kind journal.EntryKind
	off  int64
	// from and tip are the position and the tip before the entry.
	from journal.Position
	tip  journal.Tip
	// part is the segment that holds it.
	part *part
}

// blanks is the space that an entry leaves in its segment for a mark and a seal.
var blanks = 2 * int64(journal.ReplicaRoom(journal.FrameSize(0)))

// append writes entries of raft and makes them durable: one write and one sync, more only
// where a segment ends. Entries that they replace are cut first. Every error is final.
func (s *store) append(entries []*raftpb.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	switch first := entries[0].GetIndex(); {
	case first <= s.commit:
		return fmt.Errorf("entry %d is to be replaced, which is committed", first)
	case first <= s.at.Index:
		if err := s.cut(first); err != nil {
			return fmt.Errorf("cutting entry %d: %w", first, err)
		}
	case first != s.at.Index+1:
		return fmt.Errorf("entry %d came behind entry %d", first, s.at.Index)
	}

	for _, e := range entries {
		i, err := newItem(e, &s.tip)
		if err != nil {
			return err
		}
		if err := s.put(&i); err != nil {
			return fmt.Errorf("writing the journal behind command %d: %w", s.tip.Last, err)
		}
	}
	return s.flush()
}

// put adds an entry behind the others.
func (s *store) put(i *item) error {
	at := i.position()
	if at.Index != s.at.Index+1 || at.Term < s.at.Term {
		return fmt.Errorf("entry %+v came behind %+v", at, s.at)
	}

	size := int64(journal.ReplicaRoom(len(i.frame)))
	if s.seg.off+size+blanks > s.seg.size {
		if err := s.makeRoom(size + blanks); err != nil {
			return err
		}
	}

	off := s.seg.off
	s.tail = append(s.tail, place{at: at, kind: i.kind, off: off, from: s.at, tip: s.tip, part: s.part()})
	s.write(&journal.Entry{Kind: i.kind, Index: at.Index}, i.frame)
	s.note(at, i.kind, off)
	s.tip = i.tip
	s.remember(i)
	if s.unnamed {
		return s.name()
	}
	return nil
}

// write adds an entry to those that flush writes.
func (s *store) write(e *journal.Entry, frame []byte) {
	e.Synced, e.Commit = s.seg.synced, min(max(s.commit, s.told), e.Index)
	s.seg.unwritten = s.part().head.Append(s.seg.unwritten, s.seg.off, e, frame)
	s.seg.off += int64(e.Size)
	s.last, s.proven = e.Kind, e.Commit
	s.spare.Use(s.seg.off)
}

// flush writes the entries that were added and makes them durable.
func (s *store) flush() error {
	g := &s.seg
	if len(g.unwritten) == 0 {
		return nil
	}
	if _, err := g.file.WriteAt(g.unwritten, g.off-int64(len(g.unwritten))); err != nil {
		return err
	}
	g.unwritten = g.unwritten[:0]
	if err := g.file.Sync(); err != nil {
		return err
	}
	g.synced = g.off
	return nil
}

// makeRoom ends the segment, or extends it: one without commands, because its successor would
// have its name, and one behind which the members are not known.
func (s *store) makeRoom(size int64) error {
	if s.tip.Last < s.part().head.First() || s.membersPending() {
		var err error
		s.seg.size, err = s.spare.Grow(s.seg.file, s.seg.size, s.seg.off+size)
		return err
	}
	if err := s.flush(); err != nil {
		return err
	}
	return s.rotate(size)
}

// rotate begins the next segment, which name names once its first entry is durable.
func (s *store) rotate(size int64) error {
	if err := s.spare.Complete(journal.Block + size); err != nil {
		return err
	}
	if err := s.seg.close(); err != nil {
		return err
	}

	if len(s.parts) > 0 {
		s.part().end = s.seg.off
	}
	head := journal.Header{Identity: s.identity, Tip: s.tip, Replica: &journal.Replica{
		At: s.at, Members: appendMembers(nil, s.members), MembersAt: s.membersAt,
	}}
	file, length := s.spare.Take()
	s.seg = segment{
		file: file, off: journal.Block, size: length, synced: journal.Block, unwritten: s.seg.unwritten[:0],
	}
	s.parts = append(s.parts, &part{head: head})
	s.unnamed = true
	_, err := file.WriteAt(head.Bytes(), 0)
	return err
}

// name makes the first entry of a segment durable and names the segment.
func (s *store) name() error {
	if err := s.flush(); err != nil {
		return err
	}
	s.unnamed = false
	return s.spare.Name(&s.part().head)
}

// prove writes a mark for the commit. A segment without room for it grows.
func (s *store) prove() error {
	if size := s.seg.off + blanks; size > s.seg.size && s.proven < s.commit {
		var err error
		if s.seg.size, err = s.spare.Grow(s.seg.file, s.seg.size, size); err != nil {
			return fmt.Errorf("making room for a mark behind command %d: %w", s.tip.Last, err)
		}
	}
	return s.mark(journal.EntryMark)
}

// mark writes an entry without commands: a mark, unless nothing is new since the last one or
// the segment has no room for it and a seal; or a seal.
func (s *store) mark(kind journal.EntryKind) error {
	f := journal.Frame{First: s.tip.Last + 1, Term: s.tip.Term, Time: s.tip.Time, Previous: s.tip.Chain}
	frame, _ := f.Append(nil)
	room := int64(journal.ReplicaRoom(len(frame)))
	if kind == journal.EntryMark {
		if !s.last.Replicated() && s.proven == min(s.commit, s.at.Index) || s.seg.off+2*room > s.seg.size {
			return nil
		}
	}

	if s.at.Index > s.commit {
		s.tail = append(s.tail, place{at: s.at, kind: kind, off: s.seg.off, from: s.at, tip: s.tip, part: s.part()})
	}
	s.write(&journal.Entry{Kind: kind, Index: s.at.Index}, frame)
	if err := s.flush(); err != nil {
		return fmt.Errorf("marking the journal behind command %d: %w", s.tip.Last, err)
	}
	return nil
}
