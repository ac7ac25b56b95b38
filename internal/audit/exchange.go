package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// Exchange is a data directory, open for reading.
type Exchange struct {
	Identity  journal.Identity
	Files     *journal.Files
	Snapshots *journal.Snapshots
	Voids     *journal.VoidList
	dir       *disk.Dir
}

// ErrEmpty reports that a directory holds no journal.
var ErrEmpty = errors.New("there is no journal")

// Open opens a data directory.
func Open(path string) (*Exchange, error) {
	dir, err := disk.OpenExisting(path)
	if err != nil {
		return nil, err
	}
	x := &Exchange{dir: dir}
	if err := x.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), dir.Close())
	}
	return x, nil
}

func (x *Exchange) open() error {
	id, found, err := journal.Identify(x.dir)
	if err != nil {
		return err
	}
	if !found {
		return ErrEmpty
	}
	x.Identity = id
	x.Files, x.Snapshots = journal.NewFiles(x.dir, id), journal.NewSnapshots(x.dir, id)
	x.Snapshots.Reads = reads
	x.Voids, err = journal.LoadVoids(x.dir, id)
	return err
}

// reads reports whether this program reads a snapshot's state. Replays do without those of other programs.
func reads(s *journal.Snapshot) bool {
	section, _ := s.Section(sequencer.EngineSection)
	return engine.Reads(section)
}

// Close releases the directory.
func (x *Exchange) Close() error { return x.dir.Close() }

// Replayed is the result of a replay.
type Replayed struct {
	Engine *engine.Engine
	// Tip is the last frame that was replayed completely.
	Tip journal.Tip
	// Since is the sequence of the starting snapshot; zero for the beginning.
	Since bourse.Seq
	// frame, if not nil, is called after each completely replayed frame.
	frame func(last bourse.Seq, chain journal.Hash)
}

// Visit is called after each command of a replay with its events. An error ends the
// replay.
type Visit func(e *engine.Engine, cmd *bourse.Command, ev *bourse.Events) error

// Everything is the end of a replay of the whole journal.
const Everything = ^bourse.Seq(0)

// Replay replays the journal from its beginning up to and including a command.
func (x *Exchange) Replay(to bourse.Seq, visit Visit) (*Replayed, error) {
	return x.replay(&Replayed{Engine: engine.New()}, to, visit)
}

// replayFrom replays the journal from a snapshot.
func (x *Exchange) replayFrom(s *journal.Snapshot, to bourse.Seq) (*Replayed, error) {
	at := s.Header.Tip.Last
	state, _ := s.Section(sequencer.EngineSection)
	e, err := engine.Restore(state, func(*bourse.Events) {})
	if err != nil {
		return nil, fmt.Errorf("snapshot at %d: %w", at, err)
	}
	return x.replay(&Replayed{Engine: e, Tip: s.Header.Tip, Since: at}, to, nil)
}

// load reads a listed snapshot. It returns nil if a running exchange has removed the
// snapshot since.
func (x *Exchange) load(at bourse.Seq) (*journal.Snapshot, error) {
	s, err := x.Snapshots.Load(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return s, err
}

// ReplayNewest replays the journal from the newest snapshot, if there is one.
func (x *Exchange) ReplayNewest(to bourse.Seq) (*Replayed, error) {
	s, found, err := x.Snapshots.Newest(to)
	if err != nil {
		return nil, err
	}
	if !found {
		return x.Replay(to, nil)
	}
	return x.replayFrom(s, to)
}

// ReplayOldest replays the journal from its beginning, or, if that was pruned, from the
// oldest snapshot that the kept journal continues.
func (x *Exchange) ReplayOldest(to bourse.Seq) (*Replayed, error) {
	r, err := x.Replay(to, nil)
	if !errors.Is(err, journal.ErrCompacted) {
		return r, err
	}
	snapshots, listErr := x.Snapshots.List()
	if listErr != nil {
		return nil, listErr
	}

	for _, at := range snapshots {
		if at > to {
			continue
		}
		s, loadErr := x.load(at)
		if loadErr != nil {
			return nil, loadErr
		}
		if s == nil || !reads(s) {
			continue
		}
		if r, fromErr := x.replayFrom(s, to); !errors.Is(fromErr, journal.ErrCompacted) {
			return r, fromErr
		}
	}
	return nil, err
}

func (x *Exchange) replay(r *Replayed, to bourse.Seq, visit Visit) (_ *Replayed, err error) {
	reader, err := x.Files.Read(r.Engine.Seq() + 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	p := player{x: x, r: r, to: to, visit: visit}
	for r.Engine.Seq() < to {
		batch, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = p.play(batch)
		}
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// player applies frames to an engine.
type player struct {
	x     *Exchange
	r     *Replayed
	to    bourse.Seq
	visit Visit
	cmd   bourse.Command
	ev    bourse.Events
}

func (p *player) play(b *journal.Batch) error {
	if err := each(b, &p.cmd, p.r.Engine.Expect, p.step); err != nil {
		return err
	}
	if p.r.Engine.Seq() == b.Last() {
		if p.r.frame != nil {
			p.r.frame(b.Last(), b.Chain)
		}
		p.r.Tip = b.Tip()
	}
	return nil
}

// each decodes the commands of a frame.
func each(b *journal.Batch, cmd *bourse.Command, expect func([]bourse.OrderID), visit func() error) error {
	frame := record.Frame{First: b.First, Count: b.Count, Time: b.Time, Commands: b.Commands}
	return frame.Each(cmd, expect, visit)
}

// step applies the current command to the engine, if it is in the range of the replay.
func (p *player) step() error {
	if p.cmd.Seq <= p.r.Engine.Seq() || p.cmd.Seq > p.to {
		return nil
	}
	p.ev.Reset()
	if p.x.Voids.Has(p.cmd.Seq) {
		p.r.Engine.Skip(&p.cmd, &p.ev)
	} else {
		p.r.Engine.Apply(&p.cmd, &p.ev)
	}
	if p.visit == nil {
		return nil
	}
	return p.visit(p.r.Engine, &p.cmd, &p.ev)
}
