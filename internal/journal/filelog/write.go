package filelog

import (
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/segments"
)

// segment is the file being written.
type segment struct {
	file disk.File
	head journal.Header
	// off is the offset of the next entry, size the file's length. The entries below synced
	// are durable.
	off, size, synced int64
}

// Step writes the oldest pending proposal and makes it durable.
func (l *Log) Step() (more bool, err error) {
	switch {
	case l.failed != nil:
		return false, l.failed
	case l.closed:
		return false, journal.ErrClosed
	}
	return l.step()
}

func (l *Log) step() (more bool, err error) {
	n := l.committed.Load()
	if n == l.proposed {
		return false, nil
	}

	s := &l.ring[n%slots]
	l.entry = journal.Entry{Kind: journal.EntryBatch}
	l.entry.Frame.Count, l.entry.Frame.Time = s.count, max(s.time, l.tip.Time)
	s.buf, err = l.write(s.buf)
	switch s.refused = segments.IsFull(err); {
	case s.refused: // nothing was written
	case err != nil:
		return false, err
	default:
		s.batch = l.entry.Batch()
		l.tip = s.batch.Tip()
		l.durable.Store(uint64(l.tip.Last))
	}

	l.committed.Store(n + 1)
	select {
	case l.ready <- struct{}{}:
	default:
	}
	return n+1 < l.proposed, nil
}

// Mark writes an entry without commands, unless the last entry is one.
func (l *Log) Mark() error {
	switch {
	case l.failed != nil:
		return l.failed
	case l.closed:
		return journal.ErrClosed
	case l.last != journal.EntryBatch || l.torn != nil:
		return nil
	}
	return l.writeBlank(journal.EntryMark)
}

func (l *Log) writeBlank(kind journal.EntryKind) error {
	l.entry = journal.Entry{Kind: kind}
	l.entry.Frame.Time = l.tip.Time
	var err error
	l.blank, err = l.write(withCommands(l.blank, nil))
	return err
}

// blanks is the space that a batch leaves in its segment for a mark and a seal, the most
// that can follow it. They never need another segment, so a log without room for a batch
// can still be closed and opened.
var blanks = 2 * int64(journal.Room(0))

// write makes l.entry durable; its kind, count and time are set, and b has its commands.
// It returns the entry's bytes. One of a full disk (segments.IsFull) means that nothing
// was written; any other error stops the log.
func (l *Log) write(b []byte) ([]byte, error) {
	f := &l.entry.Frame
	f.First, f.Term, f.Previous = l.tip.Last+1, l.term, l.tip.Chain
	size := int64(journal.Room(len(b) - journal.CommandsAt))
	if l.entry.Kind == journal.EntryBatch {
		size += blanks
	}

	rotate, err := l.makeRoom(size)
	switch {
	case err != nil:
	case rotate:
		b, err = l.rotate(b)
	case l.copying:
		b, err = l.segment.put(b, &l.entry)
	default:
		b, err = l.segment.append(b, &l.entry)
	}

	switch {
	case segments.IsFull(err):
		return b, err
	case err != nil:
		return b, l.stop(l.tip.Last, err)
	}
	l.last = l.entry.Kind
	l.spare.Use(l.segment.off)
	return b, nil
}

// stop makes a failed write behind a command the log's last, and returns its error.
func (l *Log) stop(last bourse.Seq, err error) error {
	l.failed = fmt.Errorf("%w: writing behind command %d: %w", journal.ErrStopped, last, err)
	return l.failed
}

// makeRoom ensures that an entry of that size needs no more disk space, and reports
// whether it goes to the next segment. Every failure for lack of space happens here,
// before the first byte of the entry.
func (l *Log) makeRoom(size int64) (rotate bool, err error) {
	if err := l.mend(); err != nil {
		return false, err
	}
	switch {
	case l.segment.off+size <= l.segment.size:
		return false, nil
	case l.tip.Last >= l.segment.head.First():
		return true, l.spare.Complete(journal.Block + size)
	default:
		// A segment without commands must grow: its successor would have its name.
		return false, l.grow(l.segment.off + size)
	}
}

func (l *Log) grow(to int64) error {
	s := &l.segment
	size, err := l.spare.Grow(s.file, s.size, to)
	s.size = size
	return err
}

// append writes an entry and makes it durable.
func (s *segment) append(b []byte, e *journal.Entry) ([]byte, error) {
	b, err := s.put(b, e)
	if err == nil {
		err = s.sync()
	}
	return b, err
}

// put writes an entry, which sync makes durable.
func (s *segment) put(b []byte, e *journal.Entry) ([]byte, error) {
	e.Synced = s.synced
	b = s.head.Finish(b, s.off, e)
	if _, err := s.file.WriteAt(b, s.off); err != nil {
		return b, err
	}
	s.off += int64(e.Size)
	return b, nil
}

// sync makes the entries that were put durable.
func (s *segment) sync() error {
	if s.synced == s.off {
		return nil
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	s.synced = s.off
	return nil
}

// rotate writes an entry as the first one of a new segment, which gets its name once the
// entry is durable. The spare must be whole.
func (l *Log) rotate(b []byte) ([]byte, error) {
	if err := l.segment.sync(); err != nil {
		return b, err
	}
	file, size := l.spare.Take()
	next := segment{
		file: file, off: journal.Block, size: size, synced: journal.Block,
		head: journal.Header{Identity: l.segment.head.Identity, Tip: l.tip},
	}

	var err error
	if _, err = file.WriteAt(next.head.Bytes(), 0); err == nil {
		b, err = next.append(b, &l.entry)
	}
	if err == nil {
		err = l.spare.Name(&next.head)
	}
	if err != nil {
		return b, errors.Join(err, file.Close())
	}

	old := l.segment.file
	l.segment = next
	return b, old.Close()
}

// Close writes the pending proposals and a seal, and releases the journal.
func (l *Log) Close() error {
	if l.closed {
		return nil
	}
	l.closed = true
	var err error
	if l.failed == nil {
		err = l.seal()
	}
	return errors.Join(err, l.release())
}

func (l *Log) seal() error {
	for more := true; more; {
		var err error
		if more, err = l.step(); err != nil {
			return err
		}
	}
	if l.last == journal.EntrySeal || l.torn != nil {
		return nil
	}
	return l.writeBlank(journal.EntrySeal)
}

// release closes the files and the lock.
func (l *Log) release() error {
	err := l.spare.Close()
	if l.segment.file != nil {
		err = errors.Join(err, l.segment.file.Close())
	}
	return errors.Join(err, l.lock.Close())
}
