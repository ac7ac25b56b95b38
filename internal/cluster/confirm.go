package cluster

import (
	"context"
	"errors"
	"sync"

	"github.com/bourse-exchange/bourse/internal/journal"
)

// ErrUnconfirmed says that no majority has said that this node leads: another one may, and has written since.
var ErrUnconfirmed = errors.New("no majority says that this node leads")

// rounds are the questions to a majority whether this node leads. One is under way at most; whoever asks meanwhile
// waits for the next one, because the answers to this one may be older than what he has read.
type rounds struct {
	mu sync.Mutex
	// next collects the callers of Confirm until flying has ended, and begins then; nil without a caller.
	next *round
	// flying is the round whose answers are awaited; nil if there is none.
	flying *round
	// number is the number of the newest round that has begun. They begin with 1.
	number uint64
	// asked wakes Run when a caller has joined next.
	asked chan struct{}
}

// round is a question to a majority.
type round struct {
	number uint64
	// done is closed when the round has ended, after err was set.
	done chan struct{}
	err  error
}

// join returns the next round.
func (r *rounds) join() *round {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		r.next = &round{done: make(chan struct{})}
	}
	select {
	case r.asked <- struct{}{}:
	default: // it is known
	}
	return r.next
}

// turn ends the round that is confirmed, and begins the next one by ask. It reports whether one has begun.
func (r *rounds) turn(confirmed uint64, ask func(round uint64) error) (began bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.flying != nil && r.flying.number <= confirmed {
		close(r.flying.done)
		r.flying = nil
	}
	if r.flying != nil || r.next == nil {
		return false
	}
	r.number++
	r.flying, r.next = r.next, nil
	r.flying.number = r.number
	if r.flying.err = ask(r.number); r.flying.err != nil {
		close(r.flying.done)
		r.flying = nil
		return false
	}
	return true
}

// abandon ends all rounds without an answer.
func (r *rounds) abandon() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range []*round{r.flying, r.next} {
		if x != nil {
			x.err = ErrUnconfirmed
			close(x.done)
		}
	}
	r.flying, r.next = nil, nil
}

// Confirm waits until a majority has said, after the call, that this node leads, in the term that Next yielded: no other
// node has led since, and what this one had shown before the call is as current as what any node had. The errors are
// [ErrUnconfirmed] and those of ctx.
func (l *Log) Confirm(ctx context.Context) error {
	select {
	case <-l.deposed:
		return ErrUnconfirmed
	default:
	}
	r := l.rounds.join()
	select {
	case <-r.done:
		if errors.Is(r.err, journal.ErrNotLeader) {
			return ErrUnconfirmed
		}
		return r.err
	case <-l.deposed:
	case <-l.ended:
	case <-ctx.Done():
		return ctx.Err()
	}
	return ErrUnconfirmed
}
