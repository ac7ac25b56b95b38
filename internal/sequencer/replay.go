package sequencer

import (
	"errors"
	"io"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/record"
)

// Replay applies what the journal has had since the engine's last command, at a
// start, before Write and Apply are called: nobody waits for it. progress, if not
// nil, is told each frame's last command.
func (s *Sequencer) Replay(r journal.Reader, progress func(bourse.Seq)) error {
	return s.replay(r, progress, func(b *journal.Batch) error { return s.applyBatch(b, nil) })
}

// ReplayBeside is Replay for who has a processor to spare: run starts its argument
// on a goroutine, where the observers see what the engine did, in the same order,
// while the engine is some commands ahead. It returns when they have seen all.
func (s *Sequencer) ReplayBeside(r journal.Reader, progress func(bourse.Seq), run func(func())) error {
	q := newRelay()
	run(func() { s.observeSteps(q) })
	err := s.replay(r, progress, func(b *journal.Batch) error { return s.decideBatch(b, q) })
	q.close()
	return err
}

func (s *Sequencer) replay(r journal.Reader, progress func(bourse.Seq), apply func(*journal.Batch) error) error {
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			s.written = s.engine.Now()
			return nil
		}
		if err == nil {
			err = apply(b)
		}
		if err != nil {
			return err
		}
		if progress != nil {
			progress(b.Last())
		}
	}
}

// decideBatch takes a frame through the engine, and leaves what it did to the
// observers' goroutine.
func (s *Sequencer) decideBatch(b *journal.Batch, q *relay) error {
	q.next(stepBegin)
	frame := record.Frame{First: b.First, Count: b.Count, Time: b.Time, Commands: b.Commands}
	err := frame.Each(&s.cmd, func() error {
		if s.cmd.Seq > s.engine.Seq() {
			t := q.next(stepCommand)
			t.cmd = s.cmd
			s.decide(&t.cmd, &t.ev)
		}
		return nil
	})
	if err != nil {
		return err
	}
	q.next(stepEnd).cmd.Seq = b.Last()
	if s.engine.Unfinished() {
		s.unfinished.Store(true)
	}
	return nil
}

// observeSteps lets the observers see what comes through a relay.
func (s *Sequencer) observeSteps(q *relay) {
	for steps := range q.full {
		for i := range steps {
			s.observeStep(&steps[i])
		}
		q.spent <- steps
	}
	close(q.done)
}

func (s *Sequencer) observeStep(t *step) {
	switch t.kind {
	case stepBegin:
		s.begin()
	case stepCommand:
		s.observe(&t.cmd, &t.ev)
	case stepEnd:
		s.end(t.cmd.Seq)
	}
}

// step is what the observers have to see: the begin of a frame, a command and what
// it did, or the end of a frame, with the last command in cmd.Seq.
type step struct {
	kind stepKind
	cmd  bourse.Command
	ev   bourse.Events
}

type stepKind uint8

const (
	stepBegin stepKind = iota + 1
	stepCommand
	stepEnd
)

const (
	// portion is how many steps are handed over at once: enough that waking the
	// other goroutine costs little for each.
	portion = 128
	// portions bounds the memory, and how far the engine is ahead: one is filled,
	// one observed, and two make up for commands that one side finds harder. All of
	// them are some 600 kB, which caches hold.
	portions = 4
)

// relay hands steps from the goroutine that applies to the one that observes, in
// portions that go round.
type relay struct {
	filling     []step
	full, spent chan []step
	done        chan struct{}
}

func newRelay() *relay {
	q := &relay{full: make(chan []step, portions), spent: make(chan []step, portions), done: make(chan struct{})}
	for range portions {
		q.spent <- make([]step, portion)
	}
	q.filling = (<-q.spent)[:0]
	return q
}

// next returns the next step, to be filled before the one after it is asked for.
// Its events keep their memory.
func (q *relay) next(kind stepKind) *step {
	n := len(q.filling)
	if n == portion {
		q.full <- q.filling
		q.filling, n = (<-q.spent)[:0], 0
	}
	q.filling = q.filling[:n+1]
	q.filling[n].kind = kind
	return &q.filling[n]
}

// close hands over the last steps, and waits until all have been observed.
func (q *relay) close() {
	q.full <- q.filling
	close(q.full)
	<-q.done
}
