package feed_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
)

// transfersOf returns the topic of an account's transfers.
func transfersOf(id bourse.AccountID) feed.Topic {
	return feed.Topic{Kind: feed.OwnTransfers, Account: id}
}

// slow stages a message of a topic, its number, that Encode makes if works returns true.
func (f press) slow(t feed.Topic, works func() bool) {
	f.Begin()
	f.last[t]++
	seq := f.last[t]
	f.StageSlow(t, seq, func() []byte {
		if !works() {
			return nil
		}
		return []byte(fmt.Sprint(seq))
	})
	f.End()
}

func quickly() bool { return true }
func never() bool   { return false }

// encode encodes and delivers everything.
func (f press) encode() {
	f.deliver()
	for f.Encode() {
		f.deliver()
	}
}

// TestMessagesEncodedLate wants a message that Deliver encodes in its place among the others.
func TestMessagesEncodedLate(t *testing.T) {
	f, l := newPress(), newListener()
	f.Subscribe(l.Subscriber, []feed.Topic{trades, prices}, []byte("subscribed"))
	f.Begin()
	f.Stage(prices, 1, []byte("first"))
	f.StageLater(trades, 1, func() []byte { return []byte("made") })
	f.Stage(prices, 2, []byte("last"))
	f.End()
	f.deliver()
	l.wants(t, "subscribed", "first", "made", "last")
}

// TestSlowMessagesHoldUpTheirTopicAlone keeps one message from being made: messages of its
// topic come behind it, in order, and all others at once. More than maxStaged is published
// meanwhile, for which a publisher that waits for the message would wait for ever.
func TestSlowMessagesHoldUpTheirTopicAlone(t *testing.T) {
	f, l, quick := newPress(), newListener(), newListener()
	mine := transfersOf(1)
	f.Subscribe(l.Subscriber, []feed.Topic{mine}, nil)
	f.Subscribe(quick.Subscriber, []feed.Topic{trades, transfersOf(2)}, nil)
	l.drain()
	quick.drain()
	begun, goOn, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	f.slow(mine, func() bool {
		close(begun)
		<-goOn
		return true
	})
	f.deliver()
	go func() {
		f.Encode()
		close(done)
	}()
	<-begun

	publish(f, mine, "2", transfersOf(2), "another's")
	for range 80 {
		publish(f, trades, string(make([]byte, 1<<20)))
		f.deliver()
		if got := len(quick.drain()); got == 0 {
			t.Fatal("no message of another topic came")
		}
	}
	l.wants(t)

	close(goOn)
	<-done
	f.encode()
	l.wants(t, "1", "2")
	f.numbered(mine, 1)
	f.deliver()
	l.wants(t, "3")
}

// TestWhatIsLostIsAskedFor wants subscribers to be told once of messages that could not be
// made, to get nothing of the topic until Release, and to go on behind the state.
func TestWhatIsLostIsAskedFor(t *testing.T) {
	f, l := newPress(), newListener()
	mine := transfersOf(1)
	f.Subscribe(l.Subscriber, []feed.Topic{mine}, []byte("subscribed"))
	f.slow(mine, never)
	f.numbered(mine, 1)
	f.encode()
	f.slow(mine, never)
	f.numbered(mine, 2)
	f.encode()
	l.wants(t, "subscribed")
	if len(l.lost) != 1 || l.cut != 0 {
		t.Fatalf("told %d times, cut %d times", len(l.lost), l.cut)
	}
	if f.resumes(newListener().Subscriber, mine, 1) {
		t.Error("what could not be made is in memory")
	}

	if f.Release(l.Subscriber, l.lost[0], 4, [][]byte{[]byte("too old")}) {
		t.Error("a state without what was lost does")
	}
	f.numbered(mine, 1)
	f.deliver()
	if !f.Release(l.Subscriber, l.lost[0], 5, [][]byte{[]byte("the state at 5")}) {
		t.Error("the state does not do")
	}
	f.numbered(mine, 1)
	f.deliver()
	l.wants(t, "the state at 5", "6", "7")
}

// TestSlowMessagesAreBounded stages more slow messages than wait for Encode, of one topic and
// then of many: only a topic with more than its part loses messages.
func TestSlowMessagesAreBounded(t *testing.T) {
	f, flood, quiet := newPress(), newListener(), newListener()
	f.Subscribe(flood.Subscriber, []feed.Topic{transfersOf(1)}, nil)
	f.Subscribe(quiet.Subscriber, []feed.Topic{transfersOf(2)}, nil)
	quiet.drain()
	made := 0
	for range 1000 {
		f.slow(transfersOf(1), func() bool { made++; return true })
	}
	f.slow(transfersOf(2), quickly)
	f.encode()
	if made > 64 || len(flood.lost) != 1 {
		t.Errorf("%d messages were made for one topic, which lost messages %d times", made, len(flood.lost))
	}
	if quiet.wants(t, "1"); len(quiet.lost) != 0 {
		t.Error("another's flood loses a message")
	}

	all := make([]*listener, 200)
	made = 0
	for i := range all {
		all[i] = newListener()
		mine := transfersOf(bourse.AccountID(10 + i))
		f.Subscribe(all[i].Subscriber, []feed.Topic{mine}, nil)
		for range 50 {
			f.slow(mine, func() bool { made++; return true })
		}
	}
	f.encode()
	lost := 0
	for _, l := range all {
		lost += len(l.lost)
	}
	if made > 4096 || lost == 0 {
		t.Errorf("%d messages were made, %d topics lost some", made, lost)
	}
	for id := range bourse.AccountID(200) {
		f.slow(transfersOf(10+id), quickly)
	}
	if f.encode(); f.Encode() {
		t.Error("something waits still")
	}
}

// TestSlowTopicsTakeTurns wants a topic with one message to wait for one of another's.
func TestSlowTopicsTakeTurns(t *testing.T) {
	f, l := newPress(), newListener()
	f.Subscribe(l.Subscriber, []feed.Topic{transfersOf(1), transfersOf(2)}, nil)
	var order []int
	for range 10 {
		f.slow(transfersOf(1), func() bool { order = append(order, 1); return true })
	}
	f.slow(transfersOf(2), func() bool { order = append(order, 2); return true })
	f.encode()
	if !slices.Equal(order[:3], []int{1, 2, 1}) {
		t.Errorf("the order is %v", order)
	}
}

// TestLeftTopicsAreNotEncoded wants no work for a topic without a line.
func TestLeftTopicsAreNotEncoded(t *testing.T) {
	f, l := newPress(), newListener()
	f.Subscribe(l.Subscriber, []feed.Topic{transfersOf(1)}, nil)
	f.slow(transfersOf(1), func() bool {
		t.Error("a message was made for nobody")
		return true
	})
	f.Break()
	f.encode()
}
