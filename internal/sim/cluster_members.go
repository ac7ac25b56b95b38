package sim

import (
	"slices"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse/internal/journal"
)

// changing draws a change of members at a leader: of one node, or of several at once, which takes a joint
// change. The leader refuses what no cluster can be. It reports whether one was asked for.
func (w *cluster) changing() bool {
	n := w.leader()
	if n == nil || n.before != nil || w.lost != nil || !w.chance.oneIn(w.shape.members) {
		return false
	}
	c := new(raftpb.ConfChangeV2)
	for range pick(w.chance, 1, 1, 1, 2, 3) {
		c.Changes = append(c.Changes, &raftpb.ConfChangeSingle{
			Type:   pick(w.chance, raftpb.ConfChangeAddNode, raftpb.ConfChangeAddLearnerNode, raftpb.ConfChangeRemoveNode).Enum(),
			NodeId: new(w.nodes[w.chance.Below(size)].id),
		})
	}
	if err := n.log.Change(c); err != nil {
		return false
	}
	w.counts.Members++
	w.trail.note("%d: node %d asks for members: %v", w.now, n.id, c.Changes)
	return true
}

// transferring draws a planned hand-over to another node, or to one that the leader picks. The leader refuses
// one that cannot lead.
func (w *cluster) transferring() {
	n := w.leader()
	if n == nil || n.before != nil || !w.chance.oneIn(w.shape.transfer) {
		return
	}
	heirs := [size + 1]uint64{}
	for i, other := range w.nodes {
		heirs[i] = other.id
	}
	to, err := n.log.Transfer(pick(w.chance, heirs[:]...))
	if err != nil {
		return
	}
	w.counts.Transfers++
	w.heir = heir{node: to, term: n.log.Status().Term + 1}
	w.trail.note("%d: node %d hands over to node %d", w.now, n.id, to)
}

// heir is the node that a leader hands over to, and the term in which it leads then.
type heir struct{ node, term uint64 }

// gather lets the leader make every node a voter, and reports whether all of them are.
func (w *cluster) gather() bool {
	n := w.leader()
	if n == nil || n.before != nil || w.lost != nil { // seating sees to a newcomer
		return false
	}
	voters := n.log.Status().Voters
	if len(voters) == size {
		return true
	}
	c := new(raftpb.ConfChangeV2)
	for _, other := range w.nodes {
		if !slices.Contains(voters, other.id) {
			c.Changes = append(c.Changes, &raftpb.ConfChangeSingle{
				Type: raftpb.ConfChangeAddNode.Enum(), NodeId: new(other.id),
			})
			break
		}
	}
	// A change that the leader refuses, or loses, is asked for again.
	_ = n.log.Change(c)
	return false
}

// agree checks that two nodes which have applied the log up to the same entry have the same voters.
func (a *agreed) agree(n *member) {
	s := n.log.Status()
	voters := slices.Sorted(slices.Values(s.Voters))
	if was, known := a.voters[s.Applied]; known && !slices.Equal(was, voters) {
		fail("node %d has the voters %v at entry %d, and another node has %v", n.id, voters, s.Applied, was)
	}
	a.voters[s.Applied] = voters
}

// archive moves a segment to the archive, unless another node may need it: then that waits for a snapshot. It waits while
// a node joins (ADR 174).
func (n *member) archive() error {
	if n.world.lost != nil {
		return nil
	}
	before := n.log.Durable()
	for _, other := range n.world.running() {
		before = min(before, other.seen)
	}
	moved, err := journal.NewFiles(n.disk, n.world.identity).ArchiveNext(before + 1)
	if moved {
		n.world.counts.Archived++
	}
	return err
}

// oldPromise puts the node's first promise in the place of its last one, on a copy of the disk. A start
// on it must fail, unless the node has no entry of a later term.
func (n *member) oldPromise() {
	w := n.world
	d := n.disk.Clone()
	end, _, err := journal.NewFiles(d, w.identity).End(nil)
	want(err, "the journal's end")
	if end.At.Term == 1 {
		return
	}
	want(journal.Voter{Node: n.id, Term: 1}.Save(d, w.identity), "an old promise")
	n.refuses(d, "journal/voter", "an old promise stood")
	w.counts.OldPromises++
}
