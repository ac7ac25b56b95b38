package sim

import "github.com/bourse-exchange/bourse"

// mostCalm bounds the steps until everything is settled without faults.
const mostCalm = 400_000

// liveness runs the exchange without faults: every request gets its answer, the follower
// catches up, and the exchange stops and starts again unchanged.
func (w *world) liveness() {
	w.calm()
	w.trail.note("step %d: no more faults", w.steps)
	w.steps = 0

	for w.process == nil || !w.settled() {
		if w.steps >= mostCalm {
			fail("after %d steps without faults: %d requests wait, %d will come again; of wallets: %s",
				w.steps, len(w.clients.pending), len(w.clients.doubtful), w.wallets.open())
		}
		w.turn()
	}

	w.checkEnd()
	w.shutDown()
	w.start()
	if w.process == nil || !w.process.recovered.Sealed || w.process.recovered.Torn != nil {
		fail("after a stop in order, the journal is not sealed: %+v", w.process)
	}

	w.check()
	w.checkDeep()
}

// calm ends all faults.
func (w *world) calm() {
	w.shape.calm()
	w.emptyDisk()
	w.disk.FlipRead(never)
	f := &w.faults
	if last := w.truth.last(); last > 0 {
		w.now = max(w.now, w.truth.at(last).time) // otherwise delayed withdrawals would wait for days
	}
	f.next, f.cut, f.flipAt, f.downUntil, f.stalledUntil = trigger{}, trigger{}, 0, 0, [parts]uint64{}
	w.clients.leaving = true
	w.wallets.relax()
}

// calm sets all rates to never, so that only open requests remain.
func (s *shape) calm() {
	kept := *s
	*s = shape{
		length: kept.length, segment: kept.segment, snapshotEvery: kept.snapshotEvery, tailRows: kept.tailRows,
		pending: kept.pending, burst: 1, pause: uint64(bourse.Second / 10), networks: kept.networks,
	}
	for p := range s.weights {
		s.weights[p] = 1
	}
}

// settled reports whether no work is left.
func (w *world) settled() bool {
	p, c := w.process, &w.clients
	behind, _ := p.tail.Lag()
	return len(c.pending)+len(c.doubtful) == 0 && p.sequencer.Idle() && p.sequencer.Applied() == p.log.Durable() &&
		p.follower.Seq() == p.log.Durable() && behind == 0 && !p.engine.Unfinished() && w.wallets.settled()
}

// checkEnd makes the checks that need a complete history. The deep check of the journal
// follows once it is sealed.
func (w *world) checkEnd() {
	w.check()
	w.checkCandles()
	w.checkHistory()
	w.wallets.checkPaid()
	segments, err := w.files().Stat()
	want(err, "the journal's figures")
	w.trail.note("at the end: %+v", segments)
}
