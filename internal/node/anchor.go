package node

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/anchor"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// openAnchor loads the anchor's record, and refuses a start that could not check the
// journal against it. exists reports whether the data directory has a journal.
func (n *Node) openAnchor(identity journal.Identity, exists bool) error {
	if n.Anchor == "" {
		return nil
	}
	sameDisk, err := anchor.CheckPlace(n.Anchor, n.Data)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w; make the directory, on another disk, or mount it", err)
	}
	if err != nil {
		return fmt.Errorf("anchor: %w", err)
	}
	if sameDisk {
		n.Log.Warn("the anchor is on the disk of the data directory: who can change one can change both",
			slog.String("anchor", n.Anchor))
	}

	h := &heads{Keeper: anchor.NewKeeper(anchor.NewDir(n.Anchor), time.Now, anchorLate), done: make(chan struct{})}
	err = h.Load()
	switch {
	case errors.Is(err, anchor.ErrNone): // Record is nil
	case err != nil:
		return fmt.Errorf("anchor: %w", err)
	case !exists:
		return fmt.Errorf("%w: %s has %s of exchange %x, and %s holds no journal. Bring the data directory back, or give a new exchange another anchor",
			journal.ErrCut, n.Anchor, &h.Record.Newest, h.Record.Identity.Exchange, n.Data)
	default:
		if err := identity.Check(h.Record.Identity); err != nil {
			return fmt.Errorf("anchor %s: %w", n.Anchor, err)
		}
	}
	n.heads = h
	return nil
}

// checkAnchored checks the journal and its side files against the anchored record.
func (n *Node) checkAnchored(tip journal.Tip) error {
	n.foundTip = tip
	n.accepting = n.AcceptJournal != 0 && n.AcceptJournal == tip.Last && !n.acceptedBefore(tip)
	if n.accepting {
		n.Log.Warn("going on with the journal as it is", slog.Uint64("seq", uint64(tip.Last)),
			slog.String("reason", n.Reason))
	}
	if err := n.checkAhead(tip); err != nil {
		return err
	}
	if n.heads == nil {
		return nil
	}

	known := n.heads.Record
	if known == nil {
		if tip.Last > 0 && !n.accepting {
			return fmt.Errorf("%w: nothing is anchored in %s, and the journal ends at %s. Mount the right disk there; if this exchange is anchored for the first time, %s",
				journal.ErrCut, n.Anchor, anchor.At(tip), n.accept(tip))
		}
		n.heads.Record = &anchor.Record{Identity: n.identity}
		return n.probe()
	}
	if err := n.checkHead(&known.Newest, tip); err != nil {
		return err
	}
	if err := n.checkAnchoredVoids(&known.Newest); err != nil {
		return err
	}
	return n.probe()
}

// probe writes the record back as it was found: an anchor that cannot be written to stops
// the start before any trade. An accepted journal is anchored later, once a note of it is
// journaled.
func (n *Node) probe() error {
	if n.accepting {
		return nil
	}
	return n.keepHeads()
}

// acceptedBefore reports whether an operator accepted this end of the journal already.
// The journal has grown since, so that this end now means another cut, which the same
// flag does not excuse.
func (n *Node) acceptedBefore(tip journal.Tip) bool {
	if n.heads == nil || n.heads.Record == nil {
		return false
	}
	for _, a := range n.heads.Record.Accepted {
		if a.Accepted.Last == tip.Last && a.Accepted.Chain == tip.Chain {
			return true
		}
	}
	return false
}

// checkHead refuses a journal without the newest anchored head, unless it is accepted.
func (n *Node) checkHead(head *anchor.Head, tip journal.Tip) error {
	ours, compacted := head.Tip.Last == 0, false
	if !ours && head.Tip.Last <= tip.Last {
		var err error
		ours, err = n.holds(head.Tip.Last, head.Tip.Chain)
		if compacted = errors.Is(err, journal.ErrCompacted); err != nil && !compacted {
			return fmt.Errorf("the anchored head: %w", err)
		}
	}
	if ours || n.accepting {
		return nil
	}

	what := "ends at"
	switch {
	case compacted:
		what = "was pruned beyond it and ends at"
	case head.Tip.Last <= tip.Last:
		what = "has another command there and ends at"
	}
	return fmt.Errorf("%w: %s has %s, and the journal in %s %s %s. Restore the missing segments from a copy or a backup; if the loss is known and accepted, %s",
		journal.ErrCut, n.Anchor, head, n.Data, what, anchor.At(tip), n.accept(tip))
}

// accept returns the advice to start once with the journal accepted as it is.
func (n *Node) accept(tip journal.Tip) string {
	return fmt.Sprintf("start once with `%s --accept-journal %d --reason TEXT`", n.Again, tip.Last)
}

// checkAnchoredVoids checks that the file of voids continues the anchored one, and that
// the engine cannot apply any of the commands that it adds.
func (n *Node) checkAnchoredVoids(head *anchor.Head) error {
	all := n.voids.All()
	if digest, ok := n.voids.Digest(head.Voids); !ok || head.Voids > 0 && digest != head.Void {
		if n.accepting {
			return nil
		}
		return fmt.Errorf("%w: %s knows %d voided commands, and the file voids has %d, or others. Bring the file back from a copy; if the loss is known and accepted, %s",
			journal.ErrCut, n.Anchor, head.Voids, len(all), n.accept(journal.Tip{Last: n.log.Durable()}))
	}

	for i := head.Voids; i < len(all); i++ {
		before := func(seq bourse.Seq) bool {
			for _, v := range all[:i] {
				if v.Seq == seq {
					return true
				}
			}
			return false
		}
		if err := n.voidable(all[i].Seq, before); err != nil {
			return fmt.Errorf("the file voids has an entry that is not anchored: %w", err)
		}
	}
	return nil
}

// checkAhead refuses a journal that ends before a void or a snapshot of it: it may have
// been cut back. If an operator accepts the journal, later snapshots are removed.
func (n *Node) checkAhead(tip journal.Tip) error {
	for _, v := range n.voids.All() {
		if v.Seq > tip.Last && n.accepting {
			// The void would hit the next command that gets this sequence.
			return fmt.Errorf("%w: command %d is void, and the journal in %s ends at command %d. It cannot go on with this file voids; restore a backup",
				journal.ErrCut, v.Seq, n.Data, tip.Last)
		}
		if v.Seq > tip.Last {
			return n.ahead(fmt.Sprintf("command %d is void", v.Seq), tip)
		}
	}
	if n.accepting {
		_, err := n.snapshots.RemoveFrom(tip.Last + 1)
		return err
	}

	list, err := n.snapshots.List()
	if err != nil {
		return err
	}
	for _, at := range list {
		if at <= tip.Last {
			continue
		}
		damage := (*journal.DamageError)(nil)
		switch err := n.snapshots.Verify(at); {
		case err == nil:
			return n.ahead(fmt.Sprintf("there is a snapshot at %d", at), tip)
		case !errors.As(err, &damage):
			return err
		}
	}
	return nil
}

// ahead returns the error for a journal that ends before data derived from it.
func (n *Node) ahead(what string, tip journal.Tip) error {
	return fmt.Errorf("%w: %s, and the journal in %s ends at command %d. Delete nothing; restore the missing segments from a copy or a backup. If the loss is known and accepted, %s",
		journal.ErrCut, what, n.Data, tip.Last, n.accept(tip))
}

// vouched reports whether a snapshot may be restored: its state is the one anchored for
// its sequence. The start passes over a snapshot that is not anchored, because any
// process with access to the files could have written it; while a journal is accepted, the snapshot is
// taken and anchored.
func (n *Node) vouched(s *journal.Snapshot) (bool, error) {
	if n.heads == nil {
		return true, nil
	}
	tip := s.Header.Tip
	section, _ := s.Section(sequencer.EngineSection)
	state := journal.Hash(sha256.Sum256(section))

	switch known := n.heads.State(tip.Last); {
	case n.accepting && (known == nil || known.Tip.Chain != tip.Chain):
		n.heads.AddState(tip, state)
		return true, nil
	case known == nil:
		n.Log.Warn("passed over a snapshot that is not anchored", slog.Uint64("seq", uint64(tip.Last)))
		return false, nil
	case known.State != state:
		return false, fmt.Errorf("%w: the snapshot at %d has the state %x, and %s has %x for it: somebody changed it. Keep a copy and remove it; the start replays from an older one",
			journal.ErrCut, tip.Last, state[:8], n.Anchor, known.State[:8])
	}
	return true, nil
}

// checkState compares the state after the replay with the one anchored for its sequence,
// if any.
func (n *Node) checkState() error {
	if n.heads == nil || n.accepting {
		return nil
	}
	known := n.heads.State(n.engine.Seq())
	if known == nil {
		return nil
	}
	if state := journal.Hash(n.engine.StateHash()); state != known.State {
		return fmt.Errorf("%w: the replay reaches %s with the state %x, and %s has %x for it",
			journal.ErrCut, known, state[:8], n.Anchor, known.State[:8])
	}
	return nil
}

// followHeads starts the heads at the journal's tip. The history of an accepted journal
// may be ahead of it and is forgotten.
func (n *Node) followHeads(ctx context.Context, tip journal.Tip) error {
	if n.accepting {
		if err := n.forgetHistory(ctx); err != nil {
			return err
		}
	}
	h := n.heads
	if h == nil {
		return nil
	}
	voids := len(n.voids.All())
	void, _ := n.voids.Digest(voids)
	h.Follow(tip, voids, void)
	n.snapshots.Anchored = h.Anchored
	n.snapshots.OnWritten = func(s journal.SnapshotHeader) { h.AddState(s.Tip, s.State) }
	return nil
}

// noteAccepted journals a note that an operator accepted the journal as it is.
func (n *Node) noteAccepted(ctx context.Context) error {
	if !n.accepting {
		return nil
	}
	text := fmt.Sprintf("accept journal %d: %s", n.foundTip.Last, n.Reason)
	note := bourse.Command{Kind: bourse.CommandNote, Operator: uint32(os.Getuid()), Text: text}
	if err := n.carry(ctx, note); err != nil {
		return fmt.Errorf("noting what was accepted: %w", err)
	}
	return nil
}

// anchorStart anchors the head that the exchange starts to serve with, and the acceptance
// if an operator accepted the journal.
func (n *Node) anchorStart() error {
	if n.heads == nil {
		return nil
	}
	if n.accepting {
		if err := n.anchorAccepted(); err != nil {
			return err
		}
	}
	return n.keepHeads()
}

// anchorAccepted drops the states that the accepted journal does not hold, and records
// the acceptance.
func (n *Node) anchorAccepted() error {
	r := n.heads.Record
	states := r.States
	r.States = nil

	for _, s := range states {
		if s.Tip.Last > n.foundTip.Last {
			continue
		}
		ours, err := n.holds(s.Tip.Last, s.Tip.Chain)
		if err != nil && !errors.Is(err, journal.ErrCompacted) {
			return err
		}
		if ours {
			r.States = append(r.States, s)
		}
	}

	r.Accept(anchor.Acceptance{
		Time: bourse.TimeOf(time.Now()), Operator: uint32(os.Getuid()), Reason: n.Reason,
		Anchored: r.Newest.Tip, Accepted: n.foundTip,
	})
	r.Newest = anchor.Head{}
	return nil
}

// keepHeads writes the record to the anchor.
func (n *Node) keepHeads() error {
	if n.heads == nil {
		return nil
	}
	if err := n.heads.Keep(); err != nil {
		return fmt.Errorf("anchor %s: %w", n.Anchor, err)
	}
	return nil
}
