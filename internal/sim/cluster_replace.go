package sim

import (
	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
)

// order is that in which a node joins and another one leaves.
type order int

const (
	// together is one joint change.
	together order = iota
	joinFirst
	leaveFirst
)

// replace puts a node with a number that no other one has in the place of a node that runs, which leaves.
func (w *cluster) replace(at uint64) {
	old := w.nodes[at]
	w.lives++
	n := &member{world: w, id: w.vacant() + w.lives*anotherLife}
	n.disk = memdisk.New(uint64(len(w.proposed))<<8 + n.id)
	w.nodes[at], w.parting = n, old
	w.lost = &loss{node: n, former: old.id, order: pick(w.chance, together, joinFirst, leaveFirst)}
	w.trail.note("%d: node %d is to come for node %d, order %d", w.now, n.id, old.id, w.lost.order)
}

// vacant returns the number that no node has.
func (w *cluster) vacant() uint64 {
	sum := uint64(places * (places + 1) / 2)
	for _, n := range w.nodes {
		sum -= number(n.id)
	}
	return sum
}

// leaves lets the leader remove the former node. It hands over if it is that itself.
func (w *cluster) leaves(l *member) {
	former := w.lost.former
	if l.id == former {
		_, _ = l.log.Transfer(raft.None) // it is asked for again
		return
	}
	_ = l.log.Change(single(raftpb.ConfChangeRemoveNode, former)) // it is asked for again
}

// returned notes that the newcomer votes and the former node is no member.
func (w *cluster) returned() {
	w.counts.Returned++
	switch {
	case w.parting == nil:
	case w.lost.order == together:
		w.counts.Replaced++
	case w.lost.order == joinFirst:
		w.counts.Joined++
	default:
		w.counts.Left++
	}
	w.lost = nil
}

// part ends the process of a node that has left, in a while. It may not have heard of that.
func (w *cluster) part() {
	if w.parting == nil || w.lost != nil || !w.calm && !w.chance.oneIn(200) {
		return
	}
	w.parting.die(false)
	w.parting = nil
}
