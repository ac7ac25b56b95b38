package feed

import (
	"container/list"
	"sync"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
)

// Kind is the kind of a topic.
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
	OwnBalances
	OwnTransfers
)

// The kinds of topics whose messages come at intervals, for people. They are never counted.
const (
	PacedBook Kind = iota + 32
	PacedTape
	PacedCandles
	PacedTickers
)

// The kinds of topics of the facade, whose messages are never counted.
const (
	PairTrades Kind = iota + 64
	PairAggTrades
	PairCandles
	PairMiniTicker
	PairTicker
	PairBookTicker
	PairAverage
	PairDepth
	PairLevels
	AllMiniTickers
	AllTickers
	AllBookTickers
	User
)

// Topic is a subject of subscriptions.
type Topic struct {
	Kind Kind
	// Levels is the number of levels that a topic of PairLevels shows.
	Levels uint8
	// Fast is set for those topics of PairDepth and PairLevels whose messages come every
	// 100 ms.
	Fast bool
	// Market is set for public topics.
	Market bourse.MarketID
	// Account is set for private topics.
	Account bourse.AccountID
	// Resolution is set for Candles, PacedCandles and PairCandles.
	Resolution bourse.Resolution
}

// maxStaged bounds the bytes waiting for Deliver; beyond it the publisher waits.
// Delivering references is so much cheaper than encoding messages that only a stalled
// process reaches it.
const maxStaged = 64 << 20

// Feed maps topics to subscribers.
type Feed struct {
	// mu guards the lines: subscribing and leaving write; the publisher and Deliver read,
	// and Deliver alone writes to the contents of a line meanwhile.
	mu    sync.RWMutex
	lines map[Topic]*line
	// idle are the lines without a subscriber, the latest left last. sweeps counts the calls
	// of Sweep.
	idle   list.List
	sweeps uint64
	// kept is the size of the recent messages of all lines; turns are these lines, in the
	// order in which bound looks at them.
	kept  int
	turns list.List

	// frame is the frame being staged, owned by the publisher. frames counts the frames; it
	// changes while mu is read-locked.
	frame  []message
	frames atomic.Uint64

	// Staged frames between the publisher and Deliver, guarded by waitingMu.
	waitingMu sync.Mutex
	drained   sync.Cond
	waiting   []message
	bytes     int
	ready     chan struct{}

	slow slow

	// Owned by Deliver.
	delivering []message
	touched    []*Subscriber
	useless    []Topic
	// wrapped are the wrapped messages of a run, by envelope.
	wrapped map[*Envelope][][]byte
}

// message is an encoded message of a topic, with its number in the topic's stream.
type message struct {
	topic Topic
	seq   uint64
	bytes []byte
	// encode returns bytes, which are nil until Deliver or, if slow is set, Encode calls it;
	// nil for most messages.
	encode func() []byte
	slow   bool
	// frame is the number of its frame.
	frame uint64
}

// Envelope gives the messages of a subscription another form. Subscriptions with the same
// envelope share the wrapped bytes.
type Envelope struct {
	// Wrap returns the form of a message. Deliver calls it, once for each message.
	Wrap func(message []byte) []byte
}

// New returns a feed without subscribers.
func New() *Feed {
	f := &Feed{lines: map[Topic]*line{}, ready: make(chan struct{}, 1), wrapped: map[*Envelope][][]byte{}}
	f.drained.L = &f.waitingMu
	f.slow.topics, f.slow.ready = map[Topic]*slowTopic{}, make(chan struct{}, 1)
	return f
}

// Begin begins a frame. Begin, Wanted, Idle, Stage and End belong to one goroutine.
func (f *Feed) Begin() { f.mu.RLock() }

// Wanted reports whether a topic has a line, so that unwanted messages are not encoded.
// Call it between Begin and End.
func (f *Feed) Wanted(t Topic) bool { return f.lines[t] != nil }

// Idle reports whether no topic has a line, which cannot change between Begin and End.
// Call it between them.
func (f *Feed) Idle() bool { return len(f.lines) == 0 }

// Frame returns the number of the frame being staged. Call it between Begin and End.
func (f *Feed) Frame() uint64 { return f.frames.Load() + 1 }

// Stage adds a message to the frame. seq is its number in the topic's stream: the last
// message's plus one, if the topic is counted, else no less than the last one's. The bytes
// must not change afterwards.
func (f *Feed) Stage(t Topic, seq uint64, bytes []byte) {
	f.frame = append(f.frame, message{topic: t, seq: seq, bytes: bytes})
}

// StageLater adds a message that Deliver encodes, in place of the publisher.
func (f *Feed) StageLater(t Topic, seq uint64, encode func() []byte) {
	f.frame = append(f.frame, message{topic: t, seq: seq, encode: encode})
}

// StageSlow adds a message that Encode encodes, because that may wait for a disk or a
// network. Later messages of its topic wait for it, messages of other topics do not. If
// encode returns nil, the topic's subscribers lose the message and are told so.
func (f *Feed) StageSlow(t Topic, seq uint64, encode func() []byte) {
	f.frame = append(f.frame, message{topic: t, seq: seq, encode: encode, slow: true})
}

// End ends the frame and leaves it to Deliver.
func (f *Feed) End() {
	now := f.frames.Add(1)
	f.mu.RUnlock()
	if len(f.frame) == 0 {
		return
	}

	for i := range f.frame {
		f.frame[i].frame = now
	}
	f.leaveToDeliver(f.frame)
	clear(f.frame)
	f.frame = f.frame[:0]
}

// leaveToDeliver leaves messages to Deliver, once there is room for them.
func (f *Feed) leaveToDeliver(list []message) {
	f.waitingMu.Lock()
	for f.bytes > maxStaged {
		f.drained.Wait()
	}
	for i := range list {
		f.bytes += len(list[i].bytes)
	}
	f.waiting = append(f.waiting, list...)
	f.waitingMu.Unlock()
	wake(f.ready)
}

// Post leaves a message to Deliver at once, with its number in the topic's stream, as in Stage.
// It is one of a frame: lines that were made later do not get it. Messages of one topic come
// either by Post, and from one goroutine, or between Begin and End.
func (f *Feed) Post(t Topic, seq, frame uint64, bytes []byte) {
	f.leaveToDeliver([]message{{topic: t, seq: seq, bytes: bytes, frame: frame}})
}

// Look calls look with the number of the last frame and a function that reports whether a
// topic has a line. It must not be called between Begin and End.
func (f *Feed) Look(look func(frame uint64, wanted func(Topic) bool)) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	look(f.frames.Load(), f.Wanted)
}

// wake makes a channel with room for one value receive.
func wake(ready chan struct{}) {
	select {
	case ready <- struct{}{}:
	default:
	}
}

// Ready returns a channel that receives when Deliver has work.
func (f *Feed) Ready() <-chan struct{} { return f.ready }

// Deliver queues the staged messages for their subscribers and reports whether there were
// any. Not safe for concurrent use.
func (f *Feed) Deliver() bool {
	if !f.gather() {
		return false
	}

	f.mu.RLock()
	share := f.share()
	for rest := f.delivering; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].topic == rest[0].topic {
			n++
		}
		f.pass(rest[:n], share)
		rest = rest[n:]
	}

	// The queues are filled under the lock, so that no message follows the answer to an
	// Unsubscribe.
	for _, s := range f.touched {
		s.arrive()
	}

	f.mu.RUnlock()
	f.forget()
	clear(f.touched)
	clear(f.delivering)
	f.touched = f.touched[:0]
	return true
}

// gather takes the staged messages and the slow ones that Encode has made, and leaves new slow
// ones to Encode. It reports whether there were any.
func (f *Feed) gather() bool {
	f.waitingMu.Lock()
	f.delivering, f.waiting = f.waiting, f.delivering[:0]
	f.bytes = 0
	f.drained.Signal()
	f.waitingMu.Unlock()

	staged := len(f.delivering) > 0
	f.delivering = f.slow.divert(f.delivering)
	for i := range f.delivering {
		if m := &f.delivering[i]; m.encode != nil {
			m.bytes, m.encode = m.encode(), nil
		}
	}
	return staged || len(f.delivering) > 0
}

// pass passes consecutive messages of one topic to its line.
func (f *Feed) pass(run []message, share int) {
	l := f.lines[run[0].topic]
	for l != nil && len(run) > 0 && run[0].frame <= l.born {
		run = run[1:]
	}
	if l == nil || len(run) == 0 {
		return
	}

	for i := range run {
		if run[i].bytes == nil {
			f.lose(l, run[len(run)-1].seq)
			return
		}
	}
	if run[0].topic.Kind.Counted() {
		f.keep(l, run, share)
		if l.unheard += len(run); l.useless() {
			f.useless = append(f.useless, run[0].topic)
		}
	}
	for s, sub := range l.subscribers {
		switch {
		case sub.holding:
			s.hold(sub, run)
			continue
		case l.topic.Kind.Paced() && s.lags():
			s.lose(sub, run[len(run)-1].seq)
			s.lost(&Hold{l.topic, sub})
			continue
		}
		before := len(s.arriving)
		if sub.envelope != nil {
			s.arriving = append(s.arriving, f.wrap(sub.envelope, run)...)
		} else {
			for i := range run {
				if run[i].seq > sub.has {
					s.arriving = append(s.arriving, run[i].bytes)
				}
			}
		}
		if l.topic.Kind.Counted() {
			sub.has = max(sub.has, run[len(run)-1].seq)
		}
		if before == 0 && len(s.arriving) > 0 {
			f.touched = append(f.touched, s)
		}
	}
	clear(f.wrapped)
}

// wrap returns the messages of a run in an envelope.
func (f *Feed) wrap(e *Envelope, run []message) [][]byte {
	list, made := f.wrapped[e]
	if !made {
		for i := range run {
			list = append(list, e.Wrap(run[i].bytes))
		}
		f.wrapped[e] = list
	}
	return list
}

// Subscribe adds topics to a subscriber; existing ones stay. The answer is queued before
// their messages.
func (f *Feed) Subscribe(s *Subscriber, topics []Topic, answer []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range topics {
		if _, has := s.topics[t]; !has {
			f.add(s, t)
		}
	}
	s.Push(answer)
}

// SubscribeIn adds topics to a subscriber, each in an envelope, which may be nil; existing ones
// get the new envelope. The answer, if there is one, is queued before their messages in that
// form. Topics in envelopes must not be counted.
func (f *Feed) SubscribeIn(s *Subscriber, topics map[Topic]*Envelope, answer []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for t, e := range topics {
		if _, has := s.topics[t]; !has {
			f.add(s, t)
		}
		f.lines[t].subscribers[s].envelope = e
	}
	if answer != nil {
		s.Push(answer)
	}
}

// Unsubscribe removes topics from a subscriber; none of their messages follows the
// answer.
func (f *Feed) Unsubscribe(s *Subscriber, topics []Topic, answer []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range topics {
		f.leave(s, t)
	}
	s.Push(answer)
}

// Leave removes all topics from a subscriber.
func (f *Feed) Leave(s *Subscriber) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for t := range s.topics {
		f.leave(s, t)
	}
}

// Depart is Leave, and returns the topics, each with the number of the last message that was queued of it if it is counted;
// zero if there was none.
func (f *Feed) Depart(s *Subscriber) map[Topic]uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	had := make(map[Topic]uint64, len(s.topics))
	for t := range s.topics {
		had[t] = f.lines[t].subscribers[s].has
		f.leave(s, t)
	}
	return had
}

// Has reports whether a subscriber has a topic.
func (f *Feed) Has(s *Subscriber, t Topic) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	_, has := s.topics[t]
	return has
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
