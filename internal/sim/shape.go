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
	partWallets
	parts
)

var partNames = [parts]string{
	partClients: "clients", partWrite: "write", partApply: "apply", partPrepare: "prepare",
	partFollow: "follow", partClock: "clock", partWallets: "wallets",
}

// shape is what a seed draws once. Rates are mean numbers of steps between two
// faults; zero is never.
type shape struct {
	// length is how often the usual number of commands goes into this one. Faults,
	// segments, snapshots and checks, which cost by how much there is, are so much
	// rarer: a long simulation has as many as a usual one, and more between them.
	length uint64

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

	powerCut, kill, killInside, stop uint64
	sync, operation, write, full     uint64
	flip, stall, history, clock      uint64
	deleted, wentBack, decayed       uint64 // one in so many starts
	cutInStart, failInStart, flipped uint64 // one in so many starts
	// walletEnd and signerEnd are one in so many of a wallet's steps.
	walletEnd, signerEnd uint64
	// networks is how many there are; something happens there in one of pace
	// steps.
	networks int
	pace     uint64
	// lost is how many answers in a hundred are lost, again how many requests
	// are repetitions of what was answered.
	lost, again uint64
}

// usual is how many commands most simulations have.
const usual = 5000

// drawShape draws a shape for so many commands.
func drawShape(c *chance, commands int) shape {
	s := shape{
		length:        max(1, uint64(commands)/usual),
		snapshotEvery: pick[uint64](c, 20, 60, 150, 400),
		tailRows:      int(pick[uint64](c, 20, 200, 2000)),
		burst:         pick[uint64](c, 1, 8, 40, 150),
		pause:         pick[uint64](c, 50, 5_000, 400_000),
		lost:          c.Below(20),
		again:         c.Below(15),
	}
	// Where frames are small, small segments would make thousands of files.
	blocks := pick[uint64](c, 8, 16, 32)
	if s.burst > 8 {
		blocks = pick[uint64](c, 2, 5, 16)
	}
	s.segment = int64((blocks+2+c.Below(4))*s.length) * journal.Block
	s.pending = s.burst * pick[uint64](c, 2, 5, 20)
	for p := range s.weights {
		s.weights[p] = c.between(1, 8)
	}
	if s.networks = int(pick[uint64](c, 0, 0, 1, 2)); s.networks == 0 {
		s.weights[partWallets] = 0
	}
	s.pace = pick[uint64](c, 2, 6, 20)
	if s.burst > 8 {
		s.pace = pick[uint64](c, 1, 2)
	}
	s.pace *= s.length
	s.snapshotEvery *= s.length
	s.drawFaults(c)
	return s
}

// drawFaults draws the rates. A seed has most kinds of faults, and none too
// often to get anywhere: in some seeds lives are short, in others they are long
// enough for much to gather.
func (s *shape) drawFaults(c *chance) {
	steps := s.stepsPerThousand() * s.length * pick[uint64](c, 3, 8, 25)
	rate := func(most uint64) uint64 {
		if c.percent(25) {
			return 0
		}
		return max(10, steps/c.between(1, most))
	}
	s.powerCut, s.kill, s.killInside, s.stop = max(10, steps/c.between(1, 8)), rate(2), rate(4), rate(2)
	s.sync, s.operation, s.write, s.full = rate(2), rate(2), rate(2), rate(2)
	s.flip, s.stall, s.history, s.clock = rate(12), rate(15), rate(10), rate(10)
	start := func(most uint64) uint64 {
		if c.percent(25) {
			return 0
		}
		return c.between(most/4, most)
	}
	s.deleted, s.wentBack, s.decayed = start(30), start(20), start(20)
	s.cutInStart, s.failInStart, s.flipped = start(8), start(12), start(12)
	s.walletEnd, s.signerEnd = start(400), start(60)
}

// stepsPerThousand is about how many steps are made while clients ask for a
// thousand commands.
func (s *shape) stepsPerThousand() uint64 {
	total := uint64(0)
	for _, weight := range s.weights {
		total += weight
	}
	return 2000 * total / (s.weights[partClients] * (s.burst + 1))
}
