package filelog

import (
	"fmt"

	"github.com/bourse-exchange/bourse/internal/journal"
)

// Copy appends frames of another journal, in order, makes them durable together, and returns
// how many are. Each must continue the frame before it: sequence, chain, term and time are
// checked, and the log's own hash of a frame is that of the journal it comes of. The error
// wraps [journal.ErrNotNext] at a frame that does not continue, and [journal.ErrStopped] once a
// write has failed; another one means a full disk, and the rest may be copied again. It does not
// keep the commands.
//
// Copy belongs to the goroutine of Propose, and a log takes the one or the other.
func (l *Log) Copy(frames []journal.Frame) (durable int, err error) {
	switch {
	case l.failed != nil:
		return 0, l.failed
	case l.closed:
		return 0, journal.ErrClosed
	}

	l.copying = true
	for durable < len(frames) && err == nil {
		if err = l.copy(&frames[durable]); err == nil {
			durable++
		}
	}
	l.copying = false

	if failed := l.segment.sync(); failed != nil {
		return 0, l.stop(l.Durable(), failed)
	}
	l.durable.Store(uint64(l.tip.Last))
	return durable, err
}

// copy writes a frame, which the next sync makes durable.
func (l *Log) copy(f *journal.Frame) error {
	if err := f.Follows(&l.tip); err != nil {
		return fmt.Errorf("%w: %w", journal.ErrNotNext, err)
	}
	if f.Count < 1 {
		return fmt.Errorf("%w: it has no command", journal.ErrNotNext)
	}

	l.entry = journal.Entry{Kind: journal.EntryBatch}
	l.entry.Frame.Count, l.entry.Frame.Time = f.Count, f.Time
	l.term = f.Term
	var err error
	l.copied = withCommands(l.copied, f.Commands)
	if l.copied, err = l.write(l.copied); err != nil {
		return err
	}
	b := l.entry.Batch()
	l.tip = b.Tip()
	return nil
}

// Tip returns the tip of a log that copies. It belongs to the goroutine of Copy.
func (l *Log) Tip() journal.Tip { return l.tip }
