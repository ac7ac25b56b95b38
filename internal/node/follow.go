package node

import (
	"context"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/follower"
	"github.com/bourse-exchange/bourse/internal/history"
)

// openFollower starts the follower from the newest snapshot at or before the history's
// cursor. It reads the journal up to bound.
func (n *Node) openFollower(ctx context.Context, cursor history.Cursor, bound func() bourse.Seq) error {
	snapshot, found, err := n.newestSnapshot(cursor.Seq)
	if err != nil {
		return err
	}

	second := follower.NewState()
	if found {
		if second, err = follower.RestoreState(snapshot.Section); err != nil {
			return fmt.Errorf("snapshot at %d: %w", snapshot.Header.Tip.Last, err)
		}
	}

	reader, err := n.files.ReadBehind(second.Engine.Seq()+1, bound)
	if err != nil {
		return fmt.Errorf("following the journal: %w", err)
	}
	n.closers = append(n.closers, reader)

	n.follower, err = follower.New(ctx, follower.Options{
		State: second, Reader: reader, Store: n.heralded(), Stored: n.tail.Stored, Voided: n.voids.Has,
		Snapshots: n.snapshots, Files: n.files, SnapshotEvery: n.SnapshotEvery,
		SnapshotBytes: segmentsApart * n.SegmentSize, Pressed: n.full.Load, Held: n.holdsArchive, Frame: n.sourceHook(),
	})
	return err
}

// behindView returns the follower's bound at an exchange that serves: what every observer has seen, and what the history had at the
// start. The history is never ahead of the view: a client who read there what [Node.shown] leaves out would read something older at a
// replica afterwards.
func (n *Node) behindView(cursor bourse.Seq) func() bourse.Seq {
	return func() bourse.Seq { return max(cursor, n.sequencer.Applied()) }
}

// holdsArchive reports whether live segments stay out of the archive, because a node that joins needs them. The disk
// must have as much room again as they take.
func (n *Node) holdsArchive() bool {
	if n.Member == nil {
		return false
	}
	live, err := n.files.Live()
	free, unknown := n.disk.Free()
	size := int64(live) * n.SegmentSize
	return err == nil && unknown == nil && free > uint64(size) && n.Member.Holds(size)
}

// cursor returns the history's cursor, checked against the journal.
func (n *Node) cursor(ctx context.Context) (history.Cursor, error) {
	cursor, err := n.store.Cursor(ctx)
	if err != nil {
		return cursor, fmt.Errorf("%s: %w", n.historyPlace(), err)
	}
	return cursor, n.checkCursor(cursor)
}

// checkCursor refuses a history of another journal, and a journal that ends before the
// history's cursor: it may have been cut back.
func (n *Node) checkCursor(cursor history.Cursor) error {
	name := n.historyName()
	switch {
	case cursor.Seq == 0:
		return nil
	case cursor.Seq > n.log.Durable():
		return n.ahead(fmt.Sprintf("%s has command %d", name, cursor.Seq), n.foundTip)
	}

	switch ours, err := n.holds(cursor.Seq, cursor.Chain); {
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case !ours:
		return fmt.Errorf("%s is not of this journal: it has another command %d. If the journal was replaced, restore it and delete nothing; "+
			"if %[1]s is another exchange's, delete it: it is rebuilt from the journal", name, cursor.Seq)
	}
	return nil
}
