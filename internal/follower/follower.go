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
	// batchRows is about how many rows are written together while there is a
	// backlog.
	batchRows = 50_000
	// batchCommands bounds the commands whose cursor is written together: what
	// a start has to read again if few of them leave rows.
	batchCommands = 100_000
	// urgent is which part of SnapshotBytes lies between two snapshots while the disk
	// is nearly full: what precedes the older of two can go to the archive, which
	// takes a tenth of the room and less.
	urgent = 32
)

// Options are what a follower is put together from.
type Options struct {
	// State is that of a snapshot that the store's cursor has reached, or a new
	// one.
	State
	// Reader yields what follows Engine's last command.
	Reader journal.Reader
	Store  history.Store
	// Stored is told up to where the store has all rows: its cursor when it
	// moves, or further when what follows it left none.
	Stored func(history.Cursor)
	// Voided are the commands that operators took out of effect.
	Voided func(bourse.Seq) bool
	// Snapshots is where snapshots go, Files what they make superfluous.
	Snapshots *journal.Snapshots
	Files     *journal.Files
	// SnapshotEvery is how many commands lie between two snapshots at most, and
	// SnapshotBytes how many bytes of the journal, zero for any: a frame of one command
	// has a block, and an idle exchange writes a frame a second.
	SnapshotEvery uint64
	SnapshotBytes int64
	// Pressed, if not nil, reports whether the disk is nearly full.
	Pressed func() bool
}

// Follower is the second engine. Its methods belong to one goroutine, but for
// Seq.
type Follower struct {
	Options
	cursor history.Cursor
	batch  history.Batch
	// owed says that the store failed to write the batch, or to say that it did:
	// the batch stays as it is, so that it can be known again.
	owed bool
	step step
	// tip is where the engine stands in the journal.
	tip journal.Tip
	// snapshot is the last command that a snapshot was taken of, bytes what the journal
	// has grown by since; keeping is true while superfluous files wait to be moved or
	// removed.
	snapshot bourse.Seq
	bytes    int64
	keeping  bool
	seq      atomic.Uint64
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
	f := &Follower{Options: o, cursor: cursor, snapshot: o.Engine.Seq()}
	f.seq.Store(uint64(o.Engine.Seq()))
	f.Stored(cursor)
	return f, nil
}

// RetryError is a failure of the store, or of a snapshot or the files around it.
// Nothing is lost by it: a later Step does the same work again.
type RetryError struct {
	part  string
	cause error
}

// Error says what failed.
func (e *RetryError) Error() string { return e.part + ": " + e.cause.Error() }

// Unwrap returns the cause.
func (e *RetryError) Unwrap() error { return e.cause }

// Seq returns the last command that the follower has applied. Anybody may call
// it.
func (f *Follower) Seq() bourse.Seq { return bourse.Seq(f.seq.Load()) }

// Step does the next piece of work: a file to put away, a frame of the journal, a
// batch for the store, a snapshot. It reports whether there may be more to do at
// once. A *RetryError may be tried again; any other error is final.
func (f *Follower) Step(ctx context.Context) (bool, error) {
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
		// What comes meanwhile is better gathered than written row by row.
		return false, f.writeRows(ctx)
	case err != nil:
		return false, fmt.Errorf("following the journal: %w", err)
	}
	return true, f.follow(batch)
}

// snapshotDue reports whether a snapshot is to be taken.
func (f *Follower) snapshotDue() bool {
	due := f.SnapshotBytes
	if f.Pressed != nil && f.Pressed() {
		due /= urgent
	}
	return uint64(f.Engine.Seq()-f.snapshot) >= f.SnapshotEvery || due > 0 && f.bytes >= due
}

// full reports whether the batch is to be written before it grows.
func (f *Follower) full() bool {
	return f.owed || f.batch.Rows() >= batchRows || f.batch.From != 0 && f.batch.To-f.batch.From >= batchCommands
}

// writeRows writes the batch if it has rows. The cursor alone can wait, but not
// those who wait for rows that do not exist.
func (f *Follower) writeRows(ctx context.Context) error {
	if f.batch.Rows() > 0 {
		return f.write(ctx)
	}
	if f.batch.From != 0 {
		f.Stored(history.Cursor{Seq: f.batch.To, Time: f.batch.Time, Chain: f.batch.Chain})
	}
	return nil
}

// follow applies a frame, and gathers the rows of what the store does not have.
func (f *Follower) follow(b *journal.Batch) error {
	if err := f.step.frame(f.State, b, f.Voided, f.gather); err != nil {
		return err
	}
	if f.batch.From != 0 {
		f.batch.Chain = b.Chain
	}
	f.bytes += int64(journal.Room(len(b.Commands)))
	f.tip = journal.Tip{Last: b.Last(), Chain: b.Chain, Term: b.Term, Time: b.Time}
	f.seq.Store(uint64(b.Last()))
	return nil
}

// gather gathers the rows of a command.
func (f *Follower) gather(cmd *bourse.Command, ev *bourse.Events) {
	if cmd.Seq > f.cursor.Seq {
		history.Project(cmd, ev, &f.batch)
		history.Post(cmd, ev, f.Engine.Market, &f.batch)
	}
}

// write writes the batch.
func (f *Follower) write(ctx context.Context) error {
	if f.batch.From == 0 {
		return nil
	}
	err := f.Store.Write(ctx, &f.batch)
	f.owed = err != nil
	switch {
	case errors.Is(err, history.ErrOutOfOrder):
		return fmt.Errorf("history is not where it was left: somebody else wrote to it, or it lost what it had confirmed: %w", err)
	case err != nil:
		return &RetryError{"history store", err}
	}
	f.cursor = history.Cursor{Seq: f.batch.To, Time: f.batch.Time, Chain: f.batch.Chain}
	f.batch.Reset()
	f.Stored(f.cursor)
	return nil
}

// Finish writes what has been gathered, so that the next start reads less.
func (f *Follower) Finish(ctx context.Context) error { return f.write(ctx) }
