package sim

import (
	"errors"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// reader is the part of a node's process that shows clients the engine's state. It is zero when a process begins.
type reader struct {
	// lead is the term in which the node leads, as far as its notices were taken; zero if it does not.
	lead uint64
	// behind is the time until which notices wait for the engine, while the log goes on; zero if they do not.
	behind micros
	// asked counts the rounds. open is the read that waits for the last one; nil if there is none.
	asked uint64
	open  *read
}

// read is a read at a leader. A majority confirms it after the state was read.
type read struct {
	// shown is the command behind which the state was read.
	shown bourse.Seq
	// known is the last command that clients had seen an effect of before.
	known bourse.Seq
}

// readers draws reads, and engines that fall behind their logs. It draws apart from everything else.
func (w *cluster) readers() {
	c := w.readChance
	nodes := w.running()
	n := nodes[c.Below(uint64(len(nodes)))]
	if !w.calm && n.log != nil && c.oneIn(w.lags) {
		n.reader.behind = w.now + micros(c.Below(uint64(pick(c, 100*milliseconds, seconds, 4*seconds))))
		w.counts.Lags++
		w.trail.note("%d: the engine of node %d takes nothing until %d", w.now, n.id, n.reader.behind)
	}

	if n.awake() && n.before == nil && n.reader.lead != 0 && (n.reader.open == nil || c.oneIn(10)) {
		n.begin()
	}
}

// begin reads the engine's state, and asks a majority whether the node still leads.
func (n *member) begin() {
	r := &n.reader
	r.open = nil
	r.asked++
	err := n.log.Ask(r.asked, r.lead)
	switch s := n.log.Status(); {
	case err == nil:
		r.open = &read{shown: n.engine.Seq(), known: n.world.truth.known}
	case !errors.Is(err, journal.ErrNotLeader):
		fail("node %d asks nobody: %w", n.id, err)
	case s.Open && s.Term > r.lead:
		n.world.counts.Outlived++
	}
}

// confirm answers the read that a majority has confirmed: it must have shown all that clients knew before.
func (n *member) confirm() {
	r := &n.reader
	if r.open == nil || n.log.Confirmed() < r.asked {
		return
	}
	if r.open.shown < r.open.known {
		fail("node %d shows command %d, and clients knew command %d before", n.id, r.open.shown, r.open.known)
	}
	n.world.truth.know(r.open.shown)
	n.world.counts.Confirmed++
	n.world.trail.mark(n.id, uint64(r.open.shown), r.lead, uint64(n.world.now))
	r.open = nil
}

// know notes that clients have seen the effect of a command.
func (a *agreed) know(seq bourse.Seq) { a.known = max(a.known, seq) }
