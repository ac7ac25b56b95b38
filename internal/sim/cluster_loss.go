package sim

import (
	"context"
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

// askAgain is the time after which a node that lost its disk asks the leader again.
const askAgain = 100 * milliseconds

// loss is a disk that was lost, until another life of its node votes.
type loss struct {
	// node has the id of the new life, former is that of the old one. stale is that of a life in between, whose
	// journal lacked entries that a leader had archived; zero for none.
	node          *member
	former, stale uint64
	// order is that in which the new node joins and the former one leaves.
	order order
	// joined is true once the new life has a journal.
	joined bool
}

// number returns the number of a node, which its lives share.
func number(id uint64) uint64 { return id & (anotherLife - 1) }

// at returns the node that has an id; nil for a former life.
func (w *cluster) at(id uint64) *member {
	for _, n := range w.running() {
		if n.id == id {
			return n
		}
	}
	return nil
}

// losing draws the loss of a disk. Each of the others must have what it acknowledged, and be needed for nothing else: it
// happens once all three vote, all know that no change of that is under way, and no node waits for another one to be mended.
// One that was asked for in this round is under way, although no node's status shows it yet.
func (w *cluster) losing(changing bool) {
	w.losses = w.losses || w.chance.oneIn(w.shape.loss)
	if !w.losses || changing || w.lost != nil || w.parting != nil || !w.gather() {
		return
	}
	l := w.leader()
	s := l.log.Status()
	for _, n := range w.nodes {
		if n.log == nil || n.rotten != "" || n.log.Status().Term != s.Term || n.log.Status().Applied != s.Applied ||
			!slices.Contains(s.Voters, n.id) {
			return
		}
	}
	if s.Applied != s.Last.Index || !l.members(size) {
		return
	}

	w.losses = false
	at := w.chance.Below(size)
	if w.chance.percent(50) {
		w.replace(at)
		return
	}
	n := w.nodes[at]
	w.lost = &loss{node: n, former: n.id}
	n.anew()
}

// anew puts an empty disk into the node, whose next life has another id.
func (n *member) anew() {
	n.world.trail.note("%d: node %d loses its disk", n.world.now, n.id)
	n.world.counts.Disks++
	n.die(true)
	n.world.lives++
	n.id = number(n.id) + n.world.lives*anotherLife
	n.disk = memdisk.New(uint64(len(n.world.proposed))<<8 + n.id)
	n.seen, n.cuts, n.snapshot, n.allowed = 0, 0, nil, false
}

// members reports whether a leader knows that its cluster has so many members. A leader that has just started knows it
// once it has changed something, so that it asks for a change that changes nothing.
func (n *member) members(count int) bool {
	if n.known == nil {
		_ = n.log.Change(single(raftpb.ConfChangeAddNode, n.id)) // it is asked for again
	}
	return len(n.known) == count
}

func single(kind raftpb.ConfChangeType, id uint64) *raftpb.ConfChangeV2 {
	return &raftpb.ConfChangeV2{Changes: []*raftpb.ConfChangeSingle{{Type: kind.Enum(), NodeId: new(id)}}}
}

func removal(id uint64) *raftpb.ConfChangeSingle {
	return &raftpb.ConfChangeSingle{Type: raftpb.ConfChangeRemoveNode.Enum(), NodeId: new(id)}
}

// join lets the leader admit a node that lost its disk, and makes its journal: it begins with the leader's oldest live
// segment, and a copy of the archive before that. It reports whether there is one.
func (n *member) join() bool {
	w := n.world
	l := w.leader()
	if l == nil || l.before != nil {
		return false
	}
	if w.lost.order == leaveFirst && slices.Contains(l.log.Status().Voters, w.lost.former) {
		w.leaves(l)
		return false
	}
	if !slices.Contains(l.known, n.id) {
		c := single(raftpb.ConfChangeAddLearnerNode, n.id)
		if w.lost.stale != 0 {
			c.Changes = append(c.Changes, removal(w.lost.stale))
		}
		_ = l.log.Change(c) // it is asked for again
		return false
	}

	if n.allowed = l.allowed; n.allowed {
		n.newer = true // an older program is refused
	}
	base, err := l.log.Base()
	if err != nil {
		if !l.broken && !l.stopped {
			fail("the leader %d has no oldest segment: %w", l.id, err)
		}
		return false
	}
	want(raftlog.Join(n.disk, &base, n.id, w.segment), "joining")
	if base.Tip.Last > 0 {
		from := journal.NewFiles(l.disk.Clone(), w.identity)
		want(journal.NewFiles(n.disk, w.identity).CopyArchive(context.Background(), from, &base), "copying the leader's archive")
		w.counts.Copied++
	}
	w.lost.joined = true
	w.trail.note("%d: node %d joins behind command %d", w.now, n.id, base.Tip.Last)
	return true
}

// seating lets the leader give a node that joined its vote, and take it from the former one. If another one leads than
// at the beginning, which had archived more, the node is made anew, as by an operator.
func (w *cluster) seating() {
	l := w.leader()
	if w.lost == nil || !w.lost.joined || l == nil || l.before != nil {
		return
	}
	id, former := w.lost.node.id, w.lost.former
	switch voters := l.log.Status().Voters; {
	case slices.Contains(voters, id):
		switch {
		case slices.Contains(voters, former):
			w.leaves(l)
		case l.members(size) && !slices.Contains(l.known, former):
			w.returned()
		}
	case slices.Contains(l.log.CaughtUp(), id):
		if w.lost.order == together && l.id == former {
			_, _ = l.log.Transfer(raft.None) // it is asked for again
			return
		}
		c := single(raftpb.ConfChangeAddNode, id)
		if w.lost.order == together {
			c.Changes = append(c.Changes, removal(former))
		}
		_ = l.log.Change(c) // it is asked for again
	case w.lost.node.lacks(l):
		w.lost.stale, w.lost.joined = id, false
		w.lost.node.anew()
	}
}

// lacks reports whether a leader has archived entries that the node lacks.
func (n *member) lacks(l *member) bool {
	if n.log == nil {
		return false
	}
	base, err := l.log.Base()
	return err == nil && base.Replica.At.Index > n.log.Status().Last.Index
}
