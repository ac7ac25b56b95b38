package filelog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

const (
	// defaultSegment makes new segments rare (one a second at a million commands per
	// second) and quick to prepare.
	defaultSegment = 64 << 20
	mostSegment    = 1 << 30
)

// Open opens the journal of a data directory, or creates one. It verifies every live
// segment. Errors are journal.ErrInUse, ErrOtherExchange, ErrSandbox, ErrNewerFormat,
// ErrOlderFormat, ErrReplica, and *journal.DamageError.
func Open(d disk.Disk, o journal.Options) (*Log, *journal.Recovery, error) {
	l, err := newLog(d, &o)
	if err != nil {
		return nil, nil, err
	}
	r, err := l.recover(&o)
	if err != nil {
		return nil, nil, errors.Join(err, l.release())
	}
	return l, r, nil
}

// newLog checks the options and takes the lock.
func newLog(d disk.Disk, o *journal.Options) (*Log, error) {
	size := (o.SegmentSize + journal.Block - 1) / journal.Block * journal.Block
	switch {
	case size == 0:
		size = defaultSegment
	case size < 2*journal.Block || size > mostSegment:
		return nil, fmt.Errorf("segments of %d bytes: not between %d and %d",
			o.SegmentSize, 2*journal.Block, mostSegment)
	}

	if err := makeDir(d, journal.LiveDir); err != nil {
		return nil, err
	}
	lock, err := journal.Lock(d)
	if err != nil {
		return nil, err
	}

	l := &Log{
		disk: d, files: journal.NewFiles(d, o.Identity), lock: lock,
		ready: make(chan struct{}, 1),
		spare: spare{disk: d, size: size, reserve: o.Reserve, behind: make(chan struct{}, 1)},
	}
	l.segment.head.Identity = o.Identity
	return l, nil
}

func makeDir(d disk.Disk, dir string) error {
	if err := d.MkdirAll(dir); err != nil {
		return err
	}
	return d.SyncDir(".")
}

// recover verifies the journal and continues at its end.
func (l *Log) recover(o *journal.Options) (*journal.Recovery, error) {
	// The previous process may have crashed before it made a segment's name durable.
	if err := l.disk.SyncDir(journal.LiveDir); err != nil {
		return nil, err
	}

	end, ok, err := l.files.End(o.Progress)
	if err != nil {
		return nil, err
	}
	if !ok {
		l.term = 1
		return &journal.Recovery{First: 1, Sealed: true}, l.begin()
	}

	if end.Segment.Replica != nil {
		return nil, fmt.Errorf("%s: %w", end.Segment.Name(), journal.ErrReplica)
	}

	torn, err := l.resume(&end)
	if err != nil {
		return nil, err
	}
	return &journal.Recovery{
		Tip: end.Tip, First: end.First, Frames: end.Frames, Sealed: end.Last == journal.EntrySeal, Torn: torn,
	}, nil
}

// begin creates the first segment.
func (l *Log) begin() error {
	if err := l.spare.complete(0); err != nil {
		return err
	}
	file, size := l.spare.take()
	l.segment.file, l.segment.off, l.segment.size, l.segment.synced = file, journal.Block, size, journal.Block
	if _, err := file.WriteAt(l.segment.head.Bytes(), 0); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return l.spare.name(&l.segment.head)
}

// resume continues at the end of the last segment.
func (l *Log) resume(end *journal.End) (*journal.CutEnd, error) {
	file, err := l.disk.Edit(end.Segment.Name())
	if err != nil {
		return nil, err
	}
	l.segment = segment{file: file, head: end.Segment, off: end.Offset, size: end.Size, synced: end.Offset}
	l.tip, l.term, l.last = end.Tip, end.Tip.Term+1, end.Last
	l.durable.Store(uint64(end.Tip.Last))
	torn, err := l.cut(end.Torn)
	if isFull(err) {
		l.torn, err = end.Torn, nil // cut once there is room for the copy
	}
	if err != nil {
		return nil, err
	}
	if err := l.confirm(end); err != nil {
		return nil, err
	}
	return torn, l.Mark()
}

// mend cuts the torn end that Open found no room to copy.
func (l *Log) mend() error {
	if l.torn == nil {
		return nil
	}
	if _, err := l.cut(l.torn); err != nil {
		return err
	}
	l.torn = nil
	return l.segment.file.Sync()
}

// confirm makes the last entry durable, and those that the entry's watermark does not prove.
// It writes them again: after a failed sync the page cache may hold them as clean, and only a
// write makes the next sync cover them.
func (l *Log) confirm(end *journal.End) error {
	if end.Last == 0 {
		return l.segment.file.Sync()
	}

	var e journal.Entry
	b, err := l.segment.read(end.LastOffset, end.Offset)
	if err == nil {
		err = l.segment.head.ParseEntry(b, end.LastOffset, &e)
	}
	if err != nil {
		return fmt.Errorf("%s is read otherwise the second time: %w", end.Segment.Name(), err)
	}

	unproven, err := l.segment.read(e.Synced, end.LastOffset)
	if err == nil {
		err = l.segment.head.ParseEntries(unproven, e.Synced)
	}
	if err != nil {
		return fmt.Errorf("%s is read otherwise the second time: %w", end.Segment.Name(), err)
	}

	if _, err := l.segment.file.WriteAt(append(unproven, b...), e.Synced); err != nil {
		return err
	}
	return l.segment.file.Sync()
}

// read returns the bytes of a segment between two offsets.
func (s *segment) read(from, to int64) ([]byte, error) {
	b := make([]byte, to-from)
	if _, err := s.file.ReadAt(b, from); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b, nil
}

// cut copies a torn end to its own file and overwrites it with zeros.
func (l *Log) cut(torn *journal.Torn) (*journal.CutEnd, error) {
	if torn == nil {
		return nil, nil
	}
	name, err := l.keep(torn)
	if err != nil {
		return &journal.CutEnd{Torn: *torn}, noRoom(fmt.Errorf("keeping what is torn: %w", err))
	}
	for off := torn.From; off < torn.To; off += chunk {
		if _, err := l.segment.file.WriteAt(zeros[:min(chunk, torn.To-off)], off); err != nil {
			return nil, err
		}
	}
	return &journal.CutEnd{Torn: *torn, Copy: name}, nil
}

// keep makes a durable copy of a torn end.
func (l *Log) keep(torn *journal.Torn) (string, error) {
	if err := makeDir(l.disk, journal.TornDir); err != nil {
		return "", err
	}
	file, name, err := l.createTorn(torn.Seq)
	if err != nil {
		return "", err
	}
	from := io.NewSectionReader(l.segment.file, torn.From, torn.To-torn.From)
	_, err = io.Copy(io.NewOffsetWriter(file, 0), from)
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, l.disk.Remove(name)) // or retries would pile up copies
	}
	return name, l.disk.SyncDir(journal.TornDir)
}

// createTorn creates a file named after a command, numbered if an earlier start left one.
func (l *Log) createTorn(seq bourse.Seq) (disk.File, string, error) {
	base := fmt.Sprintf("%s/%020d", journal.TornDir, uint64(seq))
	name := base
	for n := 2; ; n++ {
		file, err := l.disk.Create(name)
		if !errors.Is(err, fs.ErrExist) {
			return file, name, err
		}
		name = fmt.Sprintf("%s.%d", base, n)
	}
}
