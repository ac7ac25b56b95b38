package sim

import (
	"errors"
	"io"
	"slices"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
	"github.com/bourse-exchange/bourse/internal/record"
)

// anotherLife is what is added to the id of a node that goes on alone.
const anotherLife = 1 << 32

// recovering draws the loss of two nodes for good, beside the world, which goes on: the third is made the only one on a
// copy of its disk, as its machine finds it after its process or its power has ended.
func (w *cluster) recovering() {
	if !w.chance.oneIn(w.shape.recovery) {
		return
	}
	n := w.nodes[w.chance.Below(size)]
	if w.lost != nil && w.lost.node == n || n.rotten != "" || n.stopped || n.broken || n.before != nil {
		return
	}
	crash := (*memdisk.Disk).Clone // of the process
	if w.chance.percent(50) {
		crash = (*memdisk.Disk).Crash // of the machine, before the recovery and in it
	}
	d := crash(n.disk)

	end, err := raftlog.Inspect(d, w.identity)
	want(err, "the end of the node that is left")
	if end.Tip.Last < n.seen {
		fail("node %d goes on alone at command %d, and has yielded command %d", n.id, end.Tip.Last, n.seen)
	}
	d = n.recoverOn(d, crash)
	l, _, err := raftlog.Open(d, raftlog.Options{Options: n.options().Options, Send: func([]*raftpb.Message) {}})
	want(err, "opening the journal of a node that goes on alone")
	lives := &alone{member: n, log: l, id: n.id + anotherLife}
	lives.lead(end)
	want(l.Close(), "closing a log")
	lives.verify(d, end)
	w.counts.Recovered++
	w.trail.note("%d: node %d would go on alone at command %d, commit %d of %d", w.now, n.id, end.Tip.Last, end.Commit, end.Last.Index)
}

// recoverOn makes the node the only one, also when that is cut short, and returns the disk.
func (n *member) recoverOn(d *memdisk.Disk, crash func(*memdisk.Disk) *memdisk.Disk) *memdisk.Disk {
	w := n.world
	again := func() error {
		_, err := raftlog.Recover(d, n.options().Options, n.id+anotherLife, nil)
		return err
	}
	for range w.chance.Below(3) {
		d.StopAt(int(w.chance.between(1, 12)))
		if err := again(); err != nil {
			w.counts.HalfRecovered++
		}
		d = crash(d)
	}
	want(again(), "making a node the only one")
	return d
}

// alone is a node that goes on alone.
type alone struct {
	*member

	log *raftlog.Log
	id  uint64
	// last is the last command that its log has said is committed.
	last bourse.Seq
}

// lead elects the node, and lets it take a batch.
func (a *alone) lead(end *raftlog.End) {
	for sent, tries := false, 0; a.last <= end.Tip.Last; tries++ {
		if tries > 400 {
			fail("node %d does not go on alone: %+v", a.member.id, a.log.Status())
		}
		a.log.Tick()
		a.steps()
		if a.log.Status().Open && !sent {
			sent = true
			want(a.log.Propose(journal.Proposal{
				ID: 1, Count: 1, Time: a.commandTime(), Commands: record.Append(nil, &bourse.Command{Kind: bourse.CommandContinue}),
			}), "the first batch of a node that goes on alone")
		}
	}
	s := a.log.Status()
	if s.Node != a.id || !slices.Equal(s.Voters, []uint64{a.id}) || s.Term <= end.Last.Term || a.last != end.Tip.Last+1 {
		fail("node %d goes on alone as %+v at command %d, from %+v", a.member.id, s, a.last, end)
	}
}

// steps takes steps until there is none.
func (a *alone) steps() {
	for more := true; more; {
		var err error
		more, err = a.log.Step()
		want(err, "a step of a node that goes on alone")
		for notice, ok := a.log.Next(); ok; notice, ok = a.log.Next() {
			if notice.Kind == journal.Committed {
				a.last = notice.Batch.Last()
			}
		}
	}
}

// verify wants all that the node has yielded or knew to be committed, and behind that only what clients have sent, each
// batch once.
func (a *alone) verify(d *memdisk.Disk, end *raftlog.End) {
	w := a.world
	r, err := journal.NewFiles(d, w.identity).Read(1)
	want(err, "reading the journal of a node that goes on alone")
	seen := map[string]bool{}
	for i := 0; ; i++ {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			fail("node %d has lost what it took alone", a.member.id)
		}
		want(err, "reading the journal of a node that goes on alone")
		if b.First > end.Tip.Last {
			break
		}
		// The node may know of commits that no node has yielded yet.
		known := b.Last() <= max(a.seen, end.Committed.Last) && i < len(w.truth.past)
		if known && b.Chain != w.truth.past[i].chain {
			fail("node %d goes on alone and has another batch at command %d", a.member.id, b.First)
		}
		if commands := string(b.Commands); seen[commands] || w.find(commands) == nil {
			fail("node %d goes on alone with a batch at command %d that nobody has sent once", a.member.id, b.First)
		}
		seen[string(b.Commands)] = true
	}
	want(r.Close(), "reading the journal of a node that goes on alone")
}
