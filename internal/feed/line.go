package feed

import (
	"container/list"
	"slices"
)

const (
	// maxRecent and maxRecentBytes bound the recent messages of a line, which may come to
	// twice as much before they are cut.
	maxRecent      = 1024
	maxRecentBytes = 256 << 10
	// maxKept is shared equally by the recent messages of all lines, in bytes. Lines that
	// kept more while there were fewer of them shrink with their next message.
	maxKept = 64 << 20
	// maxIdle bounds the lines without a subscriber. Beyond it the line that was left first
	// is forgotten.
	maxIdle = 1024
)

// Counted reports whether the messages of a topic are numbered without gaps. Those of
// other topics tell a state, and the last one is enough.
func (k Kind) Counted() bool {
	switch k {
	case Trades, Book, OwnOrders, OwnTrades, OwnBalances, OwnTransfers:
		return true
	case Candles, Ticker, TickerEx:
	}
	return false
}

// line is a topic's subscribers and, if the topic is counted, its recent messages. It
// outlives its last subscriber for a while, for the subscriber to come back.
type line struct {
	subscribers map[*Subscriber]*subscription
	// born is the newest frame when the line was made. Older messages that are still to be
	// delivered are not for it, because those between were not staged.
	born uint64
	// recent are the last messages, oldest first; their numbers have no gaps. They are
	// copies, because a staged message shares its memory with many others.
	recent []message
	// bytes is the size of recent.
	bytes int
	// left is the line's entry in the feed's idle; nil while it has a subscriber. unheard
	// counts the messages since then.
	left    *list.Element
	unheard int
}

// subscription is a subscriber's part of a line.
type subscription struct {
	// has is the number of the last message that the subscriber has; earlier ones that are
	// still to be delivered are not for it.
	has uint64
	// While holding is true, messages wait in held for Release. heldBytes is their size.
	holding   bool
	held      []message
	heldBytes int
}

// keep adds messages to the recent ones. At twice the bounds, of which share is the one in
// bytes, it drops the oldest ones down to the bounds, so that the others move rarely.
func (l *line) keep(run []message, share int) {
	size := 0
	for i := range run {
		size += len(run[i].bytes)
	}

	block := make([]byte, 0, size)
	for i := range run {
		at := len(block)
		block = append(block, run[i].bytes...)
		l.recent = append(l.recent, message{
			topic: run[i].topic, seq: run[i].seq, bytes: block[at:len(block):len(block)],
		})
	}
	if l.bytes += size; l.bytes <= 2*share && len(l.recent) <= 2*maxRecent {
		return
	}

	n := 0
	for len(l.recent)-n > maxRecent || l.bytes > share && n < len(l.recent) {
		l.bytes -= len(l.recent[n].bytes)
		n++
	}
	l.recent = slices.Delete(l.recent, 0, n)
}

// useless reports whether a line without a subscriber has dropped messages that its last
// one missed.
func (l *line) useless() bool { return l.left != nil && l.unheard > len(l.recent) }

// forget removes the lines that were useless and still have no subscriber.
func (f *Feed) forget() {
	if len(f.useless) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range f.useless {
		if l := f.lines[t]; l != nil && l.useless() {
			f.idle.Remove(l.left)
			delete(f.lines, t)
		}
	}
	f.useless = f.useless[:0]
}

// cutOff cuts off the subscribers and forgets the recent messages, because one is missing.
func (l *line) cutOff() {
	l.recent, l.bytes = nil, 0
	for s := range l.subscribers {
		s.overflow()
	}
}

// after returns the messages behind a number, if the line has all of them.
func (l *line) after(seq uint64) ([]message, bool) {
	n := len(l.recent)
	if n == 0 || seq+1 < l.recent[0].seq || seq > l.recent[n-1].seq || l.recent[n-1].seq-l.recent[0].seq != uint64(n-1) {
		return nil, false
	}
	return l.recent[seq+1-l.recent[0].seq:], true
}

// add adds a topic to a subscriber.
func (f *Feed) add(s *Subscriber, t Topic) *subscription {
	l := f.lines[t]
	if l == nil {
		l = &line{subscribers: map[*Subscriber]*subscription{}, born: f.frames}
		f.lines[t] = l
	}
	if l.left != nil {
		f.idle.Remove(l.left)
		l.left = nil
	}

	sub := new(subscription)
	l.subscribers[s] = sub
	s.topics[t] = struct{}{}
	return sub
}

// drop removes a topic from a subscriber.
func (f *Feed) drop(s *Subscriber, t Topic) {
	l := f.lines[t]
	if _, has := s.topics[t]; !has {
		return
	}
	delete(s.topics, t)
	delete(l.subscribers, s)
	switch {
	case len(l.subscribers) > 0:
		return
	case !t.Kind.Counted():
		delete(f.lines, t)
		return
	}

	l.left, l.unheard = f.idle.PushBack(t), 0
	if f.idle.Len() > maxIdle {
		first := f.idle.Front()
		delete(f.lines, f.idle.Remove(first).(Topic))
	}
}

// Resume adds a topic, which the subscriber must not have, behind the message with a
// number, and queues the messages that it missed, as Release does. It returns their size. If
// they are not in memory, it reports false and holds the topic's messages until Release.
func (f *Feed) Resume(s *Subscriber, t Topic, since uint64) (size int, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	sub := f.add(s, t)
	missed, known := f.lines[t].after(since)
	if !known || !t.Kind.Counted() {
		sub.holding = true
		return 0, false
	}

	bytes := make([][]byte, len(missed))
	for i := range missed {
		bytes[i] = missed[i].bytes
		size += len(bytes[i])
	}
	s.addState(bytes...)
	return size, true
}

// Release queues messages and then those held of a topic that come behind the number has.
// The messages do not count against the bound of the queue: they may be a state of any
// size.
func (f *Feed) Release(s *Subscriber, t Topic, has uint64, messages [][]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.lines[t]
	if l == nil || l.subscribers[s] == nil {
		return // Break came between
	}
	sub := l.subscribers[s]
	s.addState(messages...)

	var later [][]byte
	for i := range sub.held {
		if sub.held[i].seq > has {
			later = append(later, sub.held[i].bytes)
		}
	}
	s.add(0, later...)
	*sub = subscription{has: has}
}

// Break cuts off all subscribers and forgets all messages: the next message of a topic
// does not follow the last one.
func (f *Feed) Break() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for t, l := range f.lines {
		for s := range l.subscribers {
			delete(s.topics, t)
			s.overflow()
		}
	}
	clear(f.lines)
	f.idle.Init()
}
