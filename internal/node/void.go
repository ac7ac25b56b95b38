package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/admin"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/follower"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// void takes a command out of effect, if the operator asked for it. Only a command that
// the engine cannot apply is voided: voiding one that took effect would undo a
// revocation, a freeze or a trade without a trace in the books.
func (n *Node) void(ctx context.Context, tip journal.Tip) error {
	switch {
	case n.Void == 0 || n.voids.Has(n.Void):
		return nil
	case n.Void > tip.Last:
		return fmt.Errorf("command %d cannot be voided: the journal ends at %d", n.Void, tip.Last)
	}

	if err := n.voidable(n.Void, n.voids.Has); err != nil {
		return err
	}

	// Snapshots and history may hold the command's effects: both are made again.
	if _, err := n.snapshots.RemoveFrom(n.Void); err != nil {
		return fmt.Errorf("snapshots that hold command %d: %w", n.Void, err)
	}
	if err := n.forgetHistory(ctx); err != nil {
		return err
	}
	n.Log.Warn("voiding a command", slog.Uint64("seq", uint64(n.Void)), slog.String("reason", n.Reason))
	return n.voids.Append(journal.Void{Seq: n.Void, Reason: n.Reason, Operator: uint32(os.Getuid()),
		Time: bourse.TimeOf(time.Now())})
}

// voidable refuses a command that the engine can apply, or cannot reach.
func (n *Node) voidable(seq bourse.Seq, voided func(bourse.Seq) bool) error {
	err := n.try(seq, voided)
	var broken *follower.ImpossibleError

	switch {
	case err == nil:
		return fmt.Errorf("command %d cannot be voided: the engine applies it; only a command that stops every start can be. "+
			"Undo what it did with another command (`bourse admin --help`)", seq)
	case !errors.As(err, &broken):
		return fmt.Errorf("command %d cannot be voided: %w", seq, err)
	case broken.Seq != seq:
		return fmt.Errorf("command %d cannot be voided: the engine stops before it, at command %w; void that one first", seq, broken)
	}
	return nil
}

// try replays the journal up to a command, from the newest good snapshot before it.
func (n *Node) try(seq bourse.Seq, voided func(bourse.Seq) bool) error {
	e := engine.New()
	snapshot, found, err := n.newestSnapshot(seq - 1)
	if err != nil {
		return err
	}
	if found {
		state, _ := snapshot.Section(sequencer.EngineSection)
		if e, err = engine.Restore(state, func(*bourse.Events) {}); err != nil {
			return fmt.Errorf("snapshot at %d: %w", snapshot.Header.Tip.Last, err)
		}
	}
	return n.read(e.Seq(), func(r journal.Reader, _ func(bourse.Seq)) error {
		return (&follower.Trial{Reader: r, Seq: seq, Voided: voided}).Run(e)
	})
}

// voided lists the voided commands for operators.
func (n *Node) voided() []admin.Void {
	list := make([]admin.Void, 0, len(n.voids.All()))
	for _, v := range n.voids.All() {
		list = append(list, admin.Void{Seq: v.Seq, Time: v.Time.Std().Format(time.RFC3339Nano),
			Operator: v.Operator, Reason: v.Reason})
	}
	return list
}
