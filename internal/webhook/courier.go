package webhook

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

const (
	// page is the number of bulletins read together.
	page = 100
	// mostPassed is the number of unwanted bulletins after which the place is stored: a start
	// rereads these.
	mostPassed = 1000
	// firstPause and lastPause are the waits after failures, each twice as long as the last.
	firstPause = time.Second
	lastPause  = time.Hour
	// storePause is the wait after a failure of a store of the exchange.
	storePause = time.Second
	// giveUpAfter is how long an endpoint may fail before it is disabled.
	giveUpAfter = 5 * bourse.Day
)

// forever is the wait until a bulletin comes.
const forever time.Duration = -1

// courier delivers to one endpoint. It runs on a goroutine of its own.
type courier struct {
	*Service
	key []byte
	// wake has a value when there are new bulletins.
	wake chan struct{}
	// stop ends the courier, and ended is closed while it does not run. Guarded by changing.
	stop  context.CancelFunc
	ended chan struct{}

	// Owned by the goroutine. read are bulletins behind the endpoint's place, passed counts
	// the unwanted ones since the place was stored, owed is true while the store lacks the
	// progress, and tries counts the failures since the last success.
	read   []history.Bulletin
	passed int
	owed   bool
	tries  int

	mu       sync.Mutex
	endpoint Endpoint
	// pending is the time of the bulletin that is being delivered, or zero.
	pending bourse.Time
	// failure is the last failure since the last delivery.
	failure string
}

// run delivers until ctx ends or the endpoint is disabled.
func (c *courier) run(ctx context.Context) {
	for !c.disabled() {
		wait, err := c.step(ctx)
		if err != nil && ctx.Err() == nil {
			c.Log.Warn("a webhook failed", slog.Uint64("webhook", uint64(c.endpoint.ID)),
				slog.String("host", c.endpoint.Host()), slog.String("error", cause(err)))
		}
		if !c.sleep(ctx, wait) {
			return
		}
	}
}

// sleep waits, and reports whether to go on.
func (c *courier) sleep(ctx context.Context, wait time.Duration) bool {
	var woken <-chan struct{}
	var over <-chan time.Time
	switch wait {
	case 0:
		return ctx.Err() == nil
	case forever:
		woken = c.wake
	default:
		over = c.After(wait)
	}
	select {
	case <-ctx.Done():
		return false
	case <-woken:
	case <-over:
	}
	return true
}

// step does the next piece of work, and returns how long to wait before the one after it.
func (c *courier) step(ctx context.Context) (time.Duration, error) {
	if c.owed {
		if err := c.keep(ctx); err != nil {
			return storePause, err
		}
		return 0, nil
	}
	if len(c.read) == 0 {
		list, err := c.Bulletins.Bulletins(ctx, c.progress().After, page)
		if err != nil {
			return storePause, err
		}
		if len(list) == 0 {
			return forever, nil
		}
		c.read = list
	}

	b := &c.read[0]
	if !c.endpoint.Kinds.Has(b.Kind) {
		c.pass(b)
		return 0, nil
	}
	return c.deliver(ctx, b)
}

// pass moves over a bulletin that the endpoint does not want.
func (c *courier) pass(b *history.Bulletin) {
	c.change(func(p *Progress) { p.After = b.BulletinPlace })
	c.read = c.read[1:]
	c.passed++
	c.owed = c.passed >= mostPassed
}

// deliver makes one try, unless another process has become the exchange.
func (c *courier) deliver(ctx context.Context, b *history.Bulletin) (time.Duration, error) {
	if err := c.MayAct(ctx); err != nil {
		return storePause, err
	}
	c.setPending(b.Time)
	m := messageOf(b, c.progress().Delivered+1)
	err := c.post(ctx, c.endpoint.URL, c.key, &m)
	if ctx.Err() != nil {
		return 0, ctx.Err() // whether it arrived is unknown: it is repeated
	}
	if err != nil {
		c.failed(err)
		if c.owed {
			_ = c.keep(ctx) // else the next step does
		}
		return c.pause(), err
	}

	c.delivered.Add(1)
	c.tries = 0
	c.read = c.read[1:]
	c.owed = true
	c.setPending(0)
	c.change(func(p *Progress) { p.After, p.Delivered, p.Failing = b.BulletinPlace, p.Delivered+1, 0 })
	return 0, nil
}

// failed counts a failure, and disables the endpoint if it has failed for too long or says that
// it is gone.
func (c *courier) failed(err error) {
	c.failures.Add(1)
	now := bourse.TimeOf(c.Clock())
	var status statusError
	gone := errors.As(err, &status) && status == http.StatusGone

	c.mu.Lock()
	c.failure = cause(err)
	p := &c.endpoint.Progress
	if p.Failing == 0 {
		p.Failing, c.owed = now, true
	}
	if gone || now-p.Failing >= giveUpAfter {
		p.Disabled, p.Cause, c.owed = now, c.failure, true
	}
	disabled := p.Disabled != 0
	c.mu.Unlock()

	if disabled {
		c.Log.Error("a webhook is disabled; nothing is delivered to it until an operator enables it",
			slog.Uint64("webhook", uint64(c.endpoint.ID)), slog.String("host", c.endpoint.Host()),
			slog.String("cause", c.failure))
	}
}

// keep stores the progress.
func (c *courier) keep(ctx context.Context) error {
	p := c.progress()
	if err := c.Store.MoveWebhook(ctx, c.endpoint.ID, &p); err != nil {
		return fmt.Errorf("the store of accounts: %w", err)
	}
	c.owed, c.passed = false, 0
	return nil
}

// pause returns the wait after a failure: half of it is random, so that exchanges and endpoints
// do not keep step.
func (c *courier) pause() time.Duration {
	pause := lastPause
	if c.tries < 12 { // 2^12 seconds are more than lastPause
		pause = min(firstPause<<c.tries, lastPause)
	}
	c.tries++
	var b [8]byte
	_, _ = c.Random.Read(b[:]) // without chance, pauses are shorter
	return pause/2 + time.Duration(binary.LittleEndian.Uint64(b[:])%uint64(pause/2))
}

// disabled reports whether the endpoint is disabled and the store knows it.
func (c *courier) disabled() bool { return !c.owed && c.progress().Disabled != 0 }

func (c *courier) progress() Progress {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.endpoint.Progress
}

func (c *courier) change(do func(*Progress)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do(&c.endpoint.Progress)
	if c.endpoint.Failing == 0 {
		c.failure = ""
	}
}

func (c *courier) setPending(t bourse.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending = t
}

// state returns what operators see.
func (c *courier) state(now bourse.Time) State {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := State{Endpoint: c.endpoint, Failure: c.failure}
	s.Sealed = nil
	if c.pending != 0 && s.Disabled == 0 {
		s.Lag = max(now-c.pending, 0)
	}
	return s
}
