package node

import (
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
)

// maxJump is how far the wall clock may move ahead of the monotonic one before an
// operator must accept it.
const maxJump = 60 * bourse.Second

// reading is the machine's clocks at one instant.
type reading struct {
	wall bourse.Time
	// mono counts from an arbitrary instant and never jumps.
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

// clock is the exchange's clock. It follows the wall clock while that moves with the
// monotonic one. After a jump it runs on at the pace of the monotonic clock; a jump
// forward raises an alarm until an operator accepts it.
type clock struct {
	read func() reading
	// alarm is called once for each jump forward.
	alarm func(by bourse.Time)

	mu sync.Mutex
	// ahead is the exchange's time minus mono.
	ahead bourse.Time
	// jumped is true while the wall clock is ahead and no operator has accepted it.
	jumped bool
}

// newClock returns a clock that starts at the machine's time or the journal's, whichever
// is later.
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

// Accept moves the clock forward to the wall clock.
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
