package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
)

// NextArchived returns the first command of the oldest archived segment that begins at or behind a command, and
// false if there is none.
func (f *Files) NextArchived(from bourse.Seq) (bourse.Seq, bool, error) {
	k, err := f.kept()
	if err != nil {
		return 0, false, err
	}
	i := slices.IndexFunc(k.archived, func(first bourse.Seq) bool { return first >= from })
	if i < 0 {
		return 0, false, nil
	}
	return k.archived[i], true, nil
}

// CheckArchived reads the archived segment that begins with a command to its end. Damage is a *DamageError.
func (f *Files) CheckArchived(first bourse.Seq) error {
	name := archiveName(first)
	file, err := f.disk.Open(name)
	if err != nil {
		return err
	}
	_, err = unpackedSum(file)
	if err != nil {
		err = &DamageError{name, 0, first, err}
	}
	return errors.Join(err, file.Close())
}

// MendArchived writes an archived segment of a cluster's node again, with the entries of another node's journal. They
// must lead from the tip in its header, which must be whole, to that of the next segment. It may be called while the
// node runs.
func (f *Files) MendArchived(first bourse.Seq, others []*Files) error {
	head, err := f.archivedHeader(first)
	if err != nil {
		return err
	}
	following, err := f.behind(first)
	if err != nil {
		return err
	}
	if head.Replica == nil || following.Replica == nil {
		return ErrReplica
	}

	name := archiveName(first)
	plain := name + ".plain" + tempExt
	err = disk.Write(f.disk, plain, func(to disk.File) error {
		m := &mend{
			source: &segment{name: name, head: *head}, others: others, tip: head.Tip, at: head.Replica.At,
			to: to, unwritten: head.Bytes(), off: Block,
		}
		at := following.Replica.At
		if err := m.fetch(at.Index, func(e *Entry) bool { return e.Frame.Term == at.Term }); err != nil {
			return err
		}
		return m.flush()
	})
	if err != nil {
		return errors.Join(err, f.disk.Remove(plain))
	}
	return errors.Join(f.repack(first, plain, following), f.disk.Remove(plain))
}

// behind returns the header of the segment that follows an archived one.
func (f *Files) behind(first bourse.Seq) (*Header, error) {
	k, err := f.kept()
	if err != nil {
		return nil, err
	}
	for _, other := range slices.Concat(k.archived, k.live) {
		if other > first {
			return f.header(other)
		}
	}
	return nil, fmt.Errorf("no segment follows %s", archiveName(first))
}

// archivedHeader returns the header of an archived segment, whose other bytes may be damaged.
func (f *Files) archivedHeader(first bourse.Seq) (*Header, error) {
	name := archiveName(first)
	file, err := f.disk.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	size, err := file.Size()
	if err != nil {
		return nil, err
	}
	z, err := zstd.NewReader(io.NewSectionReader(file, 0, size), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true), zstd.IgnoreChecksum(true)) // the header has a checksum of its own
	if err != nil {
		return nil, &DamageError{name, 0, first, err}
	}
	defer z.Close()

	b := make([]byte, Block)
	if _, err := io.ReadFull(z, b); err != nil {
		return nil, &DamageError{name, 0, first, err}
	}
	s, err := f.newSegment(bytes.NewReader(b), Block, name, first)
	if err != nil {
		return nil, err
	}
	return &s.head, nil
}

// repack verifies a segment that was written again, and puts it, compressed, into the archive.
func (f *Files) repack(first bourse.Seq, plain string, following *Header) error {
	file, err := f.disk.Open(plain)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	size, err := file.Size()
	if err != nil {
		return err
	}
	s, err := f.newSegment(file, size, plain, first)
	if err != nil {
		return err
	}
	s.file = file
	if err := s.verify(following.First()); err != nil {
		return err
	}
	if s.tip != following.Tip || s.at != following.Replica.At {
		return fmt.Errorf("%s does not lead to the segment of command %d", plain, following.First())
	}
	sum, err := s.sum()
	if err != nil {
		return err
	}

	return f.putAway(s, archiveName(first), sum)
}
