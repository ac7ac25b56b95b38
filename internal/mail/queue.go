package mail

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"sync"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/bourse-exchange/bourse/internal/account"
)

const (
	// mostWaiting bounds the letters of a line.
	mostWaiting = 1024
	// couriers is the number of concurrent deliveries of a line.
	couriers = 2
	// mostTries bounds the tries of a letter; pause is a courier's wait after a temporary
	// failure.
	mostTries = 5
	pause     = 2 * time.Second
	// finishWithin bounds the deliveries after the end of Run's context.
	finishWithin = 3 * time.Second
)

// Queue holds letters until a mailer has delivered them, so that clients neither wait for
// a mail server nor learn from the wait whether there is a letter. Letters of accounts
// (second factors and notices) have their own line and couriers, so that strangers cannot
// delay them, and news of accounts' money have another. Each line serves the sender with the fewest waiting letters first, and a
// full line drops a letter of the sender with the most. Safe for concurrent use.
type Queue struct {
	mailer    account.Mailer
	after     func(time.Duration) <-chan time.Time
	onFailure func(error)

	mu    sync.Mutex
	lines [lanes]line
	// more is closed and replaced when a letter arrives.
	more chan struct{}
}

// line holds letters in order of arrival.
type line []waiting

// waiting is a letter and the number of its tries.
type waiting struct {
	account.Mail
	tries int
}

// sender identifies the cause of a letter: the source, or the recipient of an account's
// own letter.
type sender struct {
	source netip.Addr
	to     string
}

func (m *waiting) sender() sender {
	if m.Source.IsValid() {
		return sender{source: m.Source}
	}
	return sender{to: m.To}
}

// errDropped reports that a line was full.
var errDropped = errors.New("too many letters wait; one of the sender with the most was dropped")

// NewQueue returns an empty queue. after is time.After. onFailure is called for failed
// deliveries; the error contains no letter.
func NewQueue(mailer account.Mailer, after func(time.Duration) <-chan time.Time, onFailure func(error)) *Queue {
	return &Queue{mailer: mailer, after: after, onFailure: onFailure, more: make(chan struct{})}
}

// Send appends a letter to its line.
func (q *Queue) Send(_ context.Context, m *account.Mail) error {
	q.put(waiting{Mail: *m})
	return nil
}

func (q *Queue) put(m waiting) {
	q.mu.Lock()
	l := &q.lines[kind(&m.Mail)]
	*l = append(*l, m)
	full := len(*l) > mostWaiting
	if full {
		l.drop()
	}
	close(q.more)
	q.more = make(chan struct{})
	q.mu.Unlock()

	if full {
		q.onFailure(errDropped)
	}
}

// The lines: letters of accounts, letters that strangers can cause, and news.
const (
	ofAccounts = iota
	ofStrangers
	ofNews
	lanes
)

// kind returns the line of a letter.
func kind(m *account.Mail) int {
	switch {
	case m.News:
		return ofNews
	case m.Source.IsValid():
		return ofStrangers
	}
	return ofAccounts
}

// load counts the letters of each sender.
func (l *line) load() map[sender]int {
	load := map[sender]int{}
	for i := range *l {
		load[(*l)[i].sender()]++
	}
	return load
}

// drop removes the newest letter of the sender with the most letters.
func (l *line) drop() {
	load, heaviest := l.load(), 0
	for i := range *l {
		if load[(*l)[i].sender()] >= load[(*l)[heaviest].sender()] {
			heaviest = i
		}
	}
	*l = slices.Delete(*l, heaviest, heaviest+1)
}

// next removes the oldest letter of the sender with the fewest letters.
func (l *line) next() (waiting, bool) {
	if len(*l) == 0 {
		return waiting{}, false
	}
	load, lightest := l.load(), 0
	for i := range *l {
		if load[(*l)[i].sender()] < load[(*l)[lightest].sender()] {
			lightest = i
		}
	}
	m := (*l)[lightest]
	*l = slices.Delete(*l, lightest, lightest+1)
	return m, true
}

// Run delivers letters until ctx ends, and the waiting ones for up to finishWithin
// longer.
func (q *Queue) Run(ctx context.Context) {
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	go func() {
		select {
		case <-ctx.Done():
		case <-sending.Done():
			return
		}
		select {
		case <-q.after(finishWithin):
			cancel()
		case <-sending.Done():
		}
	}()

	var work sync.WaitGroup
	for kind := range q.lines {
		for range couriers {
			work.Go(func() { q.carry(ctx, sending, kind) })
		}
	}
	work.Wait()
}

// carry delivers the letters of a line until ctx has ended and the line is empty, or
// until sending ends.
func (q *Queue) carry(ctx, sending context.Context, kind int) {
	for sending.Err() == nil {
		m, ok, more := q.take(kind)
		if ok {
			q.try(ctx, sending, m)
			continue
		}
		select {
		case <-more:
		case <-ctx.Done():
			return
		}
	}
}

func (q *Queue) take(kind int) (m waiting, ok bool, more <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	m, ok = q.lines[kind].next()
	return m, ok, q.more
}

// try delivers a letter once. A permanent refusal drops it; after any other failure it
// goes back to the queue.
func (q *Queue) try(ctx, sending context.Context, m waiting) {
	err := q.mailer.Send(sending, &m.Mail)
	if err == nil {
		return
	}
	q.onFailure(err)
	var refused *gomail.SendError
	if errors.As(err, &refused) && !refused.IsTemp() {
		return
	}
	if m.tries++; m.tries >= mostTries || ctx.Err() != nil {
		return
	}

	q.put(m)
	select {
	case <-q.after(pause):
	case <-ctx.Done():
	}
}
