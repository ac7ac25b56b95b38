package feed

import (
	"sync"

	"github.com/bourse-exchange/bourse"
)

// Kind is the kind of a topic. The publisher defines the kinds; the feed only compares
// them.
type Kind uint8

// Topic is a subject of subscriptions.
type Topic struct {
	Kind Kind
	// Market is set for public topics.
	Market bourse.MarketID
	// Account is set for private topics.
	Account bourse.AccountID
	// Resolution is set for candles.
	Resolution bourse.Time
}

// maxStaged bounds the bytes waiting for Deliver; beyond it the publisher waits.
// Delivering references is so much cheaper than encoding messages that only a stalled
// process reaches it.
const maxStaged = 64 << 20

// Feed maps topics to subscribers.
type Feed struct {
	// mu guards the topics: Subscribe, Unsubscribe and Leave write; the publisher and
	// Deliver read.
	mu     sync.RWMutex
	topics map[Topic]map[*Subscriber]struct{}

	// frame is the frame being staged, owned by the publisher.
	frame []message

	// Staged frames between the publisher and Deliver, guarded by waitingMu.
	waitingMu sync.Mutex
	drained   sync.Cond
	waiting   []message
	bytes     int
	ready     chan struct{}

	// Owned by Deliver.
	delivering []message
	touched    []*Subscriber
	// run holds consecutive messages of one topic: its subscribers are walked once for
	// all.
	run [][]byte
}

// message is an encoded message of a topic.
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

// Begin begins a frame. Begin, Wanted, Idle, Stage and End belong to one goroutine.
func (f *Feed) Begin() { f.mu.RLock() }

// Wanted reports whether a topic has subscribers, so that unwanted messages are not
// encoded. Call it between Begin and End.
func (f *Feed) Wanted(t Topic) bool { return len(f.topics[t]) > 0 }

// Idle reports whether no topic has a subscriber, which cannot change between Begin and
// End. Call it between them.
func (f *Feed) Idle() bool { return len(f.topics) == 0 }

// Stage adds a message to the frame. The bytes must not change afterwards.
func (f *Feed) Stage(t Topic, bytes []byte) {
	f.frame = append(f.frame, message{t, bytes})
}

// End ends the frame and leaves it to Deliver.
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

// Ready returns a channel that receives when Deliver has work.
func (f *Feed) Ready() <-chan struct{} { return f.ready }

// Deliver queues the staged messages for their subscribers and reports whether there were
// any. Not safe for concurrent use.
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

	// The queues are filled under the lock, so that no message follows the answer to an
	// Unsubscribe.
	for _, s := range f.touched {
		s.arrive()
	}

	f.mu.RUnlock()
	clear(f.touched)
	clear(f.delivering)
	f.touched = f.touched[:0]
	return true
}

// Subscribe adds topics to a subscriber; existing ones stay. The answer is queued before
// their messages.
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

// Unsubscribe removes topics from a subscriber; none of their messages follows the
// answer.
func (f *Feed) Unsubscribe(s *Subscriber, topics []Topic, answer []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range topics {
		f.drop(s, t)
	}
	s.Push(answer)
}

// Leave removes all topics from a subscriber.
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

// Subscriptions returns the number of topics that a subscriber would have with more.
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
