package node

import (
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
)

// maxJump is how far the wall clock may move against the monotonic one before
// somebody has to look at it.
const maxJump = 60 * bourse.Second

// reading is what the machine's clocks say at one instant.
type reading struct {
	wall bourse.Time
	// mono counts from some instant and never jumps.
	mono bourse.Time
}

// machineClock returns a source of readings.
func machineClock() func() reading {
	began := time.Now()
	return func() reading {
		now := time.Now()
		return reading{bourse.TimeOf(now), bourse.Time(now.Sub(began).Microseconds())}
	}
}

// clock is the exchange's: the wall clock, as long as it moves with the monotonic
// one. A jump is not followed: time goes on from where it was, at the pace of the
// monotonic clock, and a jump forward is an alarm until an operator accepts it.
type clock struct {
	read func() reading
	// alarm is called once for each jump forward.
	alarm func(by bourse.Time)

	mu sync.Mutex
	// ahead is how far the exchange's time is ahead of mono.
	ahead bourse.Time
	// jumped is true while the wall clock is ahead and nobody has accepted it.
	jumped bool
}

// newClock returns a clock that is never behind the journal.
func newClock(read func() reading, journal bourse.Time, alarm func(by bourse.Time)) *clock {
	r := read()
	return &clock{read: read, alarm: alarm, ahead: max(r.wall, journal) - r.mono}
}

// Now returns the exchange's time, which never goes back.
func (c *clock) Now() bourse.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.read()
	by := r.wall - r.mono - c.ahead
	if by > maxJump && !c.jumped {
		c.alarm(by)
	}
	c.jumped = by > maxJump
	if !c.jumped {
		c.ahead = max(c.ahead, r.wall-r.mono)
	}
	return r.mono + c.ahead
}

// Accept follows a jump forward.
func (c *clock) Accept() {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.read()
	c.ahead, c.jumped = max(c.ahead, r.wall-r.mono), false
}

// Jumped reports whether a jump forward waits to be accepted.
func (c *clock) Jumped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.jumped
}
