package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bourse-exchange/bourse/internal/audit"
)

// The demonstration trades for TradeFor, or until tradeUntil orders and cancels are
// acknowledged, more of which would take long to query.
const (
	clients    = 8
	TradeFor   = 8 * time.Second
	tradeUntil = 25_000
)

// Options configure the demonstration.
type Options struct {
	// Program is this program's file.
	Program string
	Out     io.Writer
	// TradeFor is how long clients trade.
	TradeFor time.Duration
}

// ErrBroken means that the exchange broke a promise. The details have been printed.
var ErrBroken = errors.New("the exchange did not keep its word")

// crash is one demonstration.
type crash struct {
	Options
	x            *exchange
	traders      []*trader
	acknowledged atomic.Int64
	began        time.Time
}

// Crash starts an exchange, kills it while clients trade, starts it again, and compares
// its state with the acknowledgements.
func Crash(ctx context.Context, o Options) (err error) {
	ctx, cancel := context.WithCancel(ctx) // ends the exchange on every path
	defer cancel()

	dir, err := os.MkdirTemp("", "bourse-demo-")
	if err != nil {
		return err
	}
	c := &crash{Options: o, x: &exchange{program: o.Program, dir: dir}, began: time.Now()}

	err = c.run(ctx)
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}

	if errors.Is(err, ErrBroken) {
		c.say("Its data is in %s.", dir)
		return err
	}

	cancel()
	return errors.Join(err, os.RemoveAll(dir))
}

func (c *crash) say(format string, args ...any) { _, _ = fmt.Fprintf(c.Out, format+"\n", args...) }

func (c *crash) run(ctx context.Context) error {
	c.say("1. An exchange starts in %s.", c.x.dir)
	if err := c.x.start(ctx); err != nil {
		return err
	}
	if err := c.trade(ctx); err != nil {
		return errors.Join(err, c.x.kill())
	}
	dead, err := states(c.x.data())
	if err != nil {
		return err
	}

	again := time.Now()
	if err := c.x.start(ctx); err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	c.say("4. It starts again from what is on the disk, in %.1f s.", time.Since(again).Seconds())
	held, err := c.look(ctx)
	if err != nil {
		return err
	}
	if err := c.x.stop(); err != nil {
		return err
	}
	proven, err := c.prove(dead)
	if err != nil {
		return err
	}
	if !held || !proven {
		return ErrBroken
	}
	c.say("\nNothing that was acknowledged is lost, and nothing happened twice. It took %.0f s.",
		time.Since(c.began).Seconds())
	return nil
}

// trade makes clients trade, and kills the exchange meanwhile.
func (c *crash) trade(ctx context.Context) error {
	for n := range clients {
		t, err := join(ctx, c.x, n+1, &c.acknowledged)
		if err != nil {
			return err
		}
		c.traders = append(c.traders, t)
	}
	c.say("2. %d clients trade. An answer comes when what it says is on the disk.", clients)

	var trading sync.WaitGroup
	failed := make(chan error, clients)
	for _, t := range c.traders {
		trading.Go(func() { failed <- t.trade(ctx, c.x.url) })
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for began := time.Now(); time.Since(began) < c.TradeFor && c.acknowledged.Load() < tradeUntil; {
		select {
		case <-tick.C:
			c.say("   %2.0f s %9s orders and cancels acknowledged",
				time.Since(began).Seconds(), thousands(int(c.acknowledged.Load())))
		case err := <-failed:
			return fmt.Errorf("a client ended early: %w", err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}

	pid := c.x.cmd.Process.Pid
	if err := c.x.kill(); err != nil {
		return err
	}
	trading.Wait()
	unanswered := 0
	for _, t := range c.traders {
		if err := <-failed; err != nil {
			return err
		}
		if t.unanswered != nil || t.canceling != 0 {
			unanswered++
		}
	}
	c.say("3. kill -9 %d, in the middle: %d requests are without an answer.", pid, unanswered)
	return nil
}

// look makes each client query its acknowledged orders.
func (c *crash) look(ctx context.Context) (held bool, err error) {
	var looking sync.WaitGroup
	var mu sync.Mutex
	var all found
	errs := make([]error, len(c.traders))
	for i, t := range c.traders {
		looking.Go(func() {
			f, err := t.look(ctx, c.x.url)
			mu.Lock()
			defer mu.Unlock()
			all.add(f)
			errs[i] = err
		})
	}
	looking.Wait()
	if err := errors.Join(errs...); err != nil {
		return false, err
	}

	c.say("5. The clients ask for each order.")
	c.say("   acknowledged  %9s", thousands(all.there+all.gone))
	c.say("   there         %9s", thousands(all.there))
	c.say("   lost          %9s", thousands(all.gone))
	c.say("   without an answer: %d had taken place, %d had not; sent again, each is there once",
		all.took, all.never)
	return all.gone == 0, nil
}

// prove replays the journal and compares states.
func (c *crash) prove(dead *audit.StateReport) (proven bool, err error) {
	x, err := audit.Open(c.x.data())
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	now, err := x.States(dead.Seq, time.Now)
	if err != nil {
		return false, err
	}
	report, err := x.Audit(nil)
	if err != nil {
		return false, err
	}

	proven = now.StateHash == dead.StateHash && len(report.Violations) == 0
	c.say("6. The journal is replayed; state hashes at command %s:", thousands(int(dead.Seq)))
	c.say("   as it was killed        %s", dead.StateHash)
	c.say("   after the new start     %s", now.StateHash)
	for _, s := range now.Snapshots {
		hash := now.StateHash
		if !s.Agrees {
			hash, proven = "differs", false
		}
		c.say("   from snapshot %-9d %s", s.Seq, hash)
	}
	c.say("   every balance and order recomputed from %s commands: %d violations",
		thousands(int(report.Seq)), len(report.Violations))
	return proven, nil
}

// states replays the journal of a stopped exchange.
func states(data string) (_ *audit.StateReport, err error) {
	x, err := audit.Open(data)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	return x.States(audit.Everything, time.Now)
}

// thousands formats a number with commas.
func thousands(n int) string {
	digits := fmt.Sprint(n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
