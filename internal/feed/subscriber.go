package feed

import (
	"context"
	"sync"
)

// maxQueued bounds the bytes in a subscriber's queue, many times a full frame.
const maxQueued = 4 << 20

// maxPushed bounds the pushed bytes among them: answers, which no other subscriber
// shares. Without it, a client that sends requests and does not read would make the
// server keep an answer to each.
const maxPushed = 256 << 10

// maxPaced bounds the queued bytes behind which a message of a paced topic is queued. A client
// that takes 50 kB a second gets the message about a second later.
const maxPaced = 64 << 10

// Subscriber is a bounded queue of messages with one taker.
type Subscriber struct {
	// topics is guarded by the feed's mu.
	topics map[Topic]struct{}
	// heldBytes is the size of the messages that wait for Release, of all topics. It is
	// guarded like the contents of a line.
	heldBytes int
	// arriving is owned by Deliver.
	arriving [][]byte

	// taken receives after a Take, and after the end, so that Await looks again.
	taken chan struct{}

	mu     sync.Mutex
	queue  [][]byte
	bytes  int
	pushed int
	// states is the size of the messages from addState.
	states int
	taking bool
	// over is true once the queue has exceeded its bound, ended after End.
	over, ended bool
	// start makes the owner call Take until it returns nothing.
	start func()
	// cut ends the subscriber because its queue is full.
	cut func()
	// lost makes the owner call Release.
	lost func(*Hold)
}

// NewSubscriber returns a subscriber with an empty queue. start is called, from any
// goroutine, when messages arrive and Take is not being called: it must return at once
// and cause calls of Take until that returns nothing. cut is called once, when the queue
// exceeds its bound; later messages are dropped. lost is called when messages of a topic
// are lost: it must return at once and cause a call of Release with a state.
func NewSubscriber(start, cut func(), lost func(*Hold)) *Subscriber {
	return &Subscriber{
		topics: map[Topic]struct{}{}, taken: make(chan struct{}, 1), start: start, cut: cut, lost: lost,
	}
}

// Push queues a message for this subscriber alone.
func (s *Subscriber) Push(message []byte) { s.add(len(message), message) }

// arrive queues the messages that Deliver has gathered for this subscriber.
func (s *Subscriber) arrive() {
	s.add(0, s.arriving...)
	clear(s.arriving)
	s.arriving = s.arriving[:0]
}

// add queues messages; pushed is the number of pushed bytes among them.
func (s *Subscriber) add(pushed int, messages ...[]byte) {
	s.mu.Lock()
	size, idle := s.put(messages)
	s.bytes += size
	s.pushed += pushed
	over := size > 0 && (s.bytes > maxQueued || s.pushed > maxPushed)
	s.over = s.over || over
	s.mu.Unlock()

	if over {
		s.cut()
	}
	if idle {
		s.start()
	}
}

// addState queues messages that do not count against the bounds of the queue: missed ones, or
// a state.
func (s *Subscriber) addState(messages ...[]byte) {
	s.mu.Lock()
	size, idle := s.put(messages)
	s.states += size
	s.mu.Unlock()
	if idle {
		s.start()
	}
}

// put appends messages to the queue and returns their size, zero after the end. idle is true if
// start must be called. The caller holds mu.
func (s *Subscriber) put(messages [][]byte) (size int, idle bool) {
	if s.over || s.ended || len(messages) == 0 {
		return 0, false
	}
	s.queue = append(s.queue, messages...)
	for _, m := range messages {
		size += len(m)
	}
	idle = !s.taking
	s.taking = true
	return size, idle
}

// maxAnswered bounds the queued bytes from addState behind which Answer waits.
const maxAnswered = 64 << 10

// Answer queues a message of any size, once the taker has taken most of the earlier ones. It
// reports false if the subscriber or the context has ended.
func (s *Subscriber) Answer(ctx context.Context, message []byte) bool {
	for {
		s.mu.Lock()
		over, full := s.over || s.ended, s.states > maxAnswered
		s.mu.Unlock()
		switch {
		case over:
			return false
		case !full:
			s.addState(message)
			return true
		}
		select {
		case <-s.taken:
		case <-ctx.Done():
			return false
		}
	}
}

// overflow cuts the subscriber off as if its queue had exceeded its bound.
func (s *Subscriber) overflow() {
	s.mu.Lock()
	was := s.over || s.ended
	s.over = true
	s.mu.Unlock()
	if !was {
		s.cut()
	}
}

// lags reports whether the queue is too long for messages of paced topics.
func (s *Subscriber) lags() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes > maxPaced
}

// Await waits until no message from addState is queued or the subscriber has ended. It
// reports false if the context ends before.
func (s *Subscriber) Await(ctx context.Context) bool { return s.await(ctx, maxQueued) }

// AwaitRoom is Await, and waits for room for messages of paced topics as well.
func (s *Subscriber) AwaitRoom(ctx context.Context) bool { return s.await(ctx, maxPaced) }

// await waits until no message from addState and at most some bytes of others are queued, or
// the subscriber has ended.
func (s *Subscriber) await(ctx context.Context, most int) bool {
	for {
		s.mu.Lock()
		done := s.states == 0 && s.bytes <= most || s.over || s.ended
		s.mu.Unlock()
		if done {
			wake(s.taken) // another one may wait, too
			return true
		}
		select {
		case <-s.taken:
		case <-ctx.Done():
			return false
		}
	}
}

// Take appends all queued messages to batch, which may be reused between calls. If there
// are none, the next message calls start again.
func (s *Subscriber) Take(batch [][]byte) [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taking = len(s.queue) > 0
	batch = append(batch, s.queue...)
	clear(s.queue)
	s.queue, s.bytes, s.pushed, s.states = s.queue[:0], 0, 0, 0
	wake(s.taken)
	return batch
}

// End queues a last message; later messages are dropped. With now, queued messages are
// dropped as well. Only the first End counts; it reports whether it was the first.
func (s *Subscriber) End(last []byte, now bool) bool {
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return false
	}
	s.ended = true
	if now {
		clear(s.queue)
		s.queue = s.queue[:0]
	}
	s.queue = append(s.queue, last)
	idle := !s.taking
	s.taking = true
	wake(s.taken)
	s.mu.Unlock()
	if idle {
		s.start()
	}
	return true
}

// Abandon ends the subscriber without a last message, and drops the queue: its client is
// gone.
func (s *Subscriber) Abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	clear(s.queue)
	s.queue = s.queue[:0]
	wake(s.taken)
}
