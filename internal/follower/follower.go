package follower

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/journal"
)

const (
	// batchRows is the approximate number of rows written together while there is a
	// backlog.
	batchRows = 50_000
	// batchCommands bounds the commands covered by one write of the cursor: a start
	// rereads these if few of them leave rows.
	batchCommands = 100_000
	// urgent divides SnapshotBytes while the disk is nearly full. Everything before the
	// older of two snapshots can move to the archive, which takes at most a tenth of the
	// space.
	urgent = 32
)

// Options configure a follower.
type Options struct {
	// State comes from a snapshot at or below the store's cursor, or is new.
	State
	// Reader yields the frames after Engine's last command.
	Reader journal.Reader
	Store  history.Store
	// Stored is called with the last command whose rows are all in the store: the cursor
	// when it moves, or a later command if those between left no rows.
	Stored func(history.Cursor)
	// Voided reports the commands that operators took out of effect.
	Voided func(bourse.Seq) bool
	// Snapshots is the snapshot store, Files the journal whose old segments are archived.
	Snapshots *journal.Snapshots
	Files     *journal.Files
	// SnapshotEvery bounds the commands between two snapshots, SnapshotBytes the bytes of
	// the journal, zero for no bound: a frame of one command takes a block, and an idle
	// exchange writes a frame a second.
	SnapshotEvery uint64
	SnapshotBytes int64
	// Frame, if not nil, is called after each frame with its tip and the hash of the state.
	Frame func(tip *journal.Tip, hash func() [32]byte)
	// Pressed, if not nil, reports whether the disk is nearly full.
	Pressed func() bool
	// Held, if not nil, reports whether live segments are to stay out of the archive. It is asked behind each snapshot, and
	// while segments move.
	Held func() bool
}

// Follower is the second engine. Not safe for concurrent use, except Seq and Funds.
type Follower struct {
	Options
	cursor history.Cursor
	batch  history.Batch
	herald *history.Herald
	// owed is true if the store failed to write the batch or to confirm it. The batch
	// then stays unchanged, so that the store can recognize it.
	owed bool
	step step
	// tip is the last applied frame's tip.
	tip journal.Tip
	// snapshot is the command of the last snapshot, bytes the growth of the journal
	// since; keeping is true while old files wait to be removed or archived.
	snapshot bourse.Seq
	bytes    int64
	keeping  bool
	seq      atomic.Uint64
	asked    asked
}

// New returns a follower. It reads the store's cursor.
func New(ctx context.Context, o Options) (*Follower, error) {
	cursor, err := o.Store.Cursor(ctx)
	if err != nil {
		return nil, &RetryError{"history store", err}
	}
	if cursor.Seq < o.Engine.Seq() {
		bourse.Impossible("follower would start at %d, before which the store at %d is not", o.Engine.Seq(), cursor.Seq)
	}
	f := &Follower{Options: o, cursor: cursor, snapshot: o.Engine.Seq(), herald: history.NewHerald(o.Engine)}
	f.seq.Store(uint64(o.Engine.Seq()))
	f.Stored(cursor)
	return f, nil
}

// RetryError is a failure of the store, of a snapshot, or of removing or archiving files.
// Nothing is lost: a later Step does the same work again.
type RetryError struct {
	part  string
	cause error
}

// Error names the part that failed.
func (e *RetryError) Error() string { return e.part + ": " + e.cause.Error() }

// Unwrap returns the cause.
func (e *RetryError) Unwrap() error { return e.cause }

// Seq returns the last applied command. Safe for concurrent use.
func (f *Follower) Seq() bourse.Seq { return bourse.Seq(f.seq.Load()) }

// Step does the next piece of work: a file to remove or archive, a frame of the journal,
// a batch for the store, a snapshot. It reports whether to call it again at once. A
// *RetryError may be retried; any other error is final.
func (f *Follower) Step(ctx context.Context) (bool, error) {
	f.answer()
	if f.full() {
		return true, f.write(ctx)
	}
	if f.keeping {
		return true, f.putAway()
	}
	if f.snapshotDue() {
		return true, f.takeSnapshot(ctx)
	}

	batch, err := f.Reader.Next()
	switch {
	case errors.Is(err, io.EOF):
		// At the end of the journal, the rows gathered so far are written at once.
		return false, f.writeRows(ctx)
	case err != nil:
		return false, fmt.Errorf("following the journal: %w", err)
	}
	return true, f.follow(batch)
}

// snapshotDue reports whether a snapshot is due.
func (f *Follower) snapshotDue() bool {
	due := f.SnapshotBytes
	if f.Pressed != nil && f.Pressed() {
		due /= urgent
	}
	return uint64(f.Engine.Seq()-f.snapshot) >= f.SnapshotEvery || due > 0 && f.bytes >= due
}

// full reports whether the batch must be written before it grows.
func (f *Follower) full() bool {
	return f.owed || f.batch.Rows() >= batchRows || f.batch.From != 0 && f.batch.To-f.batch.From >= batchCommands
}

// writeRows writes the batch if it has rows. Otherwise the cursor can wait, but callers
// that wait for these commands are released.
func (f *Follower) writeRows(ctx context.Context) error {
	if f.batch.Rows() > 0 {
		return f.write(ctx)
	}
	if f.batch.From != 0 {
		f.Stored(history.Cursor{Seq: f.batch.To, Time: f.batch.Time, Chain: f.batch.Chain})
	}
	return nil
}

// follow applies a frame, and gathers the rows that the store lacks.
func (f *Follower) follow(b *journal.Batch) error {
	if err := f.step.frame(f.State, b, f.Voided, f.gather); err != nil {
		return err
	}
	if f.batch.From != 0 {
		f.batch.Chain = b.Chain
	}
	f.bytes += int64(journal.Room(len(b.Commands)))
	f.tip = b.Tip()
	f.seq.Store(uint64(b.Last()))
	if f.Frame != nil {
		f.Frame(&f.tip, f.Engine.StateHash)
	}
	return nil
}

// gather adds a command's rows to the batch.
func (f *Follower) gather(cmd *bourse.Command, ev *bourse.Events) {
	if cmd.Seq <= f.cursor.Seq {
		f.herald.Proclaim(cmd, ev, nil)
		return
	}
	history.Project(cmd, ev, &f.batch)
	history.Post(cmd, ev, f.Engine.Market, &f.batch)
	f.herald.Proclaim(cmd, ev, &f.batch)
}

func (f *Follower) write(ctx context.Context) error {
	if f.batch.From == 0 {
		return nil
	}
	err := f.Store.Write(ctx, &f.batch)
	f.owed = err != nil
	switch {
	case errors.Is(err, history.ErrOutOfOrder):
		return fmt.Errorf(
			"history is not where it was left: somebody else wrote to it, or it lost what it had confirmed: %w", err)
	case err != nil:
		return &RetryError{"history store", err}
	}
	f.cursor = history.Cursor{Seq: f.batch.To, Time: f.batch.Time, Chain: f.batch.Chain}
	f.batch.Reset()
	f.Stored(f.cursor)
	return nil
}

// Finish writes the gathered batch, so that the next start reads less.
func (f *Follower) Finish(ctx context.Context) error { return f.write(ctx) }
