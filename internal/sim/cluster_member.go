package sim

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
	"github.com/bourse-exchange/bourse/internal/record"
)

// member is a node of the cluster: its disk, and while it runs its log and its engine.
type member struct {
	world *cluster
	id    uint64
	disk  *memdisk.Disk
	clock bourse.Time

	// seen is the last command that any life of the node has yielded: it and those before it are on the
	// node's disk.
	seen bourse.Seq
	// log is nil while the node is down, until wakes.
	log    *raftlog.Log
	engine *engine.Engine
	events bourse.Events
	// life counts the starts, lastID the proposals of a life.
	life, lastID uint64
	ticked       micros
	wakes        micros
	// paused and hung are times until which the process, or its disk, stands still.
	paused, hung micros
	// crawls is the time until which each write of the disk takes long.
	crawls micros
	// hang is the time for which the next write hangs. before is the disk before that
	// write, ops its operations then; held are the messages that wait for the write.
	hang   micros
	before *memdisk.Disk
	ops    int
	held   []*raftpb.Message
	// stopped is true once a planned stop inside an operation may have happened; broken
	// once an operation may have failed.
	stopped, broken bool
	// closed is true once the log was closed, which leaves the clients of what it loses without
	// an answer.
	closed bool
	cuts   int
	// known are the ids of the members behind the last change that this life has applied.
	known []uint64
	// newer is true while the node's program is the newer one, allowed once the log may have newer commands.
	newer, allowed bool
	// unknown is true once the program has met a command that it does not know.
	unknown bool
	// started is the number of this life among those of all nodes.
	started uint64
	// snapshot is the engine's state behind a command, on the node's disk; nil for none.
	snapshot []byte
	// unsynced is true while the disk may have writes of a killed process that it had not synced.
	unsynced bool
	// rotten is the damaged segment of a node that is to be mended; "" for none.
	rotten string
	reader reader
}

// awake reports whether the node's process does anything now.
func (n *member) awake() bool {
	return n.log != nil && n.paused <= n.world.now && n.hung <= n.world.now
}

// start starts the process.
func (n *member) start() {
	w := n.world
	if w.lost != nil && w.lost.node == n && !w.lost.joined && !n.join() {
		n.wakes = w.now + askAgain
		return
	}
	n.install()
	n.decay()
	n.rot()
	if n.rotten != "" && !n.repair() {
		n.wakes = w.now + mendAgain
		return
	}
	l, recovered, err := raftlog.Open(n.disk, n.options())
	if err != nil {
		if !n.stopped && !n.broken {
			fail("node %d did not start, and nothing was wrong: %w", n.id, err)
		}
		n.die(n.stopped)
		return
	}

	w.starts++
	n.log, n.life, n.lastID, n.ticked, n.started = l, n.life+1, 0, w.now, w.starts
	n.restore()
	w.trail.note("%d: node %d begins life %d at command %d, commit %d of %d",
		w.now, n.id, n.life, l.Durable(), l.Status().Commit, l.Status().Last.Index)
	if recovered.Torn != nil {
		w.counts.Torn++
	}

	r, err := journal.NewFiles(n.disk, w.identity).ReadBehind(n.engine.Seq()+1, l.Durable)
	for err == nil {
		var b *journal.Batch
		if b, err = r.Next(); err == nil {
			n.take(b)
		}
	}
	if !errors.Is(err, io.EOF) {
		if !n.stopped && !n.broken {
			fail("node %d cannot read its journal: %w", n.id, err)
		}
		n.die(n.stopped)
		return
	}
	want(r.Close(), "closing a reader")
	if n.unknown {
		n.met()
		return
	}
	if n.engine.Seq() != l.Durable() {
		fail("node %d has committed command %d, and reads up to %d", n.id, l.Durable(), n.engine.Seq())
	}
}

func (n *member) options() raftlog.Options {
	o := raftlog.Options{
		Options: journal.Options{Identity: n.world.identity, SegmentSize: n.world.segment},
		Send: func(messages []*raftpb.Message) {
			// Messages that wait for a write wait for the disk that hangs.
			if n.before != nil && n.disk.Ops() != n.ops {
				n.held = append(n.held, messages...)
				return
			}
			n.world.post(messages)
		},
	}
	o.Changed = func(c *raftlog.Change) error {
		n.known = c.Nodes
		if string(c.Context) == raised {
			n.allow()
		}
		return nil
	}
	if n.slow() {
		o.MostApplied = 1
	}
	return o
}

// slow reports whether the node applies entries later than the others.
func (n *member) slow() bool { return n.world.shape.slow == number(n.id) }

// work does the process's round.
func (n *member) work() {
	w := n.world
	if n.log == nil {
		if w.now >= n.wakes {
			n.start()
		}
		return
	}
	if !n.awake() {
		return
	}
	n.unhang()

	for n.ticked+tick <= w.now {
		n.ticked += tick
		n.log.Tick()
	}
	steps := 4
	if n.slow() {
		steps = 1
	}
	for more := true; more && steps > 0; steps-- {
		var err error
		if more, err = n.step(); err != nil {
			n.ended(err)
			return
		}
		if n.before != nil {
			return
		}
		n.confirm()
		n.drain()
		if n.unknown {
			n.met()
			return
		}
	}
	n.aside()
}

// step is a step of the log. If a hang is due and the step writes, everything behind the
// write waits.
func (n *member) step() (bool, error) {
	w := n.world
	if n.hang == 0 && n.crawls > w.now && !n.stopped && !n.broken {
		n.hang = micros(w.chance.between(uint64(milliseconds), uint64(60*milliseconds)))
	}
	if n.hang > 0 {
		n.before, n.ops = n.disk.Clone(), n.disk.Ops()
	}
	more, err := n.log.Step()
	if n.hang == 0 {
		return more, err
	}
	if n.disk.Ops() == n.ops {
		n.before = nil
		return more, err
	}
	n.hung, n.hang = w.now+n.hang, 0
	w.counts.Hangs++
	w.trail.note("%d: the disk of node %d hangs until %d", w.now, n.id, n.hung)
	return more, err
}

// aside is the work beside the steps: preparation, marks, the archive and looks at the leader.
func (n *member) aside() {
	var err error
	switch n.world.chance.Below(7) {
	case 0:
		_, err = n.log.Prepare()
	case 1:
		err = n.log.Mark()
	case 2:
		err = n.archive()
	case 3:
		if n.world.chance.oneIn(20) {
			n.takeSnapshot()
		}
	}
	if err != nil {
		n.ended(err)
		return
	}
	n.world.truth.observe(n)
	n.world.truth.agree(n)
	if torn := n.torn(); torn > n.cuts {
		n.world.counts.Cut += uint64(torn - n.cuts)
		n.cuts = torn
	}
}

// torn returns the number of copies of entries that were cut.
func (n *member) torn() int {
	names, err := n.disk.List(journal.TornDir)
	if err != nil {
		return n.cuts
	}
	return len(names)
}

// ended is the end of the process by an error, which a fault must explain.
func (n *member) ended(err error) {
	switch {
	case n.stopped && errors.Is(err, memdisk.ErrStopped):
		n.world.counts.Inside++
		n.die(true)
	case n.broken:
		n.world.counts.Failed++
		n.die(n.world.chance.percent(50))
	default:
		fail("node %d ended, and nothing was wrong: %w", n.id, err)
	}
}

// die ends the process: the machine loses its power, or only the process is killed.
func (n *member) die(power bool) {
	w := n.world
	d := n.disk
	if n.before != nil {
		d = n.before
	}
	if power {
		n.disk = d.Crash()
	} else {
		n.disk = d.Clone()
	}
	n.unsynced = !power
	n.disk.SetCapacity(math.MaxInt64)
	w.trail.note("%d: node %d dies, power %t", w.now, n.id, power)
	w.forsake(n)
	n.log, n.engine, n.before, n.held, n.known, n.unknown = nil, nil, nil, nil, nil, false
	n.hang, n.hung, n.paused, n.stopped, n.broken, n.closed = 0, 0, 0, false, false, false
	n.reader = reader{}
	n.wakes = w.now + micros(w.chance.Below(uint64(pick(w.chance, 10*milliseconds, 200*milliseconds, 2*seconds))))
}

// unhang lets the messages go that waited for a disk.
func (n *member) unhang() {
	if n.before == nil {
		return
	}
	n.before = nil
	held := n.held
	n.held = nil
	n.world.post(held)
	n.drain()
}

// recover ends everything that is wrong with the node.
func (n *member) recover() {
	n.paused, n.hang, n.hung, n.crawls, n.clock = 0, 0, 0, 0, 0
	n.reader.behind = min(n.reader.behind, n.world.now)
	n.disk.FailAt(math.MaxInt32, nil)
	n.disk.StopAt(math.MaxInt32)
	n.disk.Inject(nil)
	n.wakes = n.world.now
}

// drain applies the notices, unless the engine is behind.
func (n *member) drain() {
	if n.reader.behind > n.world.now && !n.closed {
		return
	}
	late := n.reader.behind > 0
	n.reader.behind = 0
	for notice, ok := n.log.Next(); ok; notice, ok = n.log.Next() {
		switch notice.Kind {
		case journal.Committed:
			n.take(&notice.Batch)
			if notice.Proposal != 0 {
				n.world.acknowledge(n, notice.Proposal, &notice.Batch)
			}
		case journal.Role:
			if notice.Leads && n.engine.Seq() != n.log.Durable() && !n.closed && !late {
				fail("node %d leads term %d at command %d, and %d is committed", n.id, notice.Term, n.engine.Seq(), n.log.Durable())
			}
			if n.reader.lead, n.reader.open = 0, nil; notice.Leads {
				n.reader.lead = notice.Term
			}
		case journal.Dropped:
			n.world.drop(n, notice.Proposal)
		default:
			if notice.Kind != journal.Lost || !n.closed {
				fail("node %d has a notice of kind %d", n.id, notice.Kind)
			}
		}
	}
}

// take applies a committed batch to the node's engine.
func (n *member) take(b *journal.Batch) {
	if b.First != n.engine.Seq()+1 {
		fail("node %d yields command %d behind command %d", n.id, b.First, n.engine.Seq())
	}
	n.world.truth.see(n, b)
	n.seen = max(n.seen, b.Last())
	each(b, func(cmd *bourse.Command) error {
		if !n.newer && isNewer(cmd) {
			n.unknown = true
		}
		n.events.Reset()
		n.engine.Apply(cmd, &n.events)
		return nil
	})
}

// takeSnapshot writes the engine's state to the disk.
func (n *member) takeSnapshot() {
	if n.before != nil || n.stopped || n.broken {
		return
	}
	n.snapshot = nil
	n.engine.Snapshot(func(b []byte) { n.snapshot = append(n.snapshot, b...) })
	n.world.counts.Snapshots++
}

// restore begins an engine from the snapshot, or anew if the journal does not prove the snapshot's command to be committed.
func (n *member) restore() {
	if n.snapshot != nil {
		e, err := engine.Restore(n.snapshot, func(*bourse.Events) {})
		want(err, "reading a snapshot")
		if n.engine = e; e.Seq() <= n.log.Durable() {
			n.world.counts.Restored++
			return
		}
	}
	n.engine = engine.New()
}

// each hands the commands of a batch to apply. It reuses the command.
func each(b *journal.Batch, apply func(*bourse.Command) error) {
	cmd := new(bourse.Command)
	f := record.Frame{First: b.First, Count: b.Count, Time: b.Time, Commands: b.Commands}
	want(f.Each(cmd, nil, func() error { return apply(cmd) }), "applying a batch")
}

// decay damages a byte of a copy of the disk, below what the journal proves to have been
// durable. A start on it must fail.
func (n *member) decay() {
	w := n.world
	if w.calm || n.rotten != "" || !w.chance.oneIn(w.shape.decayed) {
		return
	}
	n.oldPromise()

	d := n.disk.Clone()
	last, limit := "", int64(0)
	_, _, err := journal.NewFiles(d, w.identity).Walk(nil,
		func(h *journal.Header, _ int64, e *journal.Entry, _ *journal.Tip) { last, limit = h.Name(), e.Synced })
	want(err, "the journal's end")
	names, err := d.List(journal.LiveDir)
	want(err, "the journal's files")
	names = slices.DeleteFunc(names, func(f string) bool { return !strings.HasSuffix(f, ".seg") && f != "voter" })

	name := journal.LiveDir + "/" + pick(w.chance, names...)
	if name != last {
		f, err := d.Open(name)
		want(err, name)
		limit, err = f.Size()
		want(err, name)
	}
	off := int64(w.chance.Below(uint64(limit)))
	want(d.Damage(name, off, byte(w.chance.between(1, 255))), name)

	n.refuses(d, name, fmt.Sprintf("byte %d was another one", off))
	w.counts.Decayed++
}

// refuses fails unless a start on a disk finds damage of a file.
func (n *member) refuses(d *memdisk.Disk, name, why string) {
	damage := (*journal.DamageError)(nil)
	if _, _, err := raftlog.Open(d, n.options()); !errors.As(err, &damage) || damage.File != name {
		fail("node %d started although %s in %s: %v", n.id, why, name, err)
	}
}

// verify closes the log, reads the whole journal again, as an audit does, and finds what the truth has.
func (n *member) verify() {
	want(n.log.Close(), "closing a log")
	r, err := journal.NewFiles(n.disk, n.world.identity).Read(1)
	want(err, "reading the journal")
	for i := range n.world.truth.past {
		b, err := r.Next()
		want(err, "reading the journal")
		if b.Chain != n.world.truth.past[i].chain {
			fail("node %d has another batch at command %d", n.id, b.First)
		}
	}
	if b, err := r.Next(); !errors.Is(err, io.EOF) {
		fail("node %d has the batch %+v behind the last one: %w", n.id, b, err)
	}
	want(r.Close(), "reading the journal")
}
