package feed_test

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
)

// numbered publishes n messages of a topic, each its number, as one frame.
func (f press) numbered(t feed.Topic, n int) {
	var messages []any
	for i := range n {
		messages = append(messages, t, fmt.Sprint(f.last[t]+uint64(i)+1))
	}
	publish(f, messages...)
}

// resumes resumes a topic and reports whether the missed messages were in memory.
func (f press) resumes(s *feed.Subscriber, t feed.Topic, since uint64) bool {
	_, hold := f.Resume(s, t, since)
	return hold == nil
}

// deliver delivers all frames.
func (f press) deliver() {
	for f.Deliver() {
	}
}

func (l *listener) wants(t *testing.T, want ...string) {
	t.Helper()
	if got := l.drain(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestLineMadeAnew stages messages of a line that ends before they are delivered, and lets
// others pass unheard: the line that comes after has none of them.
func TestLineMadeAnew(t *testing.T) {
	f := newPress()
	f.Subscribe(newListener().Subscriber, []feed.Topic{trades}, nil)
	f.numbered(trades, 5)
	f.Break()
	f.last[trades] += 3

	second := newListener()
	f.Subscribe(second.Subscriber, []feed.Topic{trades}, []byte("subscribed"))
	f.numbered(trades, 1)
	f.deliver()
	second.wants(t, "subscribed", "9")
	for since := range uint64(8) {
		if f.resumes(newListener().Subscriber, trades, since) {
			t.Errorf("messages behind %d are said to be in memory", since)
		}
	}
}

// TestMissedMessagesAreSent lets the only subscriber leave and come back: with all it has
// missed delivered, and with some of it staged.
func TestMissedMessagesAreSent(t *testing.T) {
	f, first := newPress(), newListener()
	f.Subscribe(first.Subscriber, []feed.Topic{trades}, []byte("subscribed"))
	f.numbered(trades, 3)
	f.deliver()
	first.wants(t, "subscribed", "1", "2", "3")
	f.Leave(first.Subscriber)
	f.numbered(trades, 2)
	f.deliver()
	f.numbered(trades, 2) // staged

	for since, want := range map[uint64][]string{
		0: {"1", "2", "3", "4", "5", "6", "7", "8"}, 3: {"4", "5", "6", "7", "8"}, 5: {"6", "7", "8"},
	} {
		l := newListener()
		if !f.resumes(l.Subscriber, trades, since) {
			t.Errorf("messages behind %d are not in memory", since)
		}
		defer func() { l.wants(t, want...) }()
	}
	f.deliver()
	f.numbered(trades, 1)
	f.deliver()
}

// TestWhatIsNotInMemoryIsHeld wants the messages behind a state, each once, whether they
// came before it was read or while it was.
func TestWhatIsNotInMemoryIsHeld(t *testing.T) {
	f, l := newPress(), newListener()
	f.numbered(trades, 3) // they have no subscriber
	f.numbered(trades, 1)
	_, hold := f.Resume(l.Subscriber, trades, 1)
	if hold == nil {
		t.Fatal("messages that nobody wanted are in memory")
	}
	f.numbered(trades, 2)
	f.deliver()
	f.numbered(trades, 1) // staged
	l.wants(t)
	f.Release(l.Subscriber, hold, 5, [][]byte{[]byte("the state at 5")})
	f.deliver()
	f.numbered(trades, 1)
	f.deliver()
	l.wants(t, "the state at 5", "6", "7", "8")

	// Messages up to the client's own number are not sent again.
	ahead := newListener()
	f.numbered(trades, 2)
	_, hold = f.Resume(ahead.Subscriber, trades, 10)
	if hold == nil {
		t.Fatal("messages to come are in memory")
	}
	f.Release(ahead.Subscriber, hold, 10, nil)
	f.deliver()
	f.numbered(trades, 1)
	f.deliver()
	ahead.wants(t, "11")
}

// TestDepart wants the number of the last message that a subscriber got, however it came: live, from memory, as a state, or held
// while that was read.
func TestDepart(t *testing.T) {
	f := newPress()
	var all [6]*listener
	for i := range all {
		all[i] = newListener()
	}
	fresh, live, memory, state, held, waits := all[0], all[1], all[2], all[3], all[4], all[5]
	f.numbered(trades, 3) // they have no subscriber
	f.numbered(trades, 1)
	var holds [3]*feed.Hold
	for i, l := range []*listener{state, held, waits} {
		_, holds[i] = f.Resume(l.Subscriber, trades, 1)
	}
	f.Subscribe(live.Subscriber, []feed.Topic{trades, prices}, nil)
	f.numbered(trades, 2)
	f.numbered(prices, 2)
	f.deliver()
	f.Subscribe(fresh.Subscriber, []feed.Topic{trades}, nil)
	if !f.resumes(memory.Subscriber, trades, 5) {
		t.Fatal("a message that was wanted is not in memory")
	}
	f.Release(state.Subscriber, holds[0], 7, [][]byte{[]byte("the state at 7")})
	f.Release(held.Subscriber, holds[1], 5, [][]byte{[]byte("the state at 5")})

	for i, want := range []map[feed.Topic]uint64{
		{trades: 0}, {trades: 6, prices: 0}, {trades: 6}, {trades: 7}, {trades: 6}, {trades: 0},
	} {
		if got := f.Depart(all[i].Subscriber); !maps.Equal(got, want) {
			t.Errorf("subscriber %d had %v, want %v", i, got, want)
		}
	}
	held.wants(t, "the state at 5", "6")
}

// TestStatesAreNeverMissed wants topics without numbers of their own to be held always.
func TestStatesAreNeverMissed(t *testing.T) {
	f, l, other := newPress(), newListener(), newListener()
	f.Subscribe(other.Subscriber, []feed.Topic{prices}, nil)
	f.numbered(prices, 3)
	f.deliver()
	_, hold := f.Resume(l.Subscriber, prices, 2)
	if hold == nil {
		t.Fatal("a topic that tells a state has missed messages")
	}
	f.Release(l.Subscriber, hold, 3, [][]byte{[]byte("now")})
	f.numbered(prices, 1)
	f.deliver()
	l.wants(t, "now", "4")
}

// TestRecentMessagesAreBounded publishes more than a line keeps, in number and in bytes.
func TestRecentMessagesAreBounded(t *testing.T) {
	for name, size := range map[string]int{"number": 10, "bytes": 4 << 10} {
		f, l := newPress(), newListener()
		f.Subscribe(l.Subscriber, []feed.Topic{trades}, nil)
		const messages = 5000
		for range messages {
			publish(f, trades, string(make([]byte, size)))
			f.Deliver()
			l.drain()
		}
		kept := 0
		for since := uint64(messages); since > 0; since-- {
			back := newListener()
			if !f.resumes(back.Subscriber, trades, since) {
				break
			}
			kept = len(back.drain())
		}
		if kept < 32 || kept > 2*1024 || kept*size > 2*(256<<10) {
			t.Errorf("%s: %d messages of %d bytes are kept", name, kept, size)
		}
	}
}

// TestLeftLinesAreBounded leaves more lines than are kept without a subscriber: the one
// that was left first is forgotten.
func TestLeftLinesAreBounded(t *testing.T) {
	f, l := newPress(), newListener()
	const lines = 1025
	for id := bourse.AccountID(1); id <= lines; id++ {
		own := feed.Topic{Kind: feed.OwnTrades, Account: id}
		f.Subscribe(l.Subscriber, []feed.Topic{own}, nil)
		publish(f, own, "1")
		f.deliver()
		f.Leave(l.Subscriber)
	}
	for id, want := range map[bourse.AccountID]bool{1: false, 2: true, lines: true} {
		own := feed.Topic{Kind: feed.OwnTrades, Account: id}
		if got := f.resumes(newListener().Subscriber, own, 0); got != want {
			t.Errorf("line %d is in memory: %v", id, got)
		}
	}
}

// TestALeftLineEnds wants a line to end when it has dropped messages that its last subscriber
// missed, so that nothing is encoded for it.
func TestALeftLineEnds(t *testing.T) {
	f, l := newPress(), newListener()
	f.Subscribe(l.Subscriber, []feed.Topic{trades}, nil)
	f.numbered(trades, 3000)
	f.deliver()
	f.Leave(l.Subscriber)
	for _, wanted := range []bool{true, false} {
		f.numbered(trades, 1000)
		f.deliver()
		if f.Begin(); f.Wanted(trades) != wanted {
			t.Errorf("wanted is %v", !wanted)
		}
		f.End()
	}
}

// TestManyLinesShareTheMemory wants a line to keep less when there are many.
func TestManyLinesShareTheMemory(t *testing.T) {
	f, l := newPress(), newListener()
	const lines = 10_000
	for id := bourse.AccountID(1); id <= lines; id++ {
		f.Subscribe(l.Subscriber, []feed.Topic{{Kind: feed.OwnTrades, Account: id}}, nil)
	}
	own := feed.Topic{Kind: feed.OwnTrades, Account: 1}
	for range 100 {
		publish(f, own, string(make([]byte, 1<<10)))
		f.deliver()
		l.drain()
	}
	if f.resumes(newListener().Subscriber, own, 90) || !f.resumes(newListener().Subscriber, own, 97) {
		t.Error("one of 10,000 lines keeps 10 KiB, or not 3")
	}
}

// TestABreakCutsAllOff wants no subscriber to go on behind messages that were not staged.
func TestABreakCutsAllOff(t *testing.T) {
	f, l, waits := newPress(), newListener(), newListener()
	f.Subscribe(l.Subscriber, []feed.Topic{trades, prices}, nil)
	f.numbered(trades, 3)
	f.deliver()
	_, hold := f.Resume(waits.Subscriber, prices, 0)
	f.Break()
	if l.cut != 1 || waits.cut != 1 {
		t.Errorf("cut %d and %d times", l.cut, waits.cut)
	}
	f.Release(waits.Subscriber, hold, 0, nil)
	if f.Begin(); !f.Idle() {
		t.Error("topics are left")
	}
	f.End()
	f.Leave(l.Subscriber)
	if f.resumes(newListener().Subscriber, trades, 2) {
		t.Error("messages from before are in memory")
	}
}

// TestHeldMessagesAreBounded lets more messages wait for a state than are held, of one topic
// and of two: the state must include the lost ones, and no subscriber is cut off.
func TestHeldMessagesAreBounded(t *testing.T) {
	f, l := newPress(), newListener()
	_, first := f.Resume(l.Subscriber, trades, 5)
	_, second := f.Resume(l.Subscriber, prices, 5)
	f.last[trades] = 5
	for range 3 {
		publish(f, trades, string(make([]byte, 1<<20)))
		f.deliver()
	}
	for range 3 {
		publish(f, prices, string(make([]byte, 1<<20)))
		f.deliver()
	}

	state := [][]byte{[]byte("a state")}
	if l.cut != 0 || !f.Release(l.Subscriber, first, 7, state) {
		t.Errorf("cut %d times, or a topic that is within the bound lost messages", l.cut)
	}
	if got := l.drain(); len(got) != 2 {
		t.Errorf("behind the state at 7 of 8 came %d messages", len(got)-1)
	}
	if f.Release(l.Subscriber, second, 1, state) {
		t.Error("messages that were not held are left out")
	}
	l.wants(t)
	if !f.Release(l.Subscriber, second, 3, state) {
		t.Error("a state that includes what was not held does not do")
	}
	f.numbered(prices, 1)
	f.deliver()
	l.wants(t, "a state", "4")
}

// TestStatesAreAwaited wants a state to be taken before the next one is made, and not to
// count against the bounds of the queue.
func TestStatesAreAwaited(t *testing.T) {
	f, l := newPress(), newListener()
	_, hold := f.Resume(l.Subscriber, trades, 5)
	f.Release(l.Subscriber, hold, 9, [][]byte{make([]byte, 8<<20)})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if l.Await(over) || l.cut != 0 {
		t.Errorf("an untaken state was not awaited, or cut the subscriber off: %d", l.cut)
	}
	done := make(chan bool)
	go func() { done <- l.Await(t.Context()) }()
	l.drain()
	if !<-done {
		t.Error("the state is still awaited")
	}
}

// TestAwaitEndsWithSubscriber wants Await to return once the subscriber takes no more messages.
func TestAwaitEndsWithSubscriber(t *testing.T) {
	for name, end := range map[string]func(*feed.Subscriber){
		"ended":     func(s *feed.Subscriber) { s.End([]byte("bye"), false) },
		"abandoned": func(s *feed.Subscriber) { s.Abandon() },
		"served":    func(s *feed.Subscriber) { s.Take(nil) },
	} {
		synctest.Test(t, func(t *testing.T) {
			f, l := newPress(), newListener()
			_, hold := f.Resume(l.Subscriber, trades, 5)
			f.Release(l.Subscriber, hold, 9, [][]byte{[]byte("state")})
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			done := make(chan bool, 2)
			for range cap(done) {
				go func() { done <- l.Await(ctx) }()
			}
			synctest.Wait()
			end(l.Subscriber)
			if first, second := <-done, <-done; !first || !second {
				t.Errorf("%s: the state was awaited for an hour", name)
			}
		})
	}
}

// TestLinesThatFillInTurn fills one line after the other: together they keep no more than
// the bound at any time, and a line that keeps less than its share loses nothing.
func TestLinesThatFillInTurn(t *testing.T) {
	f, l := newPress(), newListener()
	const lines, bound = 1500, 64 << 20
	quiet := feed.Topic{Kind: feed.OwnTrades, Account: lines + 1}
	f.Subscribe(l.Subscriber, []feed.Topic{quiet}, nil)
	publish(f, quiet, "1")
	f.deliver()

	message := string(make([]byte, 32<<10))
	for id := bourse.AccountID(1); id <= lines; id++ {
		own := feed.Topic{Kind: feed.OwnTrades, Account: id}
		f.Subscribe(l.Subscriber, []feed.Topic{own}, nil)
		for range 16 {
			publish(f, own, message)
		}
		f.deliver()
		l.drain()
		if kept := f.Kept(); id%100 == 0 && kept > bound {
			t.Fatalf("%d lines keep %d MiB", id, kept>>20)
		}
	}
	if !f.resumes(newListener().Subscriber, quiet, 0) {
		t.Error("a small line has lost its message to large ones")
	}
}

// TestCutMessagesAreLetGo delivers long runs: a line that keeps the end of one does not
// keep the memory of all of it.
func TestCutMessagesAreLetGo(t *testing.T) {
	f, l := newPress(), newListener()
	const lines = 100
	for id := bourse.AccountID(1); id <= lines; id++ {
		own := feed.Topic{Kind: feed.OwnTrades, Account: id}
		f.Subscribe(l.Subscriber, []feed.Topic{own}, nil)
		for range 1000 {
			publish(f, own, string(make([]byte, 4<<10)))
		}
		f.deliver()
		l.Take(nil)
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 128<<20 {
		t.Errorf("%d lines keep %d MiB", lines, m.HeapAlloc>>20)
	}
	runtime.KeepAlive(f)
}

// TestASweepForgetsWhatWasLeft wants a line to end when its subscriber does not come back, so
// that nothing is encoded for it, and to stay when the subscriber does.
func TestASweepForgetsWhatWasLeft(t *testing.T) {
	f, l := newPress(), newListener()
	wanted := func() bool {
		f.Begin()
		defer f.End()
		return f.Wanted(trades)
	}
	f.Subscribe(l.Subscriber, []feed.Topic{trades}, nil)
	f.numbered(trades, 1)
	f.Leave(l.Subscriber)
	f.Sweep()
	if !wanted() {
		t.Fatal("the first sweep forgets a line that was just left")
	}
	f.deliver()
	if !f.resumes(l.Subscriber, trades, 0) {
		t.Fatal("the message is not in memory")
	}
	for range 3 {
		f.Sweep()
	}
	if !wanted() {
		t.Fatal("a sweep forgets a line with a subscriber")
	}

	f.Leave(l.Subscriber)
	f.Sweep()
	if f.Sweep(); wanted() {
		t.Error("messages are encoded for a line that was left two sweeps ago")
	}
}
