package feed_test

import (
	"context"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse/internal/feed"
)

var depth = feed.Topic{Kind: feed.PairDepth, Market: 1}

// TestEnvelopes gives subscribers of a topic messages in three forms. Those with one envelope
// share what it makes, and a subscriber may change its form.
func TestEnvelopes(t *testing.T) {
	made := 0
	loud := &feed.Envelope{Wrap: func(m []byte) []byte { made++; return append(append([]byte("<"), m...), '>') }}
	quiet := &feed.Envelope{Wrap: func(m []byte) []byte { return append([]byte("-"), m...) }}
	f := newPress()
	plain, one, two, other := newListener(), newListener(), newListener(), newListener()
	f.Subscribe(plain.Subscriber, []feed.Topic{depth}, []byte("ok"))
	f.SubscribeIn(one.Subscriber, map[feed.Topic]*feed.Envelope{depth: loud}, []byte("ok"))
	f.SubscribeIn(two.Subscriber, map[feed.Topic]*feed.Envelope{depth: loud}, nil)
	f.SubscribeIn(other.Subscriber, map[feed.Topic]*feed.Envelope{depth: quiet}, []byte("ok"))
	publish(f, depth, "a", depth, "b")
	f.Deliver()
	f.SubscribeIn(one.Subscriber, map[feed.Topic]*feed.Envelope{depth: nil}, []byte("changed"))
	publish(f, depth, "c")
	f.Deliver()

	for name, want := range map[*listener][]string{
		plain: {"ok", "a", "b", "c"}, one: {"ok", "<a>", "<b>", "changed", "c"}, two: {"<a>", "<b>", "<c>"},
		other: {"ok", "-a", "-b", "-c"},
	} {
		if got := name.drain(); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if made != 3 {
		t.Errorf("three messages were wrapped %d times", made)
	}
}

// TestPost posts messages of frames: a line that was made later does not get them.
func TestPost(t *testing.T) {
	f := newPress()
	first, second := newListener(), newListener()
	f.Subscribe(first.Subscriber, []feed.Topic{depth}, nil)
	f.Begin()
	early := f.Frame()
	f.End()
	f.Post(depth, early, early, []byte("early"))
	f.Deliver()
	f.Leave(first.Subscriber)
	f.Subscribe(second.Subscriber, []feed.Topic{depth}, nil)
	f.Post(depth, early, early, []byte("old"))
	f.Look(func(frame uint64, wanted func(feed.Topic) bool) {
		if frame != early || !wanted(depth) || wanted(prices) {
			t.Errorf("frame %d, and not %d", frame, early)
		}
	})
	f.Post(depth, early+1, early+1, []byte("new"))
	f.Deliver()
	if got := first.drain(); !slices.Equal(got, []string{"", "early"}) {
		t.Errorf("the first one got %q", got)
	}
	if got := second.drain(); !slices.Equal(got, []string{"", "new"}) {
		t.Errorf("the second one got %q", got)
	}
}

// TestAnswersWait queues answers of any size: one waits until those before it are taken.
func TestAnswersWait(t *testing.T) {
	l := newListener()
	left, leave := context.WithCancel(t.Context())
	leave()
	large := string(make([]byte, 1<<20))
	if !l.Answer(t.Context(), []byte(large)) {
		t.Error("the first answer was not queued")
	}
	if l.Answer(left, []byte("late")) {
		t.Error("an answer was queued behind a large one")
	}
	if got := l.drain(); !slices.Equal(got, []string{large}) {
		t.Errorf("%d messages", len(got))
	}
	if !l.Answer(left, []byte("next")) {
		t.Error("an answer waits for nothing")
	}
	l.Abandon()
	if l.Answer(t.Context(), []byte("never")) || l.cut != 0 {
		t.Error("an answer was queued for a client that is gone")
	}
}

// TestPacedTopicsAreLostInPlaceOfTheSubscriber fills the queue of one that does not take: it
// loses the messages of a paced topic, is told so once, and is not cut. Its queue is not longer
// for them. When it has taken, it goes on behind a state.
func TestPacedTopicsAreLostInPlaceOfTheSubscriber(t *testing.T) {
	f, slow, quick := newPress(), newListener(), newListener()
	book := feed.Topic{Kind: feed.PacedBook, Market: 1}
	for _, l := range []*listener{slow, quick} {
		f.Subscribe(l.Subscriber, []feed.Topic{book}, []byte("subscribed"))
	}
	long := make([]byte, 10<<10)
	for seq := range uint64(1000) {
		f.Post(book, seq+1, 1, long)
		f.deliver()
		quick.drain()
	}
	if slow.cut != 0 || quick.cut != 0 || len(slow.lost) != 1 || len(quick.lost) != 0 {
		t.Fatalf("cut %d and %d times, told %d and %d times", slow.cut, quick.cut, len(slow.lost), len(quick.lost))
	}

	ended, end := context.WithCancel(t.Context())
	end()
	if slow.AwaitRoom(ended) {
		t.Error("there is room in a queue that was not taken")
	}
	if n := len(slow.drain()); n > 10 {
		t.Errorf("%d messages of 10 KiB were queued", n)
	}
	if !slow.AwaitRoom(t.Context()) {
		t.Error("there is no room in an empty queue")
	}
	if f.Release(slow.Subscriber, slow.lost[0], 500, [][]byte{[]byte("old state")}) {
		t.Error("a state without what was lost does")
	}
	if !f.Release(slow.Subscriber, slow.lost[0], 1000, [][]byte{[]byte("state")}) {
		t.Error("the state does not do")
	}
	f.Post(book, 1001, 1, []byte("next"))
	f.deliver()
	slow.wants(t, "state", "next")
}
