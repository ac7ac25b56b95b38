package sim

import (
	"bytes"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// truth is what the journal ever yielded, and what came of it in an exchange that
// never stops: the engine, a twin that is restored from snapshots, and the naive
// oracle.
type truth struct {
	pair *enginetest.Pair
	// board is what wallets must see.
	board *wallet.Board
	// past is by sequence less one.
	past []happening
	// rows are what history must hold, those of a command behind those of the
	// one before it.
	rows history.Batch
	// named is when a client id was decided on last, and not only repeated.
	named map[name]bourse.Time
	// command is what see works with.
	command []byte
}

// name is a client id of an account.
type name struct {
	account bourse.AccountID
	id      bourse.ClientID
}

// happening is one command of the past.
type happening struct {
	time    bourse.Time
	command []byte
	events  bourse.Events
}

func newTruth() *truth {
	return &truth{pair: enginetest.NewPair(), board: wallet.NewBoard(), named: map[name]bourse.Time{}}
}

// last returns the last command that was ever yielded.
func (t *truth) last() bourse.Seq { return bourse.Seq(len(t.past)) }

// at returns a command of the past.
func (t *truth) at(seq bourse.Seq) *happening {
	if seq == 0 || seq > t.last() {
		fail("command %d was answered, and %d is the last that was yielded", seq, t.last())
	}
	return &t.past[seq-1]
}

// see takes in what an exchange did with a command: it must be what it was at the
// first time. It reports whether this was the first time.
func (t *truth) see(cmd *bourse.Command, ev *bourse.Events) bool {
	first := cmd.Seq > t.last()
	if first {
		own := *cmd
		t.learn(&own)
	}
	t.command = record.Append(t.command[:0], cmd)
	t.compare(cmd, t.command, ev)
	return first
}

// learn carries out a command for the first time.
func (t *truth) learn(cmd *bourse.Command) {
	if err := t.pair.Apply(cmd); err != nil {
		fail("%w", err)
	}
	ev := t.pair.Events()
	t.board.Observe(cmd, ev)
	t.board.End()
	t.past = append(t.past, happening{
		time: cmd.Time, command: record.Append(nil, cmd), events: cloneEvents(ev),
	})
	history.Project(cmd, ev, &t.rows)
	if cmd.Kind == bourse.CommandPlace && !ev.Outcome.Repeated && ev.Outcome.Reason != bourse.DuplicateClientID {
		t.named[name{cmd.Account, cmd.Place.ClientID}] = cmd.Time
	}
}

// learnUntil reads in the journal what no live engine has shown: the follower may
// be ahead of it, and then the next start may begin from a snapshot beyond it.
func (t *truth) learnUntil(last bourse.Seq, files func() *journal.Files) {
	if last <= t.last() {
		return
	}
	reader, err := files().Read(t.last() + 1)
	want(err, "reading the journal")
	for t.last() < last {
		b, err := reader.Next()
		want(err, "reading the journal")
		t.learnFrame(b)
	}
	want(reader.Close(), "reading the journal")
}

func (t *truth) learnFrame(b *journal.Batch) {
	cmd := new(bourse.Command)
	frame := record.Frame{First: b.First, Count: b.Count, Time: b.Time, Commands: b.Commands}
	want(frame.Each(cmd, nil, func() error {
		if cmd.Seq > t.last() {
			learned := *cmd
			t.learn(&learned)
		}
		return nil
	}), "reading the journal")
}

// compare holds what an exchange did with a command against what it was: in the
// engine that never stops, and each time before.
func (t *truth) compare(cmd *bourse.Command, written []byte, ev *bourse.Events) {
	was := t.at(cmd.Seq)
	switch {
	case cmd.Time != was.time || !bytes.Equal(written, was.command):
		fail("command %d was another one before: %x at %d, now %x at %d", cmd.Seq, was.command, was.time, written, cmd.Time)
	case ev.Outcome != was.events.Outcome:
		fail("command %d had the outcome %+v, now %+v", cmd.Seq, was.events.Outcome, ev.Outcome)
	case !sameEvents(ev, &was.events):
		fail("command %d did something else before", cmd.Seq)
	}
}

// witness shows the truth what an exchange does. It is an observer.
type witness struct {
	world *world
	// seq is the last command seen, or that of the snapshot.
	seq bourse.Seq
}

// Reset begins a restore.
func (o *witness) Reset(func(string) ([]byte, bool)) error {
	o.seq = 0
	return nil
}

// Begin opens a frame.
func (o *witness) Begin() {}

// End closes a frame.
func (o *witness) End() {}

// Observe takes in a command, which must follow the one before it.
func (o *witness) Observe(cmd *bourse.Command, ev *bourse.Events) {
	if cmd.Kind == 0 {
		o.seq = cmd.Seq
		o.world.truth.learnUntil(cmd.Seq, o.world.files)
		return
	}
	if cmd.Seq != o.seq+1 {
		fail("command %d came after command %d", cmd.Seq, o.seq)
	}
	o.seq = cmd.Seq
	if o.world.truth.see(cmd, ev) && o.world.starting {
		o.world.count(Unanswered)
	}
	o.world.trail.mark(uint64(cmd.Seq), uint64(cmd.Time), uint64(cmd.Kind), ev.Outcome.ID, uint64(ev.Outcome.Reason), uint64(len(ev.List)))
}
