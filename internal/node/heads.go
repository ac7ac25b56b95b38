package node

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/anchor"
	"github.com/bourse-exchange/bourse/internal/journal"
)

const (
	// anchorEvery is how often a head is anchored. A journal that is cut back by less
	// than this while the exchange does not run after a crash is not noticed.
	anchorEvery = 5 * time.Second
	// anchorLate is after how long without a new head the anchor counts as away.
	anchorLate = 3 * anchorEvery
)

// heads anchors where the journal stands. Its methods may be called by any goroutine, but
// for keep, which one goroutine calls at a time.
type heads struct {
	place anchor.Anchor
	// voids is how many commands are void, void the hash of the last void.
	voids int
	void  journal.Hash
	// soon receives when a head is not to wait for the next turn; done is closed when
	// run has ended.
	soon, done chan struct{}

	mu sync.Mutex
	// record is what is to be kept, tip the newest durable frame.
	record *anchor.Record
	tip    journal.Tip
	// kept is the record that was kept last, nil before the first; at is when it was, err
	// why the last try failed.
	kept *anchor.Record
	at   time.Time
	err  error
}

// note notes a frame that is durable.
func (h *heads) note(t journal.Tip) {
	h.mu.Lock()
	h.tip = t
	h.mu.Unlock()
}

// state returns what is anchored of a state; nil if nothing is.
func (h *heads) state(seq bourse.Seq) *anchor.Head {
	h.mu.Lock()
	defer h.mu.Unlock()
	if known := h.record.State(seq); known != nil {
		found := *known
		return &found
	}
	return nil
}

// anchored reports whether the state at a command is anchored durably.
func (h *heads) anchored(seq bourse.Seq) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.kept != nil && h.kept.State(seq) != nil
}

// addState has a head with a state hash anchored soon.
func (h *heads) addState(tip journal.Tip, state journal.Hash) {
	h.mu.Lock()
	h.record.AddState(anchor.Head{Tip: tip, State: state, Voids: h.voids, Void: h.void})
	h.mu.Unlock()
	select {
	case h.soon <- struct{}{}:
	default: // it is due already
	}
}

// keep anchors the record with the newest head. It holds no lock while the place works,
// which may take for ever.
func (h *heads) keep() error {
	h.mu.Lock()
	if h.tip.Last > h.record.Newest.Tip.Last {
		h.record.Newest = anchor.Head{Tip: h.tip, Voids: h.voids, Void: h.void}
	}
	next := h.record.Clone()
	h.mu.Unlock()

	err := h.place.Keep(next)

	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err = err; err == nil {
		h.kept, h.at = next, time.Now()
	}
	return err
}

// reached returns the newest command that is anchored and since when; err says why the
// anchor counts as away, or is nil.
func (h *heads) reached() (kept bourse.Seq, since time.Duration, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	since = time.Since(h.at)
	if err = h.err; err == nil && since > anchorLate {
		err = errSilent
	}
	if h.kept != nil {
		kept = h.kept.Newest.Tip.Last
	}
	return kept, since, err
}

// run anchors heads until ctx ends. A failure stops nothing: watch says so, and the next
// turn tries again.
func (h *heads) run(ctx context.Context) {
	defer close(h.done)
	tick := time.NewTicker(anchorEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-h.soon:
		}
		_ = h.keep() // it is kept for watch
	}
}

// startHeads starts what anchors heads. It is not among the parts that a stop waits for:
// the place may never answer.
func (n *Node) startHeads(ctx context.Context) {
	if n.heads != nil {
		go n.heads.run(ctx)
	}
}

// stopHeads anchors the last head, with the state behind it, while ctx lasts. The line has
// stopped.
func (n *Node) stopHeads(ctx context.Context) {
	h := n.heads
	if h == nil {
		return
	}
	if h.mu.Lock(); h.tip.Last == n.engine.Seq() {
		h.record.AddState(anchor.Head{Tip: h.tip, State: n.engine.StateHash(), Voids: h.voids, Void: h.void})
	}
	h.mu.Unlock()

	kept := make(chan error, 1)
	go func() {
		<-h.done
		kept <- h.keep()
	}()
	var err error
	select {
	case err = <-kept:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		n.Log.Error("the last head of the journal is not anchored", slog.Any("error", err))
	}
}

// checkHeads logs when the anchor goes away and when it is back.
func (n *Node) checkHeads() {
	if n.heads == nil {
		return
	}
	kept, since, err := n.heads.reached()
	if away := err != nil; away != n.anchorAway {
		n.anchorAway = away
		if away {
			n.Log.Error("the anchor is away; trading goes on, and a journal that is cut back behind the last head would not be noticed",
				slog.String("anchor", n.Anchor), slog.Uint64("anchored_seq", uint64(kept)), slog.Duration("since", since), slog.Any("error", err))
		} else {
			n.Log.Warn("the anchor is back", slog.Uint64("anchored_seq", uint64(kept)))
		}
	}
}

// noted is a log that tells of each frame it yields, which is durable.
type noted struct {
	journal.Log
	tell func(journal.Tip)
}

// Next returns the next notice.
func (l *noted) Next() (*journal.Notice, bool) {
	n, ok := l.Log.Next()
	if ok && n.Kind == journal.Committed {
		b := &n.Batch
		l.tell(journal.Tip{Last: b.Last(), Chain: b.Chain, Term: b.Term, Time: b.Time})
	}
	return n, ok
}

// anchoredLog returns the log that the sequencer is to use.
func (n *Node) anchoredLog() journal.Log {
	if n.heads == nil {
		return n.log
	}
	return &noted{n.log, n.heads.note}
}
