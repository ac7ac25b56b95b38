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
	// maxKept bounds the recent messages of all lines together, in bytes. Half of it is
	// shared equally, because a line may keep twice its share before it is cut.
	maxKept = 64 << 20
	// keptRoom is the size of a recent message beside its bytes.
	keptRoom = 32
	// maxIdle bounds the lines without a subscriber. Beyond it the line that was left first
	// is forgotten.
	maxIdle = 1024
)

// Counted reports whether the messages of a topic are numbered without gaps. A message of any
// other topic tells a state, and the last one is enough.
func (k Kind) Counted() bool {
	switch k {
	case Trades, Book, OwnOrders, OwnTrades, OwnBalances, OwnTransfers:
		return true
	case Candles, Ticker, TickerEx:
	case PacedBook, PacedTape, PacedCandles, PacedTickers:
	case PairTrades, PairAggTrades, PairCandles, PairMiniTicker, PairTicker, PairBookTicker, PairAverage,
		PairDepth, PairLevels, AllMiniTickers, AllTickers, AllBookTickers, User:
	}
	return false
}

// Paced reports whether the messages of a topic come at intervals, for people. A subscriber that
// does not keep up with them gets a state in their place, and is not cut off for them.
func (k Kind) Paced() bool { return k >= PacedBook && k <= PacedTickers }

// line is a topic's subscribers and, if the topic is counted, its recent messages. It
// outlives its last subscriber for a while, for the subscriber to come back.
type line struct {
	topic       Topic
	subscribers map[*Subscriber]*subscription
	// born is the newest frame when the line was made. Messages of it and of older frames,
	// staged for an earlier line of the topic, are skipped: later ones may be missing.
	born uint64
	// recent are the last messages, oldest first; their numbers have no gaps. They are
	// copies, because a staged message shares its memory with many others.
	recent []recent
	// bytes is the size of recent.
	bytes int
	// turn is the line's entry in the feed's turns; nil unless the topic is counted.
	turn *list.Element
	// left is the line's entry in the feed's idle; nil while it has a subscriber. leftAt is
	// the number of the sweeps before it was left; unheard counts the messages since then.
	left    *list.Element
	leftAt  uint64
	unheard int
}

// recent is a message that a line keeps.
type recent struct {
	seq   uint64
	bytes []byte
}

func (r *recent) size() int { return len(r.bytes) + keptRoom }

// subscription is a subscriber's part of a line.
type subscription struct {
	// has is the number of the subscriber's last message of a counted topic, or of its state; Deliver skips messages up to it.
	has uint64
	// envelope, if set, wraps the messages, which are not counted.
	envelope *Envelope
	// While holding is true, messages wait in held for Release. heldBytes is their size.
	holding   bool
	held      []message
	heldBytes int
	// lost is the number of the last message that did not fit held; zero if there is none.
	// Release must send a state that includes it.
	lost uint64
}

// heldRoom is the size of a held message beside its bytes.
const heldRoom = 128

// hold keeps messages of a topic until Release. The bound is the queue's, for all topics of
// the subscriber together: a topic that would exceed it loses its held messages.
func (s *Subscriber) hold(sub *subscription, run []message) {
	size := 0
	for i := range run {
		size += len(run[i].bytes) + heldRoom
	}
	if s.heldBytes+size > maxQueued {
		s.lose(sub, run[len(run)-1].seq)
		return
	}
	sub.held = append(sub.held, run...)
	sub.heldBytes += size
	s.heldBytes += size
}

// lose drops the held messages of a topic: Release must send a state that includes messages up
// to seq.
func (s *Subscriber) lose(sub *subscription, seq uint64) {
	s.unhold(sub)
	sub.holding, sub.lost = true, seq
}

// unhold forgets the held messages of a topic.
func (s *Subscriber) unhold(sub *subscription) {
	s.heldBytes -= sub.heldBytes
	sub.held, sub.heldBytes = nil, 0
}

// share returns the part of maxKept that each line that keeps messages may fill.
func (f *Feed) share() int { return min(maxRecentBytes, maxKept/2/max(1, f.turns.Len())) }

// keep adds messages to the recent ones of a line. At twice its bounds, of which share is
// the one in bytes, the line is cut down to them, so that messages move rarely.
func (f *Feed) keep(l *line, run []message, share int) {
	if n := len(l.recent); n > 0 && run[0].seq != l.recent[n-1].seq+1 {
		f.drop(l)
	}

	size := 0
	for i := range run {
		size += len(run[i].bytes)
	}
	block := make([]byte, 0, size)
	for i := range run {
		at := len(block)
		block = append(block, run[i].bytes...)
		l.recent = append(l.recent, recent{run[i].seq, block[at:len(block):len(block)]})
	}

	size += keptRoom * len(run)
	l.bytes += size
	f.kept += size
	if l.bytes > 2*share || len(l.recent) > 2*maxRecent {
		f.cut(l, share)
	}
	f.bound(share)
}

// bound cuts lines until all together keep no more than maxKept. Only lines that filled
// their share while there were fewer of them are cut. The shares are half of maxKept, so
// that one turn of all lines is enough, and half of maxKept is added before the next turn.
func (f *Feed) bound(share int) {
	for f.kept > maxKept {
		next := f.turns.Front()
		f.turns.MoveToBack(next)
		if l := next.Value.(*line); l.bytes > share {
			f.cut(l, share)
		}
	}
}

// cut drops the oldest messages of a line beyond its bounds. It copies the kept ones: the
// dropped ones share their memory.
func (f *Feed) cut(l *line, share int) {
	n, left := 0, l.bytes
	for len(l.recent)-n > maxRecent || left > share && n < len(l.recent) {
		left -= l.recent[n].size()
		n++
	}

	f.kept -= l.bytes - left
	l.bytes = left
	l.recent = slices.Clone(l.recent[n:])
	block := make([]byte, 0, left-keptRoom*len(l.recent))
	for i := range l.recent {
		at := len(block)
		block = append(block, l.recent[i].bytes...)
		l.recent[i].bytes = block[at:len(block):len(block)]
	}
}

// drop forgets the recent messages of a line.
func (f *Feed) drop(l *line) {
	f.kept -= l.bytes
	l.recent, l.bytes = nil, 0
}

// useless reports whether a line without a subscriber has dropped messages that its last
// subscriber missed.
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
			f.remove(l)
		}
	}
	f.useless = f.useless[:0]
}

// Sweep forgets the lines that have had no subscriber since the Sweep before, so that
// messages are not encoded for subscribers that do not come back. Call it every minute.
func (f *Feed) Sweep() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for e := f.idle.Front(); e != nil; e = f.idle.Front() {
		l := e.Value.(*line)
		if l.leftAt == f.sweeps {
			break
		}
		f.remove(l)
	}
	f.sweeps++
}

// lose makes the subscribers of a line wait for a state that includes the messages up to seq,
// which the feed does not have.
func (f *Feed) lose(l *line, seq uint64) {
	f.drop(l)
	for s, sub := range l.subscribers {
		waits := sub.holding
		if s.lose(sub, seq); !waits {
			s.lost(&Hold{l.topic, sub})
		}
	}
}

// after returns the messages behind a number, if the line has all of them.
func (l *line) after(seq uint64) ([]recent, bool) {
	n := len(l.recent)
	if n == 0 || seq+1 < l.recent[0].seq || seq > l.recent[n-1].seq {
		return nil, false
	}
	return l.recent[seq+1-l.recent[0].seq:], true
}

// add adds a topic to a subscriber.
func (f *Feed) add(s *Subscriber, t Topic) *subscription {
	l := f.lines[t]
	if l == nil {
		l = &line{topic: t, subscribers: map[*Subscriber]*subscription{}, born: f.frames.Load()}
		f.lines[t] = l
		if t.Kind.Counted() {
			l.turn = f.turns.PushBack(l)
		}
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

// leave removes a topic from a subscriber.
func (f *Feed) leave(s *Subscriber, t Topic) {
	l := f.lines[t]
	if _, has := s.topics[t]; !has {
		return
	}
	s.unhold(l.subscribers[s])
	delete(s.topics, t)
	delete(l.subscribers, s)
	switch {
	case len(l.subscribers) > 0:
		return
	case !t.Kind.Counted():
		f.remove(l)
		return
	}

	l.left, l.leftAt, l.unheard = f.idle.PushBack(l), f.sweeps, 0
	if f.idle.Len() > maxIdle {
		f.remove(f.idle.Front().Value.(*line))
	}
}

// remove removes a line.
func (f *Feed) remove(l *line) {
	f.drop(l)
	delete(f.lines, l.topic)
	if l.turn != nil {
		f.turns.Remove(l.turn)
	}
	if l.left != nil {
		f.idle.Remove(l.left)
	}
}

// Hold is a subscription whose messages wait for Release.
type Hold struct {
	topic Topic
	sub   *subscription
}

// Topic returns the topic of the subscription.
func (h *Hold) Topic() Topic { return h.topic }

// Knows reports whether Resume would find the messages behind a number in memory.
func (f *Feed) Knows(t Topic, since uint64) bool {
	f.mu.Lock() // Deliver changes the contents of lines while it reads
	defer f.mu.Unlock()
	l := f.lines[t]
	if l == nil || !t.Kind.Counted() {
		return false
	}
	_, known := l.after(since)
	return known
}

// Resume adds a topic, which the subscriber must not have, behind the message with a
// number, and queues the messages that it missed, as Release does. It returns their size. If
// they are not in memory, it returns a Hold: the topic's messages wait for Release.
func (f *Feed) Resume(s *Subscriber, t Topic, since uint64) (size int, h *Hold) {
	f.mu.Lock()
	defer f.mu.Unlock()
	sub := f.add(s, t)
	missed, known := f.lines[t].after(since)
	if !known || !t.Kind.Counted() {
		sub.holding = true
		return 0, &Hold{t, sub}
	}

	bytes := make([][]byte, len(missed))
	for i := range missed {
		bytes[i] = missed[i].bytes
		size += len(bytes[i])
	}
	s.addState(bytes...)
	sub.has = since + uint64(len(missed))
	return size, nil
}

// Hold adds a topic, which the subscriber must not have, whose messages wait for Release.
func (f *Feed) Hold(s *Subscriber, t Topic) *Hold {
	f.mu.Lock()
	defer f.mu.Unlock()
	sub := f.add(s, t)
	sub.holding = true
	return &Hold{t, sub}
}

// Held reports whether the subscriber still has the subscription of a Hold.
func (f *Feed) Held(s *Subscriber, h *Hold) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	l := f.lines[h.topic]
	return l != nil && l.subscribers[s] == h.sub
}

// Release ends a Hold: it queues messages, which lead the subscriber up to the number has, and
// then the topic's held messages behind has. The former do not count against the bound of
// the queue: they may be a state of any size. It reports false, and queues nothing, if has is
// below a message that was lost: newer messages are needed.
func (f *Feed) Release(s *Subscriber, h *Hold, has uint64, messages [][]byte) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := f.lines[h.topic]
	if l == nil || l.subscribers[s] != h.sub {
		return true // the subscriber left, or Break came between
	}
	if has < h.sub.lost {
		return false
	}

	s.addState(messages...)
	var later [][]byte
	for i := range h.sub.held {
		if h.sub.held[i].seq > has {
			later = append(later, h.sub.held[i].bytes)
		}
	}
	if n := len(h.sub.held); n > 0 && h.topic.Kind.Counted() {
		has = max(has, h.sub.held[n-1].seq)
	}
	s.add(0, later...)
	s.unhold(h.sub)
	*h.sub = subscription{has: has}
	return true
}

// Break cuts off all subscribers and forgets all messages: the next message of a topic
// does not follow the last one.
func (f *Feed) Break() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for t, l := range f.lines {
		for s, sub := range l.subscribers {
			s.unhold(sub)
			delete(s.topics, t)
			s.overflow()
		}
	}
	clear(f.lines)
	f.idle.Init()
	f.turns.Init()
	f.kept = 0
}
