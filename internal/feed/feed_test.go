package feed_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
)

var (
	trades  = feed.Topic{Kind: feed.Trades, Market: 1}
	candles = feed.Topic{Kind: feed.Candles, Market: 1, Resolution: bourse.Resolution1}
	prices  = feed.Topic{Kind: feed.Ticker, Market: 1}
)

// listener collects a subscriber's messages.
type listener struct {
	*feed.Subscriber
	started, cut int
	lost         []*feed.Hold
}

func newListener() *listener {
	l := new(listener)
	l.Subscriber = feed.NewSubscriber(
		func() { l.started++ }, func() { l.cut++ }, func(h *feed.Hold) { l.lost = append(l.lost, h) })
	return l
}

func (l *listener) drain() (got []string) {
	for batch := l.Take(nil); len(batch) > 0; batch = l.Take(batch[:0]) {
		for _, m := range batch {
			got = append(got, string(m))
		}
	}
	return got
}

// press is a feed that numbers the messages of its topics.
type press struct {
	*feed.Feed
	last map[feed.Topic]uint64
}

func newPress() press { return press{feed.New(), map[feed.Topic]uint64{}} }

// publish publishes pairs of a topic and a message as one frame.
func publish(f press, messages ...any) {
	f.Begin()
	for i := 0; i < len(messages); i += 2 {
		t := messages[i].(feed.Topic)
		if f.last[t]++; f.Wanted(t) {
			f.Stage(t, f.last[t], []byte(messages[i+1].(string)))
		}
	}
	f.End()
}

func TestOrderAndTopics(t *testing.T) {
	f := newPress()
	a, b := newListener(), newListener()
	f.Subscribe(a.Subscriber, []feed.Topic{trades, prices}, []byte("a subscribed"))
	f.Subscribe(a.Subscriber, []feed.Topic{trades}, []byte("a again"))
	f.Subscribe(b.Subscriber, []feed.Topic{prices}, []byte("b subscribed"))
	publish(f, trades, "t1", prices, "b1", trades, "t2")
	publish(f, prices, "b2")
	for f.Deliver() {
	}
	f.Unsubscribe(a.Subscriber, []feed.Topic{prices}, []byte("a left the prices"))
	publish(f, prices, "b3", trades, "t3")
	f.Leave(b.Subscriber)
	for f.Deliver() {
	}
	want := []string{"a subscribed", "a again", "t1", "b1", "t2", "b2", "a left the prices", "t3"}
	if got := a.drain(); !slices.Equal(got, want) {
		t.Errorf("a got %v, want %v", got, want)
	}
	// b left before b3 was delivered, so b3 does not arrive.
	if got, want := b.drain(), []string{"b subscribed", "b1", "b2"}; !slices.Equal(got, want) {
		t.Errorf("b got %v, want %v", got, want)
	}
	f.Begin()
	if f.Wanted(prices) || !f.Wanted(trades) {
		t.Error("the topics left are wrong")
	}
	f.End()
	if f.Deliver() {
		t.Error("an empty frame was delivered")
	}
}

func TestIdle(t *testing.T) {
	f, l := newPress(), newListener()
	for _, idle := range []bool{true, false, true} {
		f.Begin()
		if f.Idle() != idle {
			t.Errorf("idle is %v, want %v", !idle, idle)
		}
		f.End()
		if idle {
			f.Subscribe(l.Subscriber, []feed.Topic{candles, prices}, nil)
			continue
		}
		f.Unsubscribe(l.Subscriber, []feed.Topic{candles}, nil)
		f.Unsubscribe(l.Subscriber, []feed.Topic{prices}, nil)
	}
}

func TestStartIsCalledWhenNobodyTakes(t *testing.T) {
	l := newListener()
	l.Push([]byte("1"))
	l.Push([]byte("2"))
	if l.started != 1 {
		t.Errorf("started %d times", l.started)
	}
	l.drain()
	l.Push([]byte("3"))
	if l.started != 2 {
		t.Errorf("started %d times", l.started)
	}
}

func TestSlowSubscriberIsCutAndNeverSkipped(t *testing.T) {
	f := newPress()
	slow, quick := newListener(), newListener()
	f.Subscribe(slow.Subscriber, []feed.Topic{trades}, []byte("subscribed"))
	f.Subscribe(quick.Subscriber, []feed.Topic{trades}, []byte("subscribed"))
	big := string(make([]byte, 1<<20))
	got := 0
	for i := range 10 {
		publish(f, trades, fmt.Sprint(i)+big)
		f.Deliver()
		got += len(quick.drain())
	}
	if quick.cut != 0 || got != 11 {
		t.Errorf("the quick one was cut %d times and got %d messages", quick.cut, got)
	}
	if slow.cut != 1 {
		t.Errorf("the slow one was cut %d times", slow.cut)
	}
	for i, m := range slow.drain()[1:] {
		if m[:1] != fmt.Sprint(i) {
			t.Fatalf("message %d was skipped", i)
		}
	}
}

func TestLastMessage(t *testing.T) {
	for _, now := range []bool{false, true} {
		f := newPress()
		l := newListener()
		f.Subscribe(l.Subscriber, []feed.Topic{trades}, []byte("subscribed"))
		publish(f, trades, "1")
		f.Deliver()
		if !l.End([]byte("bye"), now) || l.End([]byte("again"), true) {
			t.Error("not the first end alone counts")
		}
		publish(f, trades, "2")
		f.Deliver()
		l.Push([]byte("3"))
		want := []string{"subscribed", "1", "bye"}
		if now {
			want = want[2:]
		}
		if got := l.drain(); !slices.Equal(got, want) {
			t.Errorf("now %v: got %v, want %v", now, got, want)
		}
	}
	idle := newListener()
	idle.drain()
	if idle.End([]byte("bye"), false); idle.started != 1 || idle.cut != 0 {
		t.Errorf("started %d times, cut %d times", idle.started, idle.cut)
	}
}

// TestLastMessageOfTheSlow ends a subscriber from its cut, as a connection does.
func TestLastMessageOfTheSlow(t *testing.T) {
	var s *feed.Subscriber
	started := 0
	s = feed.NewSubscriber(func() { started++ }, func() { s.End([]byte("too slow"), true) }, nil)
	for range 10 {
		s.Push(make([]byte, 1<<20))
	}
	batch := s.Take(nil)
	if len(batch) != 1 || string(batch[0]) != "too slow" || started != 1 {
		t.Errorf("%d messages, started %d times", len(batch), started)
	}
}

// TestAnswersAreBounded wants pushed messages to have a lower bound than published ones,
// counted from zero after Take.
func TestAnswersAreBounded(t *testing.T) {
	cut := 0
	s := feed.NewSubscriber(func() {}, func() { cut++ }, nil)
	answer := make([]byte, 64<<10)
	for range 10 {
		for range 4 {
			s.Push(answer)
		}
		s.Take(nil)
	}
	if cut != 0 {
		t.Errorf("who takes was cut %d times", cut)
	}
	for range 5 {
		s.Push(answer)
	}
	if cut != 1 {
		t.Errorf("who does not take was cut %d times", cut)
	}
}

func TestSubscriptionsCountTopicsOnce(t *testing.T) {
	f := newPress()
	s := newListener().Subscriber
	f.Subscribe(s, []feed.Topic{trades, trades}, nil)
	for want, more := range [][]feed.Topic{1: {trades}, 2: {prices, trades, prices}} {
		if got := f.Subscriptions(s, more); more != nil && got != want {
			t.Errorf("%d subscriptions with %v, want %d", got, more, want)
		}
	}
}

// TestPublisherWaitsForDelivery exceeds maxStaged: the publisher waits, and continues
// after Deliver.
func TestPublisherWaitsForDelivery(t *testing.T) {
	f := newPress()
	l := newListener()
	f.Subscribe(l.Subscriber, []feed.Topic{trades}, nil)
	const messages = 80
	var work sync.WaitGroup
	published := make(chan int, messages)
	work.Go(func() {
		big := make([]byte, 1<<20)
		for i := range messages {
			f.Begin()
			f.Stage(trades, uint64(i+1), big)
			f.End()
			published <- i
		}
		close(published)
	})
	for i := range 64 {
		if got := <-published; got != i {
			t.Fatalf("frame %d came as number %d", i, got)
		}
	}
	for range published {
		f.Deliver()
	}
	work.Wait()
	if l.cut != 1 {
		t.Errorf("the listener was cut %d times", l.cut)
	}
}

// TestConcurrently is for the race detector: publishers, subscriptions and takers at
// once; each taker must see ascending messages.
func TestConcurrently(t *testing.T) {
	f := newPress()
	const messages, listeners = 2000, 8
	var work sync.WaitGroup
	stop := make(chan struct{})
	for range listeners {
		work.Go(func() {
			more := make(chan struct{}, 1)
			s := feed.NewSubscriber(func() { more <- struct{}{} }, func() { t.Error("cut") }, nil)
			last := ""
			for round := 0; ; round++ {
				f.Subscribe(s, []feed.Topic{trades}, nil)
				select {
				case <-more:
				case <-stop:
					return
				}
				for batch := s.Take(nil); len(batch) > 0; batch = s.Take(nil) {
					for _, m := range batch {
						if m != nil && string(m) <= last {
							t.Errorf("%s came after %s", m, last)
						}
						if m != nil {
							last = string(m)
						}
					}
				}
				if round%3 == 0 {
					f.Leave(s)
				}
			}
		})
	}
	for i := range messages {
		publish(f, trades, fmt.Sprintf("%06d", i))
		f.Deliver()
	}
	close(stop)
	work.Wait()
}
