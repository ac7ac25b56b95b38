package sim

import "github.com/bourse-exchange/bourse/internal/journal"

// part is one of what the world steps.
type part int

const (
	partClients part = iota
	partWrite
	partApply
	partPrepare
	partFollow
	partClock
	parts
)

var partNames = [parts]string{
	partClients: "clients", partWrite: "write", partApply: "apply", partPrepare: "prepare",
	partFollow: "follow", partClock: "clock",
}

// shape is what a seed draws once. Rates are mean numbers of steps between two
// faults; zero is never.
type shape struct {
	segment       int64
	snapshotEvery uint64
	tailRows      int
	// pending is how many requests may wait for an answer, burst how many
	// clients ask at once.
	pending, burst uint64
	// weights are how often each part is stepped.
	weights [parts]uint64
	// pause is the longest usual time between two steps.
	pause uint64

	powerCut, kill, stop             uint64
	sync, operation, write, full     uint64
	flip, stall, history, clock      uint64
	deleted, wentBack, decayed       uint64 // one in so many starts
	cutInStart, failInStart, flipped uint64 // one in so many starts
	// lost is how many answers in a hundred are lost, again how many requests
	// are repetitions of what was answered.
	lost, again uint64
}

func drawShape(c *chance) shape {
	s := shape{
		segment:       int64(c.between(2, 24)) * journal.Block,
		snapshotEvery: pick[uint64](c, 20, 60, 150, 400),
		tailRows:      int(pick[uint64](c, 20, 200, 2000)),
		burst:         pick[uint64](c, 1, 4, 20, 80),
		pause:         pick[uint64](c, 50, 5_000, 400_000),
		lost:          c.Below(20),
		again:         c.Below(15),
	}
	s.pending = s.burst * pick[uint64](c, 2, 5, 20)
	for p := range s.weights {
		s.weights[p] = c.between(1, 8)
	}
	s.drawFaults(c)
	return s
}

// drawFaults draws the rates. A seed has most kinds of faults, and none too
// often to get anywhere.
func (s *shape) drawFaults(c *chance) {
	rate := func(low, high uint64) uint64 {
		if c.percent(25) {
			return 0
		}
		return c.between(low, high)
	}
	s.powerCut, s.kill, s.stop = c.between(400, 3000), rate(1000, 6000), rate(2000, 9000)
	s.sync, s.operation, s.write, s.full = rate(2000, 9000), rate(2000, 9000), rate(2000, 9000), rate(2000, 9000)
	s.flip, s.stall, s.history, s.clock = rate(300, 3000), rate(200, 2000), rate(200, 2000), rate(300, 3000)
	s.deleted, s.wentBack, s.decayed = rate(6, 40), rate(4, 20), rate(4, 20)
	s.cutInStart, s.failInStart, s.flipped = rate(2, 8), rate(3, 15), rate(3, 15)
}
