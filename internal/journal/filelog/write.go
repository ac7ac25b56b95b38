package filelog

import (
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// segment is the file that is written.
type segment struct {
	file disk.File
	head journal.Header
	// off is where the next entry goes, size the length of the file.
	off, size int64
}

// Step writes the oldest proposal, if there is one, and makes it durable.
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
	if s.buf, err = l.write(s.buf); err != nil {
		return false, err
	}
	s.batch = l.entry.Batch()
	l.tip = journal.Tip{Last: s.batch.Last(), Chain: s.batch.Chain, Term: s.batch.Term, Time: s.batch.Time}
	l.durable.Store(uint64(l.tip.Last))
	l.committed.Store(n + 1)
	select {
	case l.ready <- struct{}{}:
	default:
	}
	return n+1 < l.proposed, nil
}

// Mark writes an entry without commands, unless the last one is such.
func (l *Log) Mark() error {
	switch {
	case l.failed != nil:
		return l.failed
	case l.closed:
		return journal.ErrClosed
	case l.last != journal.EntryBatch:
		return nil
	}
	return l.writeBlank(journal.EntryMark)
}

// writeBlank writes an entry without commands.
func (l *Log) writeBlank(kind journal.EntryKind) error {
	l.entry = journal.Entry{Kind: kind}
	l.entry.Frame.Time = l.tip.Time
	var err error
	l.blank, err = l.write(withCommands(l.blank, nil))
	return err
}

// write makes l.entry durable, of which kind, count and time are given; b has
// its commands. It returns the entry's bytes. An error ends the log.
func (l *Log) write(b []byte) ([]byte, error) {
	f := &l.entry.Frame
	f.First, f.Term, f.Previous = l.tip.Last+1, l.term, l.tip.Chain
	size := int64(journal.Room(len(b) - journal.CommandsAt))
	var err error
	if full := l.segment.off+size > l.segment.size; full && l.tip.Last >= l.segment.head.First() {
		b, err = l.rotate(b)
	} else {
		// A segment without commands takes what comes: its successor would have
		// its name.
		b, err = l.segment.append(b, &l.entry)
	}
	if err != nil {
		l.failed = fmt.Errorf("writing the journal behind command %d: %w", l.tip.Last, err)
		return b, l.failed
	}
	l.last = l.entry.Kind
	l.spare.use(l.segment.off)
	return b, nil
}

// append writes an entry and makes it durable.
func (s *segment) append(b []byte, e *journal.Entry) ([]byte, error) {
	e.Synced = s.off
	b = s.head.Finish(b, s.off, e)
	if _, err := s.file.WriteAt(b, s.off); err != nil {
		return b, err
	}
	if err := s.file.Sync(); err != nil {
		return b, err
	}
	s.off += int64(e.Size)
	s.size = max(s.size, s.off)
	return b, nil
}

// rotate writes an entry as the first one of a new segment, which gets its name
// when that is durable.
func (l *Log) rotate(b []byte) ([]byte, error) {
	file, size, err := l.spare.take()
	if err != nil {
		return b, err
	}
	next := segment{
		file: file, off: journal.Block, size: size,
		head: journal.Header{Identity: l.segment.head.Identity, Tip: l.tip},
	}
	if _, err = file.WriteAt(next.head.Bytes(), 0); err == nil {
		b, err = next.append(b, &l.entry)
	}
	if err == nil {
		err = l.spare.name(&next.head)
	}
	if err != nil {
		return b, errors.Join(err, file.Close())
	}
	old := l.segment.file
	l.segment = next
	return b, old.Close()
}

// Close writes what was proposed and a seal, and releases the journal.
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
	if l.last == journal.EntrySeal {
		return nil
	}
	return l.writeBlank(journal.EntrySeal)
}

// release gives back what the log holds.
func (l *Log) release() error {
	err := l.spare.close()
	if l.segment.file != nil {
		err = errors.Join(err, l.segment.file.Close())
	}
	return errors.Join(err, l.lock.Close())
}
