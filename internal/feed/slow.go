package feed

import "sync"

const (
	// maxSlow bounds the messages of a topic that wait for Encode, maxAllSlow the messages of
	// all topics. A message beyond them is lost to its topic's subscribers alone.
	maxSlow    = 64
	maxAllSlow = 4096
)

// slow are the messages between Deliver and Encode.
type slow struct {
	mu     sync.Mutex
	topics map[Topic]*slowTopic
	// turns are the topics with waiting messages: each waits for one message of the others,
	// however many there are.
	turns []*slowTopic
	// waiting is the number of all waiting messages.
	waiting int
	// made are the messages that Deliver has to pass.
	made  []message
	ready chan struct{}
}

// slowTopic is a topic with a message that waits for Encode, or is being encoded.
type slowTopic struct {
	topic    Topic
	waiting  []message
	encoding bool
}

// Slow returns a channel that receives when Encode has work.
func (f *Feed) Slow() <-chan struct{} { return f.slow.ready }

// Encode encodes a slow message, hands it to Deliver, and reports whether there was one.
// Not safe for concurrent use; Deliver does not wait for it.
func (f *Feed) Encode() bool {
	t, m := f.slow.next()
	if t == nil {
		return false
	}

	if m.encode != nil && f.listened(m.topic) {
		m.bytes = m.encode()
	}
	m.encode = nil
	f.slow.finish(t, m)
	wake(f.ready)
	return true
}

// listened reports whether a topic has a line.
func (f *Feed) listened(t Topic) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.lines[t] != nil
}

// divert returns the messages for Deliver: first the ones that Encode has made, then the ones
// of a list that need not wait. The others wait for Encode.
func (q *slow) divert(list []message) []message {
	q.mu.Lock()
	defer q.mu.Unlock()
	first := len(list)
	for i := range list {
		if list[i].slow {
			first = i
			break
		}
	}
	if first == len(list) && len(q.topics) == 0 && len(q.made) == 0 {
		return list // as almost always
	}

	passed := q.made
	q.made = nil
	for i := range list {
		if m := &list[i]; m.slow || q.topics[m.topic] != nil {
			q.add(m)
		} else {
			passed = append(passed, *m)
		}
	}
	if q.waiting > 0 {
		wake(q.ready)
	}
	return passed
}

// add adds a message. If there is no room, one without bytes stands for all that wait of
// its topic.
func (q *slow) add(m *message) {
	t := q.topics[m.topic]
	if t == nil {
		t = &slowTopic{topic: m.topic}
		q.topics[m.topic] = t
	}
	if len(t.waiting) == 0 {
		q.turns = append(q.turns, t)
	}

	rest := t.waiting
	if t.encoding {
		rest = rest[1:]
	}
	if len(rest) < maxSlow && q.waiting < maxAllSlow {
		t.waiting = append(t.waiting, *m)
		q.waiting++
		return
	}
	t.lose(len(t.waiting)-len(rest), m)
	q.waiting -= len(rest) - 1
}

// lose puts a message without bytes in the place of the waiting ones from an index.
func (t *slowTopic) lose(from int, last *message) {
	clear(t.waiting[from:])
	t.waiting = append(t.waiting[:from], message{topic: last.topic, seq: last.seq, frame: last.frame})
}

// next returns the first topic of turns and its first message; nil if none waits.
func (q *slow) next() (*slowTopic, message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.turns) == 0 {
		return nil, message{}
	}

	t := q.turns[0]
	q.turns[0] = nil
	q.turns = q.turns[1:]
	t.encoding = true
	return t, t.waiting[0]
}

// finish hands the first message of a topic to Deliver. If it could not be made, the messages
// behind it are lost with it: the state in its place includes them.
func (q *slow) finish(t *slowTopic, m message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 1
	if m.bytes == nil {
		n = len(t.waiting)
		m.seq, m.frame = t.waiting[n-1].seq, t.waiting[n-1].frame
	}

	clear(t.waiting[:n])
	t.waiting = t.waiting[n:]
	t.encoding = false
	q.waiting -= n
	q.made = append(q.made, m)
	if len(t.waiting) > 0 {
		q.turns = append(q.turns, t)
		return
	}
	delete(q.topics, t.topic)
}
