package sequencer_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/memlog"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// elsewhere fails unless a ticket says that its command was not taken.
func (r *rig) elsewhere(what string, ticket *sequencer.Ticket) {
	r.t.Helper()
	if got := r.result(ticket); !errors.Is(got.Err, sequencer.ErrElsewhere) || !hasCode(got.Err, bourse.CodeUnavailable) {
		r.t.Errorf("%s: %+v", what, got)
	}
}

// TestDeposed takes the lead away while one command flies, one is gathered and one is queued: none
// of them was taken, and each caller learns that. A new lead takes commands again.
func TestDeposed(t *testing.T) {
	r := newRig(t)
	last := r.Applied()
	r.log.Hold()
	flying := r.submit(note("flying"))
	r.write()
	queued := r.submit(note("queued"))
	r.log.Depose()
	gathered := r.submit(note("gathered"))
	r.write() // the log refuses it: the notice waits
	late := r.submit(cancel(1, 1))
	for r.apply() {
	}

	for what, ticket := range map[string]*sequencer.Ticket{
		"flying": flying, "queued": queued, "gathered": gathered, "late": late,
	} {
		r.elsewhere(what, ticket)
	}
	if r.Leads() || !r.Idle() || r.Applied() != last {
		t.Fatalf("leads %t, idle %t, applied to %d of %d", r.Leads(), r.Idle(), r.Applied(), last)
	}
	for _, c := range []*bourse.Command{note("refused"), cancel(1, 1)} {
		if err := r.Submit(c, nil); !errors.Is(err, sequencer.ErrElsewhere) {
			t.Errorf("a command while another node leads: %v", err)
		}
	}

	r.log.Release()
	r.now += 5 * bourse.Second
	r.settle()
	if r.Applied() != last {
		t.Fatal("a node that does not lead has proposed")
	}
	r.log.Elect()
	r.settle()
	taken := r.submit(note("taken"))
	r.settle()
	if got := r.result(taken); got.Err != nil || !r.Leads() {
		t.Fatalf("leads %t: %v", r.Leads(), got.Err)
	}
	if got := r.seen.texts(); slices.ContainsFunc(got, func(s string) bool { return s != "" && s != "taken" }) {
		t.Errorf("commands that were not taken have happened: %q", got)
	}
}

// TestElected starts on a log that another process leads: it refuses before its election, keeps what
// the node refuses apart from that, applies what others propose, and marks the journal.
func TestElected(t *testing.T) {
	r := &rig{t: t, store: memlog.NewStore(), now: bourse.Minute, voided: map[bourse.Seq]bool{}}
	r.start(engine.New())
	r.log.Depose()
	for r.apply() {
	}
	full := errors.New("full")
	r.Refuse(sequencer.Orders, full)
	if err := r.Takes(bourse.CommandPlace); !errors.Is(err, sequencer.ErrElsewhere) {
		t.Fatalf("before the election: %v", err)
	}

	others := opening()
	p := journal.Proposal{Count: len(others), Time: r.now}
	for i := range others {
		p.Commands = record.Append(p.Commands, &others[i])
	}
	r.log.Elsewhere(p)
	for r.apply() {
	}
	if r.Applied() == 0 {
		t.Fatal("the commands of another leader are not applied")
	}
	r.write()
	r.now += 10 * bourse.Second / 1000
	if sleep := r.write(); r.log.Marks() != 1 || sleep <= 0 {
		t.Fatalf("%d marks, and the writer sleeps for %d", r.log.Marks(), sleep)
	}

	r.log.Elect()
	r.settle()
	if err := r.Takes(bourse.CommandPlace); !errors.Is(err, full) {
		t.Fatalf("the node's own refusal: %v", err)
	}
	r.Refuse(sequencer.Orders, nil)
	if err := r.Takes(bourse.CommandPlace); err != nil {
		t.Fatal(err)
	}
}

// TestUnfinishedWorkGoesToTheNextLeader deposes a leader whose cancel-all has a Continue: the
// process that leads next proposes it.
func TestUnfinishedWorkGoesToTheNextLeader(t *testing.T) {
	r := newRig(t)
	for n := range 3000 {
		r.submit(place(1, bourse.Price(1000+n), 1))
	}
	r.settle()
	last := r.Applied()
	r.submit(&bourse.Command{Kind: bourse.CommandCancelAll, Account: 1})
	for r.Applied() == last {
		r.write()
		r.apply()
	}
	if !r.engine.Unfinished() {
		t.Fatal("the cancel-all was done at once")
	}

	r.log.Depose()
	r.settle()
	if !r.engine.Unfinished() {
		t.Fatal("a node that does not lead went on with it")
	}
	r.log.Elect()
	r.settle()
	if r.engine.Unfinished() {
		t.Fatal("the next leader left it undone")
	}
}
