package feed

import (
	"sync"

	"github.com/bourse-exchange/bourse"
)

// Kind says what a topic is about.
type Kind uint8

// The kinds of topics.
const (
	Trades Kind = iota + 1
	Candles
	Ticker
	TickerEx
	Book
	OwnOrders
	OwnTrades
)

// Topic is what one can subscribe to.
type Topic struct {
	Kind Kind
	// Market is set for public topics.
	Market bourse.MarketID
	// Account is set for private ones.
	Account bourse.AccountID
	// Resolution is set for Candles.
	Resolution bourse.Time
}

// maxStaged bounds the bytes that wait for Deliver; the publisher waits beyond
// it. Handing on references is so much cheaper than making messages that only a
// stalled process gets there.
const maxStaged = 64 << 20

// Feed knows who listens to what.
type Feed struct {
	// mu guards the topics: writing subscribes, reading publishes and delivers.
	mu     sync.RWMutex
	topics map[Topic]map[*Subscriber]struct{}

	// frame is being staged, by the publisher alone.
	frame []message

	// Frames between the publisher and Deliver.
	waitingMu sync.Mutex
	drained   sync.Cond
	waiting   []message
	bytes     int
	ready     chan struct{}

	// Of Deliver.
	delivering []message
	touched    []*Subscriber
	// run is messages of one topic: its subscribers are walked once for all.
	run [][]byte
}

// message is the bytes for a topic.
type message struct {
	topic Topic
	bytes []byte
}

// New returns a feed without subscribers.
func New() *Feed {
	f := &Feed{topics: map[Topic]map[*Subscriber]struct{}{}, ready: make(chan struct{}, 1)}
	f.drained.L = &f.waitingMu
	return f
}

// Begin opens a frame. Begin, Wanted, Idle, Stage and End belong to one goroutine.
func (f *Feed) Begin() { f.mu.RLock() }

// Wanted reports whether anybody listens to a topic, so that nobody encodes for
// nobody. It belongs between Begin and End.
func (f *Feed) Wanted(t Topic) bool { return len(f.topics[t]) > 0 }

// Idle reports whether nobody listens to anything. It belongs between Begin and
// End, which keep it as it is.
func (f *Feed) Idle() bool { return len(f.topics) == 0 }

// Stage adds a message to the frame; the bytes must never change again.
func (f *Feed) Stage(t Topic, bytes []byte) {
	f.frame = append(f.frame, message{t, bytes})
}

// End closes the frame and leaves it to Deliver.
func (f *Feed) End() {
	f.mu.RUnlock()
	if len(f.frame) == 0 {
		return
	}
	f.waitingMu.Lock()
	for f.bytes > maxStaged {
		f.drained.Wait()
	}
	for _, m := range f.frame {
		f.bytes += len(m.bytes)
	}
	f.waiting = append(f.waiting, f.frame...)
	f.waitingMu.Unlock()
	clear(f.frame)
	f.frame = f.frame[:0]
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

// Ready returns a channel that receives when Deliver has something to do.
func (f *Feed) Ready() <-chan struct{} { return f.ready }

// Deliver hands on what was staged and reports whether there was anything. It
// belongs to one goroutine.
func (f *Feed) Deliver() bool {
	f.waitingMu.Lock()
	f.delivering, f.waiting = f.waiting, f.delivering[:0]
	f.bytes = 0
	f.drained.Signal()
	f.waitingMu.Unlock()
	if len(f.delivering) == 0 {
		return false
	}
	f.mu.RLock()
	for rest := f.delivering; len(rest) > 0; {
		t := rest[0].topic
		f.run = f.run[:0]
		for ; len(rest) > 0 && rest[0].topic == t; rest = rest[1:] {
			f.run = append(f.run, rest[0].bytes)
		}
		for s := range f.topics[t] {
			if len(s.arriving) == 0 {
				f.touched = append(f.touched, s)
			}
			s.arriving = append(s.arriving, f.run...)
		}
		clear(f.run)
	}
	// The queues are filled under the lock, so that nothing comes after the
	// answer to an unsubscription.
	for _, s := range f.touched {
		s.arrive()
	}
	f.mu.RUnlock()
	clear(f.touched)
	clear(f.delivering)
	f.touched = f.touched[:0]
	return true
}

// Subscribe adds topics to a subscriber; those that it has already stay as they
// are. The answer is queued in front of their messages.
func (f *Feed) Subscribe(s *Subscriber, topics []Topic, answer []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range topics {
		if f.topics[t] == nil {
			f.topics[t] = map[*Subscriber]struct{}{}
		}
		f.topics[t][s] = struct{}{}
		s.topics[t] = struct{}{}
	}
	s.Push(answer)
}

// Unsubscribe takes topics from a subscriber; none of their messages comes
// behind the answer.
func (f *Feed) Unsubscribe(s *Subscriber, topics []Topic, answer []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range topics {
		f.drop(s, t)
	}
	s.Push(answer)
}

// Leave takes all topics from a subscriber.
func (f *Feed) Leave(s *Subscriber) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for t := range s.topics {
		f.drop(s, t)
	}
}

func (f *Feed) drop(s *Subscriber, t Topic) {
	delete(s.topics, t)
	delete(f.topics[t], s)
	if len(f.topics[t]) == 0 {
		delete(f.topics, t)
	}
}

// Subscriptions returns how many topics a subscriber would have with these.
func (f *Feed) Subscriptions(s *Subscriber, more []Topic) int {
	f.mu.RLock()
	defer f.mu.RUnlock()
	added := map[Topic]struct{}{}
	for _, t := range more {
		if _, has := s.topics[t]; !has {
			added[t] = struct{}{}
		}
	}
	return len(s.topics) + len(added)
}
