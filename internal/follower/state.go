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

// State is what a snapshot holds: an engine, and the market data beside it.
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

// Section returns what a snapshot of the state holds under a name.
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

// Advance takes the state of a snapshot, or the first one if section is nil, through
// the frames of a journal behind it that end at a command or before: what a start
// goes over that nobody behind the engine has to see. progress is told each frame's
// last command.
func Advance(
	section sequencer.Section, r journal.Reader, to bourse.Seq, voided func(bourse.Seq) bool, progress func(bourse.Seq),
) (sequencer.Section, error) {
	s, step := NewState(), step{}
	if section != nil {
		var err error
		if s, err = RestoreState(section); err != nil {
			return nil, err
		}
	}
	for {
		b, err := r.Next()
		switch {
		case errors.Is(err, io.EOF) || err == nil && b.Last() > to:
			return s.Section, nil
		case err == nil:
			err = step.frame(s, b, voided, nil)
		}
		if err != nil {
			return nil, err
		}
		progress(b.Last())
	}
}

// step is the command at hand and what it did, in memory that is used again.
type step struct {
	cmd bourse.Command
	ev  bourse.Events
}

// frame applies the commands of a frame that the state does not hold yet, and shows
// each to seen.
func (t *step) frame(s State, b *journal.Batch, voided func(bourse.Seq) bool, seen func()) error {
	frame := record.Frame{First: b.First, Count: b.Count, Time: b.Time, Commands: b.Commands}
	return frame.Each(&t.cmd, func() error {
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
			seen()
		}
		return nil
	})
}
