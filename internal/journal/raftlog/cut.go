package raftlog

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/segments"
)

// cut removes the entries from an index on, which a later leader has refused. It keeps a copy.
// Entries go last to first, each durably before the next, so that every crash leaves a
// journal with a prefix of them.
func (s *store) cut(from uint64) error {
	first := slices.IndexFunc(s.tail, func(p place) bool { return p.kind.Replicated() && p.at.Index >= from })
	if first < 0 {
		return fmt.Errorf("entry %d has no place", from)
	}

	refused := s.tail[first:]
	for s.part() != refused[0].part {
		if err := s.removeLast(); err != nil {
			return err
		}
	}
	var err error
	if refused[0].off == journal.Block && len(s.parts) > 1 {
		err = s.removeLast()
	} else {
		err = s.zero(refused)
	}
	if err != nil {
		return err
	}

	s.tip, s.at = refused[0].tip, refused[0].from
	// The watermarks that are cut proved that the entries before them are durable. With these
	// values the next call of mark writes that proof again, also behind a mark.
	s.last, s.proven = journal.EntryBatch, 0
	s.tail = s.tail[:first]
	s.forget(from)
	return nil
}

// removeLast moves the last segment, all of whose entries are refused, and continues in the
// one before.
func (s *store) removeLast() error {
	if err := s.seg.file.Close(); err != nil {
		return err
	}
	if err := segments.MakeDir(s.disk, journal.TornDir); err != nil {
		return err
	}
	last := s.part()
	name, err := s.unused(journal.TornDir + "/" + path.Base(last.head.Name()))
	if err != nil {
		return err
	}
	if err := s.disk.Rename(last.head.Name(), name); err != nil {
		return err
	}
	if err := errors.Join(s.disk.SyncDir(journal.TornDir), s.disk.SyncDir(journal.LiveDir)); err != nil {
		return err
	}

	s.parts = s.parts[:len(s.parts)-1]
	file, err := s.disk.Edit(s.part().head.Name())
	if err != nil {
		return err
	}
	return s.resume(file, s.part().end)
}

// unused returns a name that no file has: this one, or it with a number.
func (s *store) unused(base string) (string, error) {
	name := base
	for n := 2; ; n++ {
		file, err := s.disk.Open(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return name, nil
		case err != nil:
			return "", err
		}
		if err := file.Close(); err != nil {
			return "", err
		}
		name = fmt.Sprintf("%s.%d", base, n)
	}
}

// resume continues writing in a file, at an offset.
func (s *store) resume(file disk.File, off int64) error {
	size, err := file.Size()
	s.seg = segment{file: file, off: off, size: size, synced: off, unwritten: s.seg.unwritten[:0]}
	return err
}

// zero writes zeros over entries of the current segment.
func (s *store) zero(refused []place) error {
	file, begin, end := s.seg.file, refused[0].off, s.seg.off
	torn := &journal.Torn{File: s.part().head.Name(), From: begin, To: end, Seq: refused[0].tip.Last + 1}
	if _, err := segments.Keep(s.disk, file, torn); err != nil {
		return err
	}

	for _, p := range slices.Backward(refused) {
		if p.part != s.part() {
			continue
		}
		if err := segments.Zero(file, p.off, end); err != nil {
			return err
		}
		if err := file.Sync(); err != nil {
			return err
		}
		end = p.off
	}
	s.seg.off, s.seg.synced = begin, begin
	return nil
}
