package node

import (
	"context"
	"log/slog"
	"time"

	"github.com/bourse-exchange/bourse/internal/anchor"
	"github.com/bourse-exchange/bourse/internal/journal"
)

const (
	// anchorEvery is the time between anchored heads. A cut after a crash that removes
	// less than this goes unnoticed.
	anchorEvery = 5 * time.Second
	// anchorLate is the age of the newest head at which the anchor counts as away.
	anchorLate = 3 * anchorEvery
)

// heads anchors the journal's heads, on a goroutine of its own.
type heads struct {
	*anchor.Keeper
	// done is closed when run has ended.
	done chan struct{}
}

// run anchors heads until ctx ends. A failure stops nothing: watch logs it, and the next
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
		case <-h.Soon():
		}
		_ = h.Keep() // Reached returns the error to watch
	}
}

// startHeads starts the goroutine of heads. The line's stop does not wait for it, because
// the anchor may never answer.
func (n *Node) startHeads(ctx context.Context) {
	if n.heads != nil {
		go n.heads.run(ctx)
	}
}

// stopHeads anchors the last head and its state, until ctx ends. Call it after the line
// has stopped.
func (n *Node) stopHeads(ctx context.Context) {
	h := n.heads
	if h == nil {
		return
	}
	if tip := h.Tip(); tip.Last == n.engine.Seq() {
		h.AddState(tip, n.engine.StateHash())
	}

	kept := make(chan error, 1)
	go func() {
		<-h.done
		kept <- h.Keep()
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
	kept, since, err := n.heads.Reached()
	if away := err != nil; away != n.anchorAway {
		n.anchorAway = away
		if away {
			n.Log.Error("the anchor is away; trading goes on, and a journal that is cut back behind the last head would not be noticed",
				slog.String("anchor", n.Anchor), slog.Uint64("anchored_seq", uint64(kept)),
				slog.Duration("since", since), slog.Any("error", err))
		} else {
			n.Log.Warn("the anchor is back", slog.Uint64("anchored_seq", uint64(kept)))
		}
	}
}

// noted is a log that reports the tip of each committed frame that it yields.
type noted struct {
	journal.Log
	tell func(journal.Tip)
}

// Next returns the next notice.
func (l *noted) Next() (*journal.Notice, bool) {
	n, ok := l.Log.Next()
	if ok && n.Kind == journal.Committed {
		b := &n.Batch
		l.tell(b.Tip())
	}
	return n, ok
}

// anchoredLog returns the sequencer's log, which notes heads if there is an anchor.
func (n *Node) anchoredLog() journal.Log {
	if n.heads == nil {
		return n.log
	}
	return &noted{n.log, n.heads.Note}
}
