package follower

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/view"
)

// State is an engine with its market data, the content of a snapshot.
type State struct {
	Engine *engine.Engine
	Tape   *view.Tape
}

// NewState returns the state before the first command.
func NewState() State { return State{engine.New(), view.NewTape()} }

// RestoreState rebuilds the state of a snapshot.
func RestoreState(section sequencer.Section) (State, error) {
	saved, _ := section(sequencer.EngineSection)
	e, err := engine.Restore(saved, func(*bourse.Events) {})
	if err != nil {
		return State{}, fmt.Errorf("engine: %w", err)
	}
	saved, _ = section(view.TapeSection)
	tape, err := view.RestoreTape(saved)
	if err != nil {
		return State{}, fmt.Errorf("tape: %w", err)
	}
	return State{e, tape}, nil
}

// Section returns the bytes of a snapshot's section by its name.
func (s State) Section(name string) ([]byte, bool) {
	var b bytes.Buffer
	emit := func(piece []byte) { b.Write(piece) }
	switch name {
	case sequencer.EngineSection:
		s.Engine.Snapshot(emit)
	case view.TapeSection:
		s.Tape.Snapshot(emit)
	default:
		return nil, false
	}
	return b.Bytes(), true
}

// Advance replays the journal into an engine without notifying observers.
type Advance struct {
	// Reader yields the frames after the state; To is the last command to apply: frames
	// that end beyond it are not applied.
	Reader journal.Reader
	To     bourse.Seq
	// Voided reports the commands that operators took out of effect.
	Voided func(bourse.Seq) bool
	// Progress, if not nil, is called with each frame's last command; Seen, if not nil,
	// with each command and its events.
	Progress func(bourse.Seq)
	Seen     func(*bourse.Command, *bourse.Events)
}

// From advances the state of a snapshot, or the empty state if section is nil, and
// returns the sections of the result.
func (a *Advance) From(section sequencer.Section) (sequencer.Section, error) {
	s, step := NewState(), step{}
	if section != nil {
		var err error
		if s, err = RestoreState(section); err != nil {
			return nil, err
		}
	}

	for {
		b, err := a.Reader.Next()
		switch {
		case errors.Is(err, io.EOF) || err == nil && b.Last() > a.To:
			return s.Section, nil
		case err == nil:
			err = step.frame(s, b, a.Voided, a.Seen)
		}
		if err != nil {
			return nil, err
		}
		if a.Progress != nil {
			a.Progress(b.Last())
		}
	}
}

// step is the current command and its events, in reused memory.
type step struct {
	cmd bourse.Command
	ev  bourse.Events
}

// frame applies the commands of a frame after the state's last one, and calls seen, if
// not nil, for each.
func (t *step) frame(
	s State, b *journal.Batch, voided func(bourse.Seq) bool, seen func(*bourse.Command, *bourse.Events),
) error {
	frame := record.Frame{First: b.First, Count: b.Count, Time: b.Time, Commands: b.Commands}
	return frame.Each(&t.cmd, s.Engine.Expect, func() error {
		if t.cmd.Seq <= s.Engine.Seq() {
			return nil
		}
		t.ev.Reset()
		if voided(t.cmd.Seq) {
			s.Engine.Skip(&t.cmd, &t.ev)
		} else {
			s.Engine.Apply(&t.cmd, &t.ev)
		}
		s.Tape.Fold(&t.cmd, &t.ev, nil)
		if seen != nil {
			seen(&t.cmd, &t.ev)
		}
		return nil
	})
}
