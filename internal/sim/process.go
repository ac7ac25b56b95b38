package sim

import (
	"context"
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/follower"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// process is a running exchange, assembled like node's, without interfaces and
// goroutines.
type process struct {
	world *world

	log       *filelog.Log
	recovered *journal.Recovery
	files     *journal.Files
	snapshots *journal.Snapshots
	voids     *journal.VoidList

	view      *view.View
	tail      *history.Tail
	reader    *history.Reader
	engine    *engine.Engine
	sequencer *sequencer.Sequencer
	follower  *follower.Follower

	board   *wallet.Board
	signer  *signer.Local
	workers map[bourse.NetworkID]*wallet.Worker
}

// open starts an exchange on the world's disk and history, in node's order.
func open(ctx context.Context, w *world) (*process, error) {
	p := &process{world: w, board: wallet.NewBoard(), workers: map[bourse.NetworkID]*wallet.Worker{}}
	for _, step := range []func(context.Context) error{
		p.openJournal, p.buildLine, p.replay, p.openFollower, p.openWallet,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *process) openJournal(context.Context) error {
	w := p.world
	id, exists, err := journal.Identify(w.disk)
	if err != nil {
		return err
	}
	if exists && id != w.identity {
		fail("the journal says that it is of exchange %x", id.Exchange)
	}

	p.log, p.recovered, err = filelog.Open(w.disk, journal.Options{Identity: w.identity, SegmentSize: w.shape.segment})
	if err != nil {
		return err
	}

	p.files = journal.NewFiles(w.disk, w.identity)
	p.snapshots = journal.NewSnapshots(w.disk, w.identity)
	p.snapshots.OnDamage = func(d *journal.DamageError) { w.trail.note("passed over: %v", d) }
	p.voids, err = journal.LoadVoids(w.disk, w.identity)
	return err
}

func (p *process) buildLine(ctx context.Context) error {
	w := p.world
	cursor, err := w.store.Cursor(ctx)
	if err != nil {
		return err
	}
	p.view, p.tail = view.New(), history.NewTail(w.shape.tailRows)
	p.tail.Stored(cursor)
	p.reader = history.NewReader(w.store, p.tail, p.view)
	p.reader.Patience = 0

	observers := []sequencer.Observer{p.tail, p.view, p.board, &witness{world: w}}
	p.engine = engine.New()
	section, err := p.restorable()
	if err != nil {
		return err
	}

	if section != nil {
		if p.engine, err = sequencer.Restore(section, observers); err != nil {
			return fmt.Errorf("snapshot: %w", err)
		}
		w.count(Restored)
	}

	p.sequencer = sequencer.New(sequencer.Options{
		Log: p.log, Engine: p.engine, Observers: observers, Voided: p.voids.Has, Load: p.load,
	})
	return nil
}

// restorable returns the snapshot to restore; observers replay everything after it. Nil
// means genesis.
func (p *process) restorable() (sequencer.Section, error) {
	snapshot, found, err := p.snapshots.Newest(p.log.Durable())
	if err != nil {
		return nil, err
	}
	var section sequencer.Section
	var at bourse.Seq
	if found {
		section, at = snapshot.Section, snapshot.Header.Tip.Last
	}

	to := p.tail.Unneeded(p.log.Durable())
	if to <= at {
		return section, nil
	}

	r, err := p.read(at)
	if err != nil {
		return nil, err
	}
	p.world.truth.learnUntil(at, p.world.files)
	a := follower.Advance{Reader: r, To: to, Voided: p.voids.Has, Seen: (&witness{world: p.world, seq: at}).Observe}
	section, err = a.From(section)
	return section, errors.Join(err, r.Close())
}

func (p *process) load(at bourse.Seq) (sequencer.Section, error) {
	s, err := p.snapshots.Load(at)
	if err != nil {
		return nil, err
	}
	return s.Section, nil
}

func (p *process) replay(context.Context) error {
	r, err := p.read(p.engine.Seq())
	if err != nil {
		return err
	}
	return errors.Join(p.sequencer.Replay(r, nil), r.Close())
}

// read returns a reader of the journal after a command.
func (p *process) read(from bourse.Seq) (journal.Reader, error) {
	r, err := p.log.Read(from + 1)
	if errors.Is(err, journal.ErrCompacted) {
		if !p.world.faults.flipped {
			fail("the live segments do not reach back to the snapshot at %d", from)
		}
		r, err = p.files.Read(from + 1)
	}
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	return r, nil
}

func (p *process) openFollower(ctx context.Context) error {
	w := p.world
	cursor, err := w.store.Cursor(ctx)
	if err != nil {
		return err
	}
	if err := p.checkCursor(cursor); err != nil {
		return err
	}

	snapshot, found, err := p.snapshots.Newest(cursor.Seq)
	if err != nil {
		return err
	}
	w.checkAnchor(found)

	second := follower.NewState()
	if found {
		if second, err = follower.RestoreState(snapshot.Section); err != nil {
			return fmt.Errorf("snapshot at %d: %w", snapshot.Header.Tip.Last, err)
		}
	}

	reader, err := p.files.ReadBehind(second.Engine.Seq()+1, p.log.Durable)
	if err != nil {
		return fmt.Errorf("following the journal: %w", err)
	}
	if second.Engine.Seq()+1 < p.recovered.First {
		w.count(ReadArchive)
	}

	p.follower, err = follower.New(ctx, follower.Options{
		State: second, Reader: reader, Store: w.store, Stored: p.tail.Stored, Voided: p.voids.Has,
		Snapshots: p.snapshots, Files: p.files, SnapshotEvery: w.shape.snapshotEvery,
		SnapshotBytes: 40 * w.shape.segment,
	})
	return err
}

// checkCursor compares the history's cursor with the journal.
func (p *process) checkCursor(cursor history.Cursor) error {
	if cursor.Seq == 0 {
		return nil
	}
	if cursor.Seq > p.log.Durable() {
		fail("history is at %d, the journal ends at %d", cursor.Seq, p.log.Durable())
	}
	reader, err := p.files.Read(cursor.Seq)
	if err != nil {
		return err
	}
	batch, err := reader.Next()
	if err == nil && batch.Chain != cursor.Chain {
		fail("history at %d is of another journal", cursor.Seq)
	}
	return errors.Join(err, reader.Close())
}

// stop stops the process in order: new commands are refused, open ones answered, and the
// journal is sealed.
func (p *process) stop(ctx context.Context) error {
	refusal := bourse.Errorf(bourse.CodeBusy, "going down")
	p.sequencer.Refuse(sequencer.Orders, refusal)
	p.sequencer.Refuse(sequencer.Cancels, refusal)
	for !p.sequencer.Idle() {
		sleep, err := p.sequencer.Write(p.world.now)
		if err != nil {
			return err
		}
		more, err := p.sequencer.Apply()
		if err != nil {
			return err
		}
		if !more {
			p.world.now += sleep // a full disk is tried again at the next tick
		}
	}
	if err := p.follower.Finish(ctx); err != nil {
		p.world.trail.note("history is behind: %v", err)
	}
	return p.log.Close()
}
