package follower

import (
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/record"
)

// Trial replays a journal up to one command, to learn whether the engine can apply it.
type Trial struct {
	// Reader yields the frames after the engine's last command.
	Reader journal.Reader
	// Seq is the command to try. Later commands are not applied.
	Seq bourse.Seq
	// Voided reports the commands that are already voided.
	Voided func(bourse.Seq) bool
}

// ErrUnreached means that the replay ended before the command to try.
var ErrUnreached = errors.New("the journal ends before it")

// ImpossibleError is a command that the engine cannot apply, and the assertion that
// fails.
type ImpossibleError struct {
	Seq   bourse.Seq
	Cause error
}

// Error names the command and the assertion.
func (e *ImpossibleError) Error() string { return fmt.Sprintf("command %d: %v", e.Seq, e.Cause) }

// Unwrap returns the assertion.
func (e *ImpossibleError) Unwrap() error { return e.Cause }

// Run applies commands up to and including Seq to an engine. It returns nil if the engine
// can apply them all, and an *ImpossibleError for the first one that fails an assertion;
// the engine must not be used after that. Other errors mean that the journal cannot be
// read.
func (t *Trial) Run(e *engine.Engine) error {
	p := attempt{Trial: t, engine: e}

	for e.Seq() < t.Seq {
		b, err := t.Reader.Next()
		if errors.Is(err, io.EOF) {
			return ErrUnreached
		}
		if err == nil {
			err = p.frame(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// attempt is a running Trial: the current command and its events.
type attempt struct {
	*Trial
	engine *engine.Engine
	cmd    bourse.Command
	ev     bourse.Events
}

// frame applies the commands of a frame up to Seq.
func (a *attempt) frame(b *journal.Batch) error {
	frame := record.Frame{First: b.First, Count: b.Count, Time: b.Time, Commands: b.Commands}
	return frame.Each(&a.cmd, a.engine.Expect, func() error {
		if a.cmd.Seq <= a.engine.Seq() || a.cmd.Seq > a.Seq {
			return nil
		}
		return a.apply()
	})
}

// apply applies the current command. A failed assertion, the engine's own or Go's,
// becomes an error instead of a panic.
func (a *attempt) apply() (err error) {
	seq := a.cmd.Seq
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case bourse.InvariantError:
			err = &ImpossibleError{seq, cause}
		case runtime.Error:
			err = &ImpossibleError{seq, cause}
		default:
			panic(cause)
		}
	}()

	a.ev.Reset()
	if a.Voided(seq) {
		a.engine.Skip(&a.cmd, &a.ev)
	} else {
		a.engine.Apply(&a.cmd, &a.ev)
	}
	return nil
}
