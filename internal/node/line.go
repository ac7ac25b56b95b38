package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/pprof"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/binance/live"
	"github.com/bourse-exchange/bourse/internal/api/stream"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/follower"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// Line runs a sequencer on its journal. Each method runs until ctx ends, on a goroutine
// of its own; an error of one is final for all.
type Line struct {
	Log       journal.Log
	Sequencer *sequencer.Sequencer
	// Follower may be nil if Follow is not called.
	Follower *follower.Follower
	Now      func() bourse.Time
	// Wrote receives the duration of each step of the writer.
	Wrote func(time.Duration)
	// Retrying receives each error that is retried.
	Retrying func(error)
	// Unprepared receives the error for which the disk has no room for the journal's next
	// segment, and nil once that segment is whole.
	Unprepared func(error)
}

// Write runs the journal's writer.
func (l *Line) Write(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		began := time.Now()
		sleep, err := l.Sequencer.Write(l.Now())
		if err != nil {
			return fmt.Errorf("writing the journal: %w", err)
		}
		l.Wrote(time.Since(began))
		if sleep == 0 && ctx.Err() == nil {
			continue
		}
		timer.Reset(time.Duration(sleep) * time.Microsecond)
		select {
		case <-ctx.Done():
			return nil
		case <-l.Sequencer.Wake():
		case <-timer.C:
		}
	}
}

// Apply runs the engine.
func (l *Line) Apply(ctx context.Context) error {
	for {
		more, err := l.Sequencer.Apply()
		if err != nil {
			return fmt.Errorf("applying the journal: %w", err)
		}
		if more {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-l.Log.Ready():
		}
	}
}

// Prepare keeps the journal's next segment ready. While the disk is full it tries again,
// and cancels go on in the current segment. It begins as soon as a segment is in use,
// because a full disk must be reported before that segment is full, however small it is.
func (l *Line) Prepare(ctx context.Context) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()

	for full := false; ; {
		more, err := l.Log.Prepare()
		if err != nil {
			err = fmt.Errorf("preparing the journal: %w", err)
		}
		if err != nil && !disk.IsFull(err) {
			return err
		}
		if more {
			continue
		}

		if full != (err != nil) {
			l.Unprepared(err)
		}
		full = err != nil

		select {
		case <-ctx.Done():
			return nil
		case <-l.Log.Unprepared():
		case <-tick.C:
		}
	}
}

// The pauses of the follower: when idle, and after failures, each twice as long as the
// last. A transaction of many rows costs little more than one of few, because they share
// pages, and no reader waits for rows: until the store has them they are read from
// memory.
const (
	idlePause  = 250 * time.Millisecond
	firstPause = 250 * time.Millisecond
	lastPause  = 4 * time.Second
)

// Follow runs the follower. Errors that may pass are retried with growing pauses. Profiles tell
// its goroutine by the label part=history.
func (l *Line) Follow(ctx context.Context) error {
	pprof.SetGoroutineLabels(pprof.WithLabels(ctx, pprof.Labels("part", "history")))
	timer := time.NewTimer(0)
	defer timer.Stop()
	pause := firstPause

	for ctx.Err() == nil {
		more, err := l.Follower.Step(ctx)
		wait := idlePause
		var retry *follower.RetryError
		switch {
		case errors.As(err, &retry):
			if ctx.Err() == nil {
				l.Retrying(err)
			}
			wait, pause = pause, min(2*pause, lastPause)
		case err != nil:
			return err
		default:
			pause = firstPause
			if more {
				continue
			}
		}

		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
	}
	return nil
}

// startLine starts the goroutines of the line. They end with the process, or in
// stopLine.
func (n *Node) startLine(ctx context.Context) {
	ctx, n.stopLine = context.WithCancel(context.WithoutCancel(ctx))
	n.checkRoom()
	line := &Line{
		Log: n.log, Sequencer: n.sequencer, Follower: n.follower, Now: n.clock.Now,
		Wrote:    n.wrote,
		Retrying: n.retrying, Unprepared: n.unprepared,
	}
	for _, part := range [...]func(context.Context) error{
		line.Write, line.Apply, line.Prepare, line.Follow, n.deliver, n.encode, n.sweep, n.deliverToBots, n.encodeForBots,
		n.beat, n.beatForBots, n.watch, n.expire, n.pollStores, n.mailLetters, n.mailNews, n.watchPeers,
		n.carryBulletins, n.watchLead, n.watchDisk,
	} {
		n.spawn(func() error { return part(ctx) })
	}
	n.startHeads(ctx)
	for _, a := range n.networks {
		n.spawn(func() error { return n.converse(ctx, a) })
	}
}

// spawn runs a part of the node on a goroutine. Its error stops the process.
func (n *Node) spawn(part func() error) {
	n.running.Go(func() {
		if err := part(); err != nil {
			n.fail(err)
		}
	})
}

// retrying logs an error that the follower retries.
func (n *Node) retrying(err error) {
	n.Log.Error("something failed that stops no trading; trying again", slog.Any("error", err))
	n.metrics.retries.Inc()
}

func (n *Node) applied(took time.Duration) { n.metrics.apply.Observe(took.Seconds()) }

// deliver runs the feed.
func (n *Node) deliver(ctx context.Context) error { return deliver(ctx, n.feed) }

// deliverToBots runs the feed of the interface that bots of Binance speak.
func (n *Node) deliverToBots(ctx context.Context) error { return deliver(ctx, n.botFeed) }

// deliver runs a feed until ctx ends.
func deliver(ctx context.Context, f *feed.Feed) error {
	for {
		if f.Deliver() {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-f.Ready():
		}
	}
}

// beat posts the messages of the streams that are paced.
func (n *Node) beat(ctx context.Context) error {
	return every(ctx, stream.BeatEvery, n.publisher.Pulse().Beat)
}

// beatForBots posts the messages of the interface that bots of Binance speak that come at
// intervals.
func (n *Node) beatForBots(ctx context.Context) error {
	return every(ctx, live.BeatEvery, live.NewPulse(n.botPublisher).Beat)
}

// encode runs the feed's slow messages, which may wait for the accounts' database.
func (n *Node) encode(ctx context.Context) error { return encode(ctx, n.feed) }

// encodeForBots runs the slow messages of the interface that bots of Binance speak, which may
// wait for the history.
func (n *Node) encodeForBots(ctx context.Context) error { return encode(ctx, n.botFeed) }

// encode runs a feed's slow messages until ctx ends.
func encode(ctx context.Context, f *feed.Feed) error {
	for {
		if f.Encode() {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-f.Slow():
		}
	}
}

// sweepEvery is the time between sweeps of the feed: a client that comes back within it gets
// the missed messages from memory.
const sweepEvery = time.Minute

// sweep lets the feed forget the streams that all clients have left.
func (n *Node) sweep(ctx context.Context) error { return every(ctx, sweepEvery, n.feed.Sweep) }
