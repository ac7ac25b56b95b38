package sequencer_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/memlog"
	"github.com/bourse-exchange/bourse/internal/record"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// TestAnswersComeLast shows that a ticket is resolved after its frame is durable
// and every observer has seen it.
func TestAnswersComeLast(t *testing.T) {
	r := newRig(t)
	var tickets []*sequencer.Ticket
	for range 10 {
		tickets = append(tickets, r.submit(note("x")))
	}
	nobody := func(when string) {
		t.Helper()
		for _, ticket := range tickets {
			if resolved(ticket) {
				t.Fatalf("a ticket was resolved %s", when)
			}
		}
	}
	r.log.Hold()
	r.write()
	if r.apply() {
		t.Fatal("something was applied before it was committed")
	}
	nobody("before its frame was committed")
	r.log.Release()
	r.write()
	nobody("before its frame was applied")
	applied := r.Applied()
	r.seen.atEnd = func() {
		nobody("before End returned")
		if r.Applied() != applied {
			t.Error("Applied told of a frame before every observer had seen it")
		}
	}
	if !r.apply() {
		t.Fatal("nothing was committed")
	}
	for _, ticket := range tickets {
		r.result(ticket)
	}
	if r.Applied() != applied+10 || !r.Idle() {
		t.Error("the frame is not applied")
	}
}

func TestOutcomes(t *testing.T) {
	r := newRig(t)
	good := r.submit(place(1, 200, 5))
	if err := r.Submit(note("nobody waits for it"), nil); err != nil {
		t.Fatal(err)
	}
	bad := r.submit(place(1, 200, bourse.MaxLots))
	r.settle()
	got := r.result(good)
	if got.Outcome.Reason != 0 || got.Outcome.ID == 0 {
		t.Errorf("the order became %+v", got)
	}
	if got := r.result(bad); got.Err != nil || got.Outcome.Reason == 0 {
		t.Errorf("the order that its price has no room for became %+v", got)
	}
	ended := r.submit(cancel(1, got.Outcome.ID))
	r.settle()
	if got := r.result(ended); got.Outcome.Reason != 0 || r.engine.OpenOrders() != 0 {
		t.Errorf("the cancel became %+v", got)
	}
}

// TestOutOfOrder shows that each ticket gets the outcome of its own command, in whatever
// order the log commits.
func TestOutOfOrder(t *testing.T) {
	r := newRig(t)
	r.log.Hold()
	var tickets []*sequencer.Ticket
	for range 3 {
		tickets = append(tickets, r.submit(&bourse.Command{Kind: bourse.CommandCreateAccount}))
		r.write()
	}
	r.log.Reverse()
	r.log.Release()
	r.settle()
	for i, want := range []uint64{5, 4, 3} {
		if got := r.result(tickets[i]); got.Outcome.ID != want {
			t.Errorf("ticket %d: %+v", i, got)
		}
	}
}

func TestChangeOfTerm(t *testing.T) {
	for _, kept := range []bool{false, true} {
		r := newRig(t)
		r.log.Hold()
		ticket := r.submit(note("x"))
		r.write()
		r.log.ChangeTerm(func(uint64) bool { return kept })
		r.log.Release()
		r.settle()
		if got := r.result(ticket); !hasCode(got.Err, bourse.CodeUnknown) || got.Seq != 0 {
			t.Errorf("a ticket whose term is over has %+v", got)
		}
		if texts := r.seen.texts(); slices.Contains(texts, "x") != kept {
			t.Errorf("after a change of term the journal has %q", texts)
		}
		if !r.Idle() {
			t.Error("something has no outcome")
		}
		again := r.submit(note("y"))
		r.settle()
		if got := r.result(again); got.Err != nil {
			t.Errorf("in the new term: %+v", got)
		}
	}
}

func TestElsewhere(t *testing.T) {
	r := newRig(t)
	r.log.Hold()
	ticket := r.submit(&bourse.Command{Kind: bourse.CommandCreateAccount})
	r.write()
	r.log.Elsewhere(journal.Proposal{
		ID: 1, Count: 1, Time: r.now + 7, Commands: record.Append(nil, &bourse.Command{Kind: bourse.CommandCreateAccount}),
	})
	if !r.apply() || resolved(ticket) {
		t.Fatal("another's command answered ours, or was not applied")
	}
	r.log.Release()
	r.settle()
	if got := r.result(ticket); got.Outcome.ID != 4 || got.Time != r.now+7 {
		t.Errorf("our command became %+v", got)
	}
}

// another returns an engine that is ahead of the rig's.
func another(t *testing.T, commands int) *engine.Engine {
	t.Helper()
	o := newRig(t)
	for range commands {
		o.submit(place(2, 300, 1))
	}
	o.settle()
	return o.engine
}

func TestInstall(t *testing.T) {
	r, other := newRig(t), another(t, 40)
	r.load = func(at bourse.Seq) (sequencer.Section, error) {
		if at != other.Seq() {
			return nil, errors.New("no such snapshot")
		}
		return sections(other), nil
	}
	r.log.Hold()
	ticket := r.submit(place(1, 200, 1))
	r.write()
	r.log.Install(journal.Tip{Last: other.Seq(), Chain: journal.Hash{1}, Term: 9, Time: other.Now()})
	r.log.Release()
	for r.apply() {
		continue
	}
	if got := r.result(ticket); !hasCode(got.Err, bourse.CodeUnknown) {
		t.Errorf("a ticket before the snapshot has %+v", got)
	}
	if r.Applied() != other.Seq() || r.seen.resets != 1 || r.seen.restored == 0 || r.seen.inside {
		t.Fatalf("applied up to %d, %d resets, %d pieces", r.Applied(), r.seen.resets, r.seen.restored)
	}
	next := r.submit(place(1, 200, 1))
	r.settle()
	if got := r.result(next); got.Seq != other.Seq()+1 || got.Outcome.Reason != 0 || got.Outcome.ID != 41 {
		t.Errorf("behind the snapshot: %+v", got)
	}
}

func TestInstallFails(t *testing.T) {
	other := another(t, 40)
	missing := errors.New("no such snapshot")
	for name, load := range map[string]func(bourse.Seq) (sequencer.Section, error){
		"missing": func(bourse.Seq) (sequencer.Section, error) { return nil, missing },
		"empty": func(bourse.Seq) (sequencer.Section, error) {
			return func(string) ([]byte, bool) { return nil, false }, nil
		},
		"another moment": func(bourse.Seq) (sequencer.Section, error) { return sections(other), nil },
	} {
		r := newRig(t)
		r.load = load
		r.log.Install(journal.Tip{Last: other.Seq() + 1})
		if _, err := r.Apply(); err == nil {
			t.Errorf("a snapshot that is %s was installed", name)
		}
	}
}

func TestReplay(t *testing.T) {
	r := newRig(t)
	from := r.Applied()
	for i := range 60 {
		r.submit(place(bourse.AccountID(1+i%2), bourse.Price(200+i), 3))
		if i%7 == 0 {
			r.settle()
		}
	}
	r.settle()
	want := r.engine.StateHash()

	r.start(engine.New()) // crash
	if r.engine.StateHash() != want || r.Applied() != from+60 || !r.Idle() {
		t.Errorf("after a replay the state is another, at %d", r.Applied())
	}
	after := r.submit(note("x"))
	r.settle()
	if got := r.result(after); got.Seq != from+61 {
		t.Errorf("the first command after a start: %+v", got)
	}
}

// TestReplayFromWithinAFrame starts from a snapshot of each moment.
func TestReplayFromWithinAFrame(t *testing.T) {
	r := newRig(t)
	r.log.Hold()
	for i := range 20 {
		r.submit(place(1, bourse.Price(200+i), 3))
	}
	r.log.Release()
	r.settle()
	want, last := r.engine.StateHash(), r.Applied()
	commands := slices.Concat(opening(), r.seen.commands)
	e := engine.New()
	var ev bourse.Events
	for i := range commands {
		restored, err := sequencer.Restore(sections(e), nil)
		if err != nil {
			t.Fatal(err)
		}
		r.start(restored)
		if r.engine.StateHash() != want || r.Applied() != last {
			t.Fatalf("from a snapshot at %d the state is another", i)
		}
		c := commands[i]
		c.Seq, c.Time = bourse.Seq(i+1), bourse.Minute
		ev.Reset()
		e.Apply(&c, &ev)
	}
}

func TestVoided(t *testing.T) {
	r := newRig(t)
	r.voided[r.Applied()+2] = true
	tickets := []*sequencer.Ticket{r.submit(place(1, 200, 1)), r.submit(place(1, 201, 1)), r.submit(place(1, 202, 1))}
	r.settle()
	for i, want := range []bourse.Reason{0, bourse.Voided, 0} {
		if got := r.result(tickets[i]); got.Outcome.Reason != want {
			t.Errorf("command %d became %+v", i, got)
		}
	}
	want := r.engine.StateHash()
	r.start(engine.New())
	if r.engine.StateHash() != want || r.engine.OpenOrders() != 2 {
		t.Error("a replay does not honour the void")
	}
}

func TestMalformedFrames(t *testing.T) {
	good := record.Append(nil, note("x"))
	for name, p := range map[string]journal.Proposal{
		"too few commands":  {Count: 2, Commands: good},
		"too many commands": {Count: 1, Commands: slices.Concat(good, good)},
		"no command":        {Count: 1, Commands: []byte("something else")},
	} {
		r := newRig(t)
		r.log.Elsewhere(p)
		if _, err := r.Apply(); err == nil {
			t.Errorf("a frame with %s was applied", name)
		}
	}
}

// TestChaos steps the sequencer in random order over a log that delays, reorders, drops
// and changes its term. Every ticket is resolved once, and the state equals that of a
// replay.
func TestChaos(t *testing.T) {
	for seed := range uint64(10) {
		r := newRig(t)
		r.log.SetChaos(memlog.Chaos{Delay: 200, Reorder: 200, Drop: 50, Term: 50, Keep: 400})
		chance := rand.New(rand.NewPCG(seed, 1))
		var tickets []*sequencer.Ticket
		for range 3000 {
			switch chance.IntN(4) {
			case 0:
				c := place(bourse.AccountID(1+chance.IntN(2)), bourse.Price(200+chance.IntN(50)), 1)
				c.NewOrder.Side = bourse.Side(1 + chance.IntN(2))
				tickets = append(tickets, r.submit(c))
			case 1:
				tickets = append(tickets, r.submit(cancel(bourse.AccountID(1+chance.IntN(2)), uint64(1+chance.IntN(500)))))
			case 2:
				r.write()
				r.now += bourse.Time(chance.IntN(1000))
			case 3:
				r.apply()
			}
		}
		r.log.SetChaos(memlog.Chaos{})
		r.settle()
		r.log.ChangeTerm(nil)
		r.settle()
		checkChaos(t, r, tickets)
	}
}

func checkChaos(t *testing.T, r *rig, tickets []*sequencer.Ticket) {
	t.Helper()
	places := map[bourse.Seq]bool{}
	unknown := 0
	for i, ticket := range tickets {
		got := r.result(ticket)
		switch {
		case got.Err != nil:
			unknown++
		case places[got.Seq]:
			t.Fatalf("command %d has the place of another: %d", i, got.Seq)
		}
		places[got.Seq] = got.Err == nil
		if resolved(ticket) {
			t.Fatalf("ticket %d was resolved twice", i)
		}
	}
	if unknown == 0 || unknown == len(tickets) || !r.Idle() {
		t.Errorf("%d of %d outcomes are unknown", unknown, len(tickets))
	}
	if err := r.engine.Check(); err != nil {
		t.Error(err)
	}
	want := r.engine.StateHash()
	r.start(engine.New())
	if r.engine.StateHash() != want {
		t.Error("a replay comes to another state")
	}
}

// TestGoroutines runs the sequencer as a process does.
func TestGoroutines(t *testing.T) {
	const clients, each = 8, 200
	r := newRig(t)
	stop := make(chan struct{})
	var parts, work sync.WaitGroup
	parts.Go(func() {
		for now := r.now; ; now += 10 {
			sleep, err := r.Write(now)
			if err != nil {
				t.Errorf("Write: %v", err)
				return
			}
			if sleep > 0 && !waitFor(r.Wake(), stop) {
				return
			}
		}
	})
	parts.Go(func() {
		for {
			more, err := r.Apply()
			if err != nil {
				t.Errorf("Apply: %v", err)
				return
			}
			if !more && !waitFor(r.log.Ready(), stop) {
				return
			}
		}
	})
	for range clients {
		work.Go(func() {
			for range each {
				got, err := r.Do(t.Context(), note("x"))
				if err != nil || got.Seq > r.Applied() {
					t.Errorf("Do: %+v, %v", got, err)
				}
			}
		})
	}
	work.Wait()
	close(stop)
	parts.Wait()
	if !r.Idle() || len(r.seen.commands) != clients*each {
		t.Errorf("%d of %d commands were carried out", len(r.seen.commands), clients*each)
	}
}

// waitFor waits for a signal; false if the test stops.
func waitFor(signal <-chan struct{}, stop <-chan struct{}) bool {
	select {
	case <-signal:
		return true
	case <-stop:
		return false
	}
}

// TestWalksAreWeighed wants the sender of a command that walks far to be weighed, whether
// the sender waits or not, and no other account: not the sender of an order that triggers
// another account's stop, and not after a restart, which applies the same commands again.
func TestWalksAreWeighed(t *testing.T) {
	r := newRig(t)
	place := func(account bourse.AccountID, p bourse.NewOrder) {
		p.Market = 1
		if err := r.Submit(&bourse.Command{Kind: bourse.CommandPlace, Account: account, NewOrder: p}, nil); err != nil {
			t.Fatal(err)
		}
	}
	limit := bourse.NewOrder{Side: bourse.Sell, Type: bourse.Limit, TIF: bourse.GTC, Lots: 1}
	for limit.Price = 101; limit.Price <= 400; limit.Price++ {
		place(1, limit)
	}

	all := bourse.NewOrder{Side: bourse.Buy, Type: bourse.Limit, TIF: bourse.FOK, Price: 1000, Lots: 1000}
	near := all
	near.Price = 199
	place(2, all)
	place(2, near)
	market := bourse.NewOrder{Side: bourse.Buy, Type: bourse.MarketOrder, TIF: bourse.FOK, Lots: 1000}
	place(2, market)

	stop := all
	stop.Type, stop.Stop = bourse.StopLimit, 101
	place(2, stop)
	limit.Side, limit.Price = bourse.Buy, 101
	place(1, limit)
	r.settle()

	want := []weighed{{2, 3}, {2, 1}, {2, 3}}
	if !slices.Equal(r.weighed, want) {
		t.Errorf("weighed are %v, want %v", r.weighed, want)
	}
	r.start(engine.New())
	if !slices.Equal(r.weighed, want) {
		t.Errorf("after a replay weighed are %v, want %v", r.weighed, want)
	}
}

// TestListOfCancelAll wants a result to list all orders of a market, and no more of all
// markets, in the order in which they are canceled.
func TestListOfCancelAll(t *testing.T) {
	r := newRig(t)
	r.submit(&bourse.Command{Kind: bourse.CommandDefineMarket, Market: &bourse.Market{
		Base: 2, Quote: 1, BasePrecision: 4, QuotePrecision: 2, Enabled: true,
		SelfTrade: bourse.SelfTradeNone, InitialPrice: 100, MaxPrice: bourse.MaxPrice,
	}})
	var first, second []*sequencer.Ticket
	for i := range engine.MaxOpenOrders {
		other := place(1, bourse.Price(200+i), 1)
		other.NewOrder.Market = 2
		second = append(second, r.submit(other))
		first = append(first, r.submit(place(1, bourse.Price(200+i), 1)))
		r.settle()
	}
	ids := func(tickets []*sequencer.Ticket) (list []bourse.OrderID) {
		for _, ticket := range tickets {
			list = append(list, bourse.OrderID(r.result(ticket).Outcome.ID))
		}
		return list
	}

	all := r.submit(&bourse.Command{Kind: bourse.CommandCancelAll, Account: 1})
	r.write()
	r.apply()
	if got, want := r.result(all).Canceled, ids(first); !slices.Equal(got, want) {
		t.Errorf("of all markets %d orders are listed, from %v", len(got), got[:3])
	}
	rest := r.submit(&bourse.Command{Kind: bourse.CommandCancelAll, Account: 1, MarketID: 2})
	r.settle()
	if got, want := r.result(rest).Canceled, ids(second); !slices.Equal(got, want) {
		t.Errorf("of one market %d orders are listed", len(got))
	}
	if r.engine.OpenOrders() != 0 {
		t.Errorf("%d orders are open", r.engine.OpenOrders())
	}
}
