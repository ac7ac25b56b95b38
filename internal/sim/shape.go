package sim

import "github.com/bourse-exchange/bourse/internal/journal"

// part is one of the parts that the world steps.
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

// shape is drawn once per seed. Rates are mean numbers of steps between two faults; zero
// is never.
type shape struct {
	// length is the number of commands in units of usual. Faults, segments, snapshots and
	// checks, whose cost grows with the state, are rarer by this factor.
	length uint64

	segment       int64
	snapshotEvery uint64
	tailRows      int
	// pending bounds the unanswered requests, burst the requests sent at once.
	pending, burst uint64
	// weights are the relative frequencies of the parts' steps.
	weights [parts]uint64
	// pause bounds the usual time between two steps.
	pause uint64

	powerCut, kill, killInside, stop uint64
	sync, operation, write, full     uint64
	flip, stall, history, clock      uint64
	deleted, wentBack, decayed       uint64 // one in that many starts
	cutInStart, failInStart, flipped uint64 // one in that many starts
	// walletEnd and signerEnd are one in that many of a wallet's steps.
	walletEnd, signerEnd uint64
	// networks is the number of networks; one in pace steps of partWallets acts on them.
	networks int
	pace     uint64
	// lost is the percentage of answers lost, again that of requests that repeat an
	// answered one.
	lost, again uint64
}

// usual is the number of commands in most simulations.
const usual = 5000

// drawShape draws a shape for a number of commands.
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

	// Small frames in small segments would make thousands of files.
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

// drawFaults draws the rates. A seed has most kinds of faults, and none so often that
// nothing progresses: lives are short in some seeds, long in others.
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

// stepsPerThousand is the approximate number of steps in which clients send a thousand
// commands.
func (s *shape) stepsPerThousand() uint64 {
	total := uint64(0)
	for _, weight := range s.weights {
		total += weight
	}
	return 2000 * total / (s.weights[partClients] * (s.burst + 1))
}
