package filelog

import (
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/segments"
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

	if err := segments.MakeDir(d, journal.LiveDir); err != nil {
		return nil, err
	}
	lock, err := journal.Lock(d)
	if err != nil {
		return nil, err
	}

	l := &Log{
		disk: d, files: journal.NewFiles(d, o.Identity), lock: lock,
		ready: make(chan struct{}, 1),
		spare: segments.NewSpare(d, size, o.Reserve),
	}
	l.segment.head.Identity = o.Identity
	return l, nil
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
	if err := l.spare.Complete(0); err != nil {
		return err
	}
	file, size := l.spare.Take()
	l.segment.file, l.segment.off, l.segment.size, l.segment.synced = file, journal.Block, size, journal.Block
	if _, err := file.WriteAt(l.segment.head.Bytes(), 0); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return l.spare.Name(&l.segment.head)
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
	if segments.IsFull(err) {
		l.torn, err = end.Torn, nil // cut once there is room for the copy
	}
	if err != nil {
		return nil, err
	}
	if err := segments.Confirm(file, end); err != nil {
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

// cut copies a torn end to its own file and overwrites it with zeros.
func (l *Log) cut(torn *journal.Torn) (*journal.CutEnd, error) {
	if torn == nil {
		return nil, nil
	}
	name, err := segments.Keep(l.disk, l.segment.file, torn)
	if err != nil {
		return &journal.CutEnd{Torn: *torn}, segments.NoRoom(fmt.Errorf("keeping what is torn: %w", err))
	}
	if err := segments.Zero(l.segment.file, torn.From, torn.To); err != nil {
		return nil, err
	}
	return &journal.CutEnd{Torn: *torn, Copy: name}, nil
}
