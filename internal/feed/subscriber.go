package feed

import "sync"

// maxQueued bounds the bytes that wait in a subscriber's queue. A burst of one
// full frame fits into it many times over.
const maxQueued = 4 << 20

// maxPushed bounds the bytes among them that were pushed: answers, which nobody
// else shares. Whoever asks and does not read could otherwise have us keep as
// much as he sends.
const maxPushed = 256 << 10

// Subscriber is a bounded queue of messages with one taker.
type Subscriber struct {
	// topics is guarded by the feed.
	topics map[Topic]struct{}
	// arriving belongs to Deliver.
	arriving [][]byte

	mu     sync.Mutex
	queue  [][]byte
	bytes  int
	pushed int
	taking bool
	// over is true once the queue has outgrown its bound, ended after End.
	over, ended bool
	// start has somebody call Take until it returns nothing.
	start func()
	// cut ends the subscriber because its queue is full.
	cut func()
}

// NewSubscriber returns a subscriber with an empty queue. start is called, from
// any goroutine, when messages wait and nobody takes them: it must return at
// once and see to it that Take is called until it returns nothing. cut is called
// once, when the queue has outgrown its bound; nothing is queued any more then.
func NewSubscriber(start, cut func()) *Subscriber {
	return &Subscriber{topics: map[Topic]struct{}{}, start: start, cut: cut}
}

// Push queues one message that is for this subscriber alone.
func (s *Subscriber) Push(message []byte) { s.add(len(message), message) }

// arrive queues what Deliver has gathered for it.
func (s *Subscriber) arrive() {
	s.add(0, s.arriving...)
	clear(s.arriving)
	s.arriving = s.arriving[:0]
}

// add queues messages, of which so many bytes are pushed.
func (s *Subscriber) add(pushed int, messages ...[]byte) {
	s.mu.Lock()
	if s.over || s.ended {
		s.mu.Unlock()
		return
	}
	s.queue = append(s.queue, messages...)
	for _, m := range messages {
		s.bytes += len(m)
	}
	s.pushed += pushed
	s.over = s.bytes > maxQueued || s.pushed > maxPushed
	idle, over := !s.taking, s.over
	s.taking = true
	s.mu.Unlock()
	if over {
		s.cut()
	}
	if idle {
		s.start()
	}
}

// Take moves all queued messages to the end of batch, which may be reused from
// call to call. When there are none, start will be called again for the next.
func (s *Subscriber) Take(batch [][]byte) [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taking = len(s.queue) > 0
	batch = append(batch, s.queue...)
	clear(s.queue)
	s.queue, s.bytes, s.pushed = s.queue[:0], 0, 0
	return batch
}

// End queues a last message; what comes from now on is dropped. With now, what
// waits is dropped as well. Only the first End counts; it reports whether it was.
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
	s.mu.Unlock()
	if idle {
		s.start()
	}
	return true
}
