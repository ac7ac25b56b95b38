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

// Advance is how far a start goes in a journal without those behind the engine, who
// need not see what it does until then.
type Advance struct {
	// Reader yields what follows the state; To is the last command that may be
	// applied: frames that end behind it are not.
	Reader journal.Reader
	To     bourse.Seq
	// Voided are the commands that operators took out of effect.
	Voided func(bourse.Seq) bool
	// Progress, if not nil, is told each frame's last command, and Seen shown each
	// command and what it did.
	Progress func(bourse.Seq)
	Seen     func(*bourse.Command, *bourse.Events)
}

// From advances the state of a snapshot, or the first one if section is nil, and
// returns the sections of what it came to.
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

// step is the command at hand and what it did, in memory that is used again.
type step struct {
	cmd bourse.Command
	ev  bourse.Events
}

// frame applies the commands of a frame that the state does not hold yet, and shows
// each to seen, if that is not nil.
func (t *step) frame(s State, b *journal.Batch, voided func(bourse.Seq) bool, seen func(*bourse.Command, *bourse.Events)) error {
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
