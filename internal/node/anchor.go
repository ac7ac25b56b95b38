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

// errSilent says that an anchor has not answered for long.
var errSilent = errors.New("it does not answer")

// openAnchor loads what is anchored, and refuses a start that could not tell whether the
// journal is whole. exists says that the data directory has a journal.
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
		n.Log.Warn("the anchor is on the disk of the data directory: who can change one can change both", slog.String("anchor", n.Anchor))
	}

	h := &heads{place: anchor.NewDir(n.Anchor), soon: make(chan struct{}, 1), done: make(chan struct{})}
	record, err := h.place.Load()
	switch {
	case errors.Is(err, anchor.ErrNone):
		record = nil
	case err != nil:
		return fmt.Errorf("anchor: %w", err)
	case !exists:
		return fmt.Errorf("%w: %s has %s of exchange %x, and %s holds no journal. Bring the data directory back, or give a new exchange another anchor",
			journal.ErrCut, n.Anchor, &record.Newest, record.Identity.Exchange, n.Data)
	default:
		if err := identity.Check(record.Identity); err != nil {
			return fmt.Errorf("anchor %s: %w", n.Anchor, err)
		}
	}
	h.record = record
	n.heads = h
	return nil
}

// checkAnchored holds the journal and its side files against what is anchored.
func (n *Node) checkAnchored(tip journal.Tip) error {
	n.foundTip = tip
	n.accepting = n.AcceptJournal != 0 && n.AcceptJournal == tip.Last && !n.acceptedBefore(tip)
	if n.accepting {
		n.Log.Warn("going on with the journal as it is", slog.Uint64("seq", uint64(tip.Last)), slog.String("reason", n.Reason))
	}
	if err := n.checkAhead(tip); err != nil {
		return err
	}
	if n.heads == nil {
		return nil
	}

	known := n.heads.record
	if known == nil {
		if tip.Last > 0 && !n.accepting {
			return fmt.Errorf("%w: nothing is anchored in %s, and the journal ends at %s. Mount the right disk there; if this exchange is anchored for the first time, %s",
				journal.ErrCut, n.Anchor, anchor.At(tip), n.accept(tip))
		}
		n.heads.record = &anchor.Record{Identity: n.identity}
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

// probe keeps the record as it was found, so that a place that cannot be written to is
// told before anybody trades. What is accepted is written down first.
func (n *Node) probe() error {
	if n.accepting {
		return nil
	}
	return n.keepHeads()
}

// acceptedBefore reports whether an operator accepted this end of the journal already. The
// journal has gone on since: whoever brought it back there did so behind the same flag.
func (n *Node) acceptedBefore(tip journal.Tip) bool {
	if n.heads == nil || n.heads.record == nil {
		return false
	}
	for _, a := range n.heads.record.Accepted {
		if a.Accepted.Last == tip.Last && a.Accepted.Chain == tip.Chain {
			return true
		}
	}
	return false
}

// checkHead wants the journal to hold the newest head.
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

// accept tells an operator how to go on with a journal as it is.
func (n *Node) accept(tip journal.Tip) string {
	return fmt.Sprintf("start once with --accept-journal %d --reason TEXT", tip.Last)
}

// checkAnchoredVoids wants the file of voids to continue the anchored one, by commands
// alone that the engine cannot apply.
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

// checkAhead refuses a journal that ends before something that was derived of it: the
// journal may have been cut back. An operator who accepts that has what is ahead removed.
func (n *Node) checkAhead(tip journal.Tip) error {
	for _, v := range n.voids.All() {
		if v.Seq > tip.Last && n.accepting {
			// It would take out of effect what gets this sequence next.
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

// ahead is the error of a journal that ends before something that knows more.
func (n *Node) ahead(what string, tip journal.Tip) error {
	return fmt.Errorf("%w: %s, and the journal in %s ends at command %d. Delete nothing; restore the missing segments from a copy or a backup. If the loss is known and accepted, %s",
		journal.ErrCut, what, n.Data, tip.Last, n.accept(tip))
}

// vouched reports whether a snapshot may be restored: it has the state that is anchored
// for its moment. One that the anchor does not know may have been made by anybody who
// can write files; the start goes on from an older one.
func (n *Node) vouched(s *journal.Snapshot) (bool, error) {
	if n.heads == nil {
		return true, nil
	}
	tip := s.Header.Tip
	section, _ := s.Section(sequencer.EngineSection)
	state := journal.Hash(sha256.Sum256(section))

	switch known := n.heads.state(tip.Last); {
	case n.accepting && (known == nil || known.Tip.Chain != tip.Chain):
		n.heads.addState(tip, state)
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

// checkState holds the state that a start came to against an anchored one.
func (n *Node) checkState() error {
	if n.heads == nil || n.accepting {
		return nil
	}
	known := n.heads.state(n.engine.Seq())
	if known == nil {
		return nil
	}
	if state := journal.Hash(n.engine.StateHash()); state != known.State {
		return fmt.Errorf("%w: the replay reaches %s with the state %x, and %s has %x for it",
			journal.ErrCut, known, state[:8], n.Anchor, known.State[:8])
	}
	return nil
}

// followHeads has heads follow the journal from where it was opened. What was made of a
// journal that is accepted as it is may know more than that: the history is made again.
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
	h.tip, h.voids = tip, len(n.voids.All())
	h.void, _ = n.voids.Digest(h.voids)
	n.snapshots.Anchored = h.anchored
	n.snapshots.OnWritten = func(s journal.SnapshotHeader) { h.addState(s.Tip, s.State) }
	return nil
}

// noteAccepted journals that an operator went on with a journal as it is.
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

// anchorStart anchors the head that the exchange begins to serve with, and what an
// operator accepted.
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

// anchorAccepted changes the record to the journal that was accepted.
func (n *Node) anchorAccepted() error {
	r := n.heads.record
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

// keepHeads anchors the record as it is now.
func (n *Node) keepHeads() error {
	if n.heads == nil {
		return nil
	}
	if err := n.heads.keep(); err != nil {
		return fmt.Errorf("anchor %s: %w", n.Anchor, err)
	}
	return nil
}
