package sim

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
)

// ClusterCounts are the numbers of things that happened.
type ClusterCounts struct {
	// Elections are the terms that had a leader; Cut the tails of followers that a later
	// leader refused; Torn the torn ends that starts cut.
	Elections, Cut, Torn uint64
	// Acked, Dropped and Unknown are the proposals by their fate for the client.
	Acked, Dropped, Unknown uint64
	// Lost and Twice are messages.
	Lost, Twice uint64
	// Faults of nodes and their disks.
	PowerCuts, Kills, Inside, Failed, Reads, Stops, Pauses, Hangs, Crawls, Decayed, OldPromises uint64
	// Rotted counts bytes of journals that a disk changed, Mended the nodes that were repaired from others, HalfMended the
	// crashes during a repair.
	Rotted, Mended, HalfMended uint64
	// Recovered counts recoveries of a node as a cluster of its own, apart from the simulated one, HalfRecovered the
	// crashes during one.
	Recovered, HalfRecovered uint64
	// Disks counts lost disks, with those of newcomers whose leader had archived what they lacked, Copied the
	// archives that newcomers began with, Returned the newcomers that vote.
	Disks, Copied, Returned uint64
	// Replaced counts the nodes that gave their votes to newcomers, Joined the newcomers that voted beside all others
	// before one of those left, Left the nodes that left before a newcomer joined.
	Replaced, Joined, Left uint64
	// Members are the changes of members that a leader took, Archived the segments that moved to an archive.
	Members, Archived uint64
	// Transfers are the hand-overs that a leader began, Handed those after which the other node led.
	Transfers, Handed uint64
	// Snapshots counts the snapshots that nodes wrote, Restored the starts from one.
	Snapshots, Restored uint64
	// Lags counts the engines that fell behind their logs, Confirmed the reads that a majority confirmed, Outlived those whose
	// node had lost its term and led a later one.
	Lags, Confirmed, Outlived uint64
	// Upgraded counts the nodes that learned that the log may have newer commands, Outdated the older programs that were
	// refused or ended, Back the returns to the older program before that.
	Upgraded, Outdated, Back uint64
	// Faults of the network and of clocks.
	OneWay, Apart, Clocks uint64
}

// fields lists the counts with their names.
func (c *ClusterCounts) fields() []struct {
	name string
	n    *uint64
} {
	return []struct {
		name string
		n    *uint64
	}{
		{"elections", &c.Elections}, {"refused tails", &c.Cut}, {"torn ends", &c.Torn},
		{"acknowledged", &c.Acked}, {"dropped", &c.Dropped}, {"unknown", &c.Unknown},
		{"messages lost", &c.Lost}, {"messages twice", &c.Twice},
		{"power cuts", &c.PowerCuts}, {"kills", &c.Kills}, {"ends inside an operation", &c.Inside},
		{"failed operations", &c.Failed}, {"failed reads", &c.Reads}, {"stops", &c.Stops}, {"pauses", &c.Pauses},
		{"hangs", &c.Hangs}, {"crawling disks", &c.Crawls},
		{"decayed", &c.Decayed}, {"old promises", &c.OldPromises},
		{"rotted", &c.Rotted}, {"mended", &c.Mended}, {"ends inside a repair", &c.HalfMended},
		{"recoveries", &c.Recovered}, {"ends inside a recovery", &c.HalfRecovered},
		{"lost disks", &c.Disks}, {"copied archives", &c.Copied}, {"votes of newcomers", &c.Returned},
		{"replaced nodes", &c.Replaced}, {"joins before a node left", &c.Joined}, {"nodes that left before one joined", &c.Left},
		{"changes of members", &c.Members}, {"archived segments", &c.Archived},
		{"transfers", &c.Transfers}, {"transfers that were done", &c.Handed},
		{"snapshots", &c.Snapshots}, {"starts from a snapshot", &c.Restored},
		{"engines that lag", &c.Lags}, {"reads confirmed", &c.Confirmed}, {"reads of a former lead", &c.Outlived},
		{"nodes upgraded", &c.Upgraded}, {"outdated programs", &c.Outdated}, {"ways back to the older program", &c.Back},
		{"one-way cuts", &c.OneWay}, {"cut off", &c.Apart}, {"clock jumps", &c.Clocks},
	}
}

// Add adds the counts of another simulation.
func (c *ClusterCounts) Add(other *ClusterCounts) {
	theirs := other.fields()
	for i, f := range c.fields() {
		*f.n += *theirs[i].n
	}
}

// Missing lists what never happened.
func (c *ClusterCounts) Missing() (missing []string) {
	for _, f := range c.fields() {
		if *f.n == 0 {
			missing = append(missing, f.name)
		}
	}
	return missing
}

// String lists the counts.
func (c *ClusterCounts) String() string {
	var b strings.Builder
	for i, f := range c.fields() {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %d", f.name, *f.n)
	}
	return b.String()
}

// misfortune draws the faults of a round.
func (w *cluster) misfortune() {
	c, s := w.chance, &w.shape
	nodes := w.running()
	n := nodes[c.Below(uint64(len(nodes)))]
	if n.log != nil {
		w.befall(n)
	}
	if c.oneIn(s.clock) {
		n.clock += bourse.Time(c.Below(uint64(2*bourse.Hour))) - bourse.Hour
		w.counts.Clocks++
	}

	long := func() micros {
		return w.now + micros(c.Below(uint64(pick(c, 30*milliseconds, 400*milliseconds, 2*seconds))))
	}
	if c.oneIn(s.oneWay) {
		w.wire.cut[c.Below(places)][c.Below(places)] = long()
		w.counts.OneWay++
	}
	if c.oneIn(s.apart) {
		until := long()
		for i := range w.wire.cut {
			w.wire.cut[number(n.id)-1][i], w.wire.cut[i][number(n.id)-1] = until, until
		}
		w.counts.Apart++
		w.trail.note("%d: node %d is cut off until %d", w.now, n.id, until)
	}
}

// failOne lets one of the next operations fail: one that changes the disk, or a read.
func (n *member) failOne() {
	c := n.world.chance
	if c.percent(50) {
		n.disk.FailAt(int(c.between(1, 6)), syscall.EIO)
		return
	}
	at := c.between(1, 2)
	n.disk.Inject(func(op memdisk.Op) error {
		if op.Kind != memdisk.OpRead {
			return nil
		}
		if at--; at != 0 {
			return nil
		}
		n.world.counts.Reads++
		return syscall.EIO
	})
}

// befall draws the faults of a node that runs.
func (w *cluster) befall(n *member) {
	c, s := w.chance, &w.shape
	long := func() micros {
		return w.now + micros(c.Below(uint64(pick(c, 30*milliseconds, 400*milliseconds, 2*seconds))))
	}
	switch {
	case c.oneIn(s.powerCut):
		w.counts.PowerCuts++
		n.die(true)
	case c.oneIn(s.kill):
		w.counts.Kills++
		n.die(false)
	case c.oneIn(s.inside) && n.before == nil:
		n.stopped = true
		n.disk.StopAt(int(c.between(1, 12)))
	case c.oneIn(s.failure) && n.before == nil:
		n.broken = true
		n.failOne()
	case c.oneIn(s.stop) && n.awake() && n.before == nil && !n.stopped && !n.broken:
		w.counts.Stops++
		want(n.log.Close(), "closing a log")
		n.closed = true
		n.drain()
		n.die(false)
	case c.oneIn(s.pause):
		w.counts.Pauses++
		n.paused = long()
		w.trail.note("%d: node %d stands still until %d", w.now, n.id, n.paused)
	case c.oneIn(s.hang) && n.before == nil && !n.stopped && !n.broken:
		n.hang = long() - w.now
	case c.oneIn(s.crawl):
		w.counts.Crawls++
		n.crawls = long()
		w.trail.note("%d: the disk of node %d crawls until %d", w.now, n.id, n.crawls)
	}
}
