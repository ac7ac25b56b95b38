package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/follower"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/view"
)

// openFollower starts the second engine from the newest snapshot that the
// history's cursor has reached.
func (n *Node) openFollower(ctx context.Context) error {
	cursor, err := n.store.Cursor(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", HistoryDB, err)
	}
	if err := n.checkCursor(cursor); err != nil {
		return err
	}
	snapshot, found, err := n.snapshots.Newest(cursor.Seq)
	if err != nil {
		return fmt.Errorf("snapshots: %w", err)
	}
	second, tape := engine.New(), view.NewTape()
	if found {
		state, _ := snapshot.Section(sequencer.EngineSection)
		if second, err = engine.Restore(state, func(*bourse.Events) {}); err != nil {
			return fmt.Errorf("snapshot at %d: %w", snapshot.Header.Tip.Last, err)
		}
		state, _ = snapshot.Section(view.TapeSection)
		if tape, err = view.RestoreTape(state); err != nil {
			return fmt.Errorf("snapshot at %d: %w", snapshot.Header.Tip.Last, err)
		}
	}
	reader, err := n.files.ReadBehind(second.Seq()+1, n.log.Durable)
	if err != nil {
		return fmt.Errorf("following the journal: %w", err)
	}
	n.closers = append(n.closers, reader)
	n.follower, err = follower.New(ctx, follower.Options{
		Engine: second, Tape: tape, Reader: reader, Store: n.store, Stored: n.tail.Stored, Voided: n.voids.Has,
		Snapshots: n.snapshots, Files: n.files, SnapshotEvery: n.SnapshotEvery,
	})
	return err
}

// checkCursor refuses a history that is not this journal's.
func (n *Node) checkCursor(cursor history.Cursor) error {
	foreign := fmt.Errorf("%s is not of this journal: delete it, it is rebuilt from the journal", HistoryDB)
	switch {
	case cursor.Seq == 0:
		return nil
	case cursor.Seq > n.log.Durable():
		return foreign
	}
	chain, err := n.chainAt(cursor.Seq)
	if err != nil {
		return fmt.Errorf("%s: %w", HistoryDB, err)
	}
	if chain != cursor.Chain {
		return foreign
	}
	return nil
}

// startLine starts the goroutines of the line. They end with the process, or in
// stopLine.
func (n *Node) startLine(ctx context.Context) {
	ctx, n.stopLine = context.WithCancel(context.WithoutCancel(ctx))
	n.checkRoom()
	n.spawn(func() error { return n.write(ctx) })
	n.spawn(func() error { return n.apply(ctx) })
	n.spawn(func() error { return n.prepare(ctx) })
	n.spawn(func() error { return n.deliver(ctx) })
	n.spawn(func() error { return n.follow(ctx) })
	n.spawn(func() error { return n.watch(ctx) })
	for _, a := range n.networks {
		n.spawn(func() error { return n.converse(ctx, a) })
	}
}

// spawn runs a part of the node. An error that is not the end of its context
// stops the process.
func (n *Node) spawn(part func() error) {
	n.running.Go(func() {
		if err := part(); err != nil {
			n.fail(err)
		}
	})
}

// write runs the writer of the journal.
func (n *Node) write(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		began := time.Now()
		sleep, err := n.sequencer.Write(n.clock.Now())
		if err != nil {
			return fmt.Errorf("writing the journal: %w", err)
		}
		n.metrics.step.Observe(time.Since(began).Seconds())
		if sleep == 0 && ctx.Err() == nil {
			continue
		}
		timer.Reset(time.Duration(sleep) * time.Microsecond)
		select {
		case <-ctx.Done():
			return nil
		case <-n.sequencer.Wake():
		case <-timer.C:
		}
	}
}

// apply runs the engine.
func (n *Node) apply(ctx context.Context) error {
	for {
		more, err := n.sequencer.Apply()
		if err != nil {
			return fmt.Errorf("applying the journal: %w", err)
		}
		if more {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-n.log.Ready():
		}
	}
}

// prepare keeps the journal's next segment ready.
func (n *Node) prepare(ctx context.Context) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		more, err := n.log.Prepare()
		if err != nil {
			return fmt.Errorf("preparing the journal: %w", err)
		}
		if more {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// deliver runs the feed.
func (n *Node) deliver(ctx context.Context) error {
	for {
		if n.feed.Deliver() {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-n.feed.Ready():
		}
	}
}

// follow runs the second engine. What can be tried again is, without hurry.
func (n *Node) follow(ctx context.Context) error {
	const pause = 20 * time.Millisecond
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		more, err := n.follower.Step(ctx)
		wait := pause
		var retry *follower.RetryError
		switch {
		case errors.As(err, &retry):
			if ctx.Err() == nil {
				n.Log.Error("history or snapshot failed; trying again", slog.Any("error", err))
				n.metrics.retries.Inc()
			}
			wait = time.Second
		case err != nil:
			return err
		case more:
			continue
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
	}
	return nil
}
