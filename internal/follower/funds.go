package follower

import (
	"context"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
)

// asking is a call that waits for the funds, shared by all that ask before the next Step.
type asking struct {
	done chan struct{}
	// funds is set before done is closed.
	funds *bourse.Funds
}

// asked holds the call that the next Step answers; nil for none.
type asked struct{ atomic.Pointer[asking] }

// Funds returns the exchange's money after the last command that Step has applied. It waits for the
// next Step, and calls that wait together share the work. Safe for concurrent use. The error is that
// of ctx.
func (f *Follower) Funds(ctx context.Context) (*bourse.Funds, error) {
	ours := &asking{done: make(chan struct{})}
	for !f.asked.CompareAndSwap(nil, ours) {
		if theirs := f.asked.Load(); theirs != nil {
			ours = theirs
			break
		}
	}
	select {
	case <-ours.done:
		return ours.funds, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// answer sums the exchange up, if a call waits for it. Between two steps the engine is at the end of a
// frame.
func (f *Follower) answer() {
	if f.asked.Load() == nil {
		return
	}
	waits := f.asked.Swap(nil)
	waits.funds = f.Engine.Funds()
	close(waits.done)
}
