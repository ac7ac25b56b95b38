package follower

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/view"
)

// takeSnapshot writes a snapshot of the last applied command. It writes the store first:
// a snapshot's command is never beyond the store's cursor.
func (f *Follower) takeSnapshot(ctx context.Context) error {
	if err := f.write(ctx); err != nil {
		return err
	}
	w, err := f.Snapshots.Create(f.tip.Last)
	if err != nil {
		return again("snapshot", err)
	}

	state := sha256.New()
	w.Section(sequencer.EngineSection)
	f.Engine.Snapshot(func(b []byte) {
		state.Write(b)
		_, _ = w.Write(b) // Commit returns the error
	})
	w.Section(view.TapeSection)
	f.Tape.Snapshot(func(b []byte) { _, _ = w.Write(b) })

	if err := w.Commit(journal.SnapshotHeader{Tip: f.tip, State: journal.Hash(state.Sum(nil))}); err != nil {
		return again("snapshot", err)
	}
	f.snapshot, f.bytes, f.keeping = f.tip.Last, 0, true
	return nil
}

// putAway removes old snapshots and moves one old segment to the archive.
func (f *Follower) putAway() error {
	if _, err := f.Snapshots.Trim(f.cursor.Seq); err != nil {
		return again("old snapshots", err)
	}
	needed, err := f.Snapshots.Needed(f.cursor.Seq)
	if err != nil {
		return again("snapshots", err)
	}
	if f.Held != nil && f.Held() {
		f.keeping = false
		return nil
	}
	if f.keeping, err = f.Files.ArchiveNext(needed); err != nil {
		return again("archive", err)
	}
	return nil
}

// again returns a RetryError, unless a sync failed: durability is then unknown, and the
// process must stop.
func again(part string, err error) error {
	if errors.Is(err, disk.ErrSync) {
		return fmt.Errorf("%s: %w", part, err)
	}
	return &RetryError{part, err}
}
