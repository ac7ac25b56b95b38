package sim

import (
	"bytes"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// truth has every command that the journal yielded, and their effect in an exchange that
// never stops: the engine, a twin restored from snapshots, and the naive oracle.
type truth struct {
	pair *enginetest.Pair
	// board is the expected board of the wallets.
	board *wallet.Board
	// past is indexed by sequence minus one.
	past []happening
	// rows are the expected rows of history, in command order.
	rows history.Batch
	// named is the time of the last decision on a client ID that was no repetition.
	named map[name]bourse.Time
	// command is a buffer of see.
	command []byte
}

// name is an account's client ID.
type name struct {
	account bourse.AccountID
	id      bourse.ClientID
}

// happening is one past command.
type happening struct {
	time    bourse.Time
	command []byte
	events  bourse.Events
}

func newTruth() *truth {
	return &truth{pair: enginetest.NewPair(), board: wallet.NewBoard(), named: map[name]bourse.Time{}}
}

// last returns the last command ever yielded.
func (t *truth) last() bourse.Seq { return bourse.Seq(len(t.past)) }

// at returns a past command.
func (t *truth) at(seq bourse.Seq) *happening {
	if seq == 0 || seq > t.last() {
		fail("command %d was answered, and %d is the last that was yielded", seq, t.last())
	}
	return &t.past[seq-1]
}

// see compares a command and its events with the truth, which learns a new one first. It
// reports whether it was new.
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

// learn applies a command for the first time.
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
	if !ev.Outcome.Repeated && ev.Outcome.Reason != bourse.DuplicateClientID &&
		(ev.Outcome.Cancel == 0 || ev.Outcome.Cancel != ev.Outcome.Reason) {
		for _, id := range clientIDs(cmd) {
			t.named[name{cmd.Account, id}] = cmd.Time
		}
	}
}

// clientIDs returns the client ids of the orders that a command places.
func clientIDs(cmd *bourse.Command) (ids []bourse.ClientID) {
	for _, p := range placed(cmd) {
		if !p.ClientID.IsZero() {
			ids = append(ids, p.ClientID)
		}
	}
	return ids
}

// placed returns the orders that a command places.
func placed(cmd *bourse.Command) []bourse.NewOrder {
	switch cmd.Kind {
	case bourse.CommandPlace, bourse.CommandReplace:
		return []bourse.NewOrder{cmd.NewOrder}
	case bourse.CommandPlaceList:
		return cmd.List.Orders
	default:
		return nil
	}
}

// learnUntil reads commands from the journal that no live engine has shown: the follower
// may be ahead of it, and the next start may restore the follower's snapshot.
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

// compare compares a command and its events with the truth.
func (t *truth) compare(cmd *bourse.Command, written []byte, ev *bourse.Events) {
	was := t.at(cmd.Seq)
	switch {
	case cmd.Time != was.time || !bytes.Equal(written, was.command):
		fail("command %d was another one before: %x at %d, now %x at %d",
			cmd.Seq, was.command, was.time, written, cmd.Time)
	case ev.Outcome != was.events.Outcome:
		fail("command %d had the outcome %+v, now %+v", cmd.Seq, was.events.Outcome, ev.Outcome)
	case !sameEvents(ev, &was.events):
		fail("command %d did something else before", cmd.Seq)
	}
}

// noteNew counts the effects of a command that is new to the truth.
func (w *world) noteNew(cmd *bourse.Command, ev *bourse.Events) {
	if w.starting {
		w.count(Unanswered)
	}

	closed := slices.ContainsFunc(ev.List, func(e bourse.Event) bool { return e.Kind == bourse.EventOrderClosed })
	leveled := slices.ContainsFunc(ev.List, func(e bourse.Event) bool { return e.Kind == bourse.EventAccountLevel })
	switch {
	case cmd.Kind == bourse.CommandConnectionClosed && cmd.Account == 0 && closed:
		w.count(SilencedByStart)
	case (cmd.Kind == bourse.CommandConnectionClosed || cmd.Kind == bourse.CommandTick) && closed:
		w.count(Silenced)
	case cmd.Kind == bourse.CommandContinue && leveled:
		w.count(LevelsSet)
	}
	w.noteLimits(ev)
	w.noteMoves(ev)
	w.noteJoined(ev)
	w.noteOrders(cmd, ev)
}

// noteLimits counts limits of tiers that were reached.
func (w *world) noteLimits(ev *bourse.Events) {
	if ev.Outcome.Reason == bourse.TradeLimit {
		w.count(TradesLimited)
	}
	if ev.Outcome.Reason == bourse.WithdrawalLimit {
		w.count(WithdrawalsLimited)
	}
	for i := range ev.Wallet.Deposits {
		switch d := &ev.Wallet.Deposits[i]; {
		case d.OverLimit:
			w.count(DepositsLimited)
			return
		case d.OverAlone:
			w.count(DepositsOverAlone)
			return
		}
	}
}

// noteOrders counts lists, amendments and replacements.
func (w *world) noteOrders(cmd *bourse.Command, ev *bourse.Events) {
	done := ev.Outcome.Reason == 0 && !ev.Outcome.Repeated
	switch {
	case cmd.Kind == bourse.CommandPlaceList && done:
		w.count(Listed)
	case cmd.Kind == bourse.CommandReplace && done && ev.Outcome.Cancel == 0:
		w.count(Replaced)
	}

	for _, e := range ev.List {
		switch {
		case e.Kind == bourse.EventOrderAmended:
			w.count(Amended)
		case e.Kind == bourse.EventOrderPrevented:
			w.count(Decremented)
		case e.Kind == bourse.EventOrderTriggered && ev.Orders[e.At].List != 0:
			w.count(ListTriggered)
		}
	}
}

// witness is the observer that reports to the truth.
type witness struct {
	world *world
	// seq is the last command seen, or the restored snapshot's.
	seq bourse.Seq
}

// Reset begins a restore.
func (o *witness) Reset(func(string) ([]byte, bool)) error {
	o.seq = 0
	return nil
}

// Begin does nothing.
func (o *witness) Begin() {}

// End does nothing.
func (o *witness) End() {}

// Observe checks that a command follows the last one, and compares it with the truth.
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
	if o.world.truth.see(cmd, ev) {
		o.world.noteNew(cmd, ev)
	}
	o.world.trail.mark(uint64(cmd.Seq), uint64(cmd.Time), uint64(cmd.Kind),
		ev.Outcome.ID, uint64(ev.Outcome.Reason), uint64(len(ev.List)))
}
