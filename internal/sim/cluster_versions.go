package sim

import (
	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/record"
)

// raised is the context of the entry that lets the log have newer commands (ADR 175): those of the newest kind, and of the
// newest rules. An older program does not know them.
const raised = "newer"

// greeting is the state of another node at the last connection: the lives of both, whether the other one's program was the
// newer, and whether its log could have newer commands.
type greeting struct {
	lives          [2]uint64
	newer, allowed bool
}

// isNewer reports whether a command needs the newer program: the older one knows neither the newest kind of record nor
// the newest rules.
func isNewer(c *bourse.Command) bool {
	kind, rules := record.Needs(c)
	return kind >= bourse.LastCommandKind || rules >= bourse.CurrentRules
}

// install draws the program of a node's next life. Once the log may have newer commands, the older program does not start,
// and its operators install the newer.
func (n *member) install() {
	switch back := n.newer && n.world.chance.percent(30); {
	case n.allowed && back:
		n.world.counts.Outdated++
	case back && !n.world.calm:
		n.newer = false
		n.world.counts.Back++
	case n.allowed || n.world.chance.percent(60):
		n.newer = true
	}
}

// upgrading lets an operator ask a leader to let the log have newer commands. The leader refuses unless each other node
// ran the newer program at the last connection.
func (w *cluster) upgrading() {
	n := w.leader()
	if n == nil || n.before != nil || w.lost != nil || n.allowed || !n.newer || !w.chance.oneIn(w.shape.upgrade) {
		return
	}
	for _, other := range w.running() {
		if other != n && !w.wire.greeted[number(n.id)-1][number(other.id)-1].newer {
			return
		}
	}
	c := single(raftpb.ConfChangeUpdateNode, n.id)
	c.Context = []byte(raised)
	if n.log.Change(c) == nil {
		w.raisedBehind = w.starts
		w.trail.note("%d: node %d asks for the newer version", w.now, n.id)
	}
}

// allow notes that the log may have newer commands from now on. A node keeps that durably.
func (n *member) allow() {
	if !n.allowed {
		n.world.counts.Upgraded++
	}
	n.allowed = true
}

// meet lets a node take a message if each end's program knows all commands that the other's log may have. The ends compare once,
// when they connect. A program that is too old ends, and comes back as the newer one. From is nil once it has left.
func (w *cluster) meet(from, to *member) bool {
	if from == nil {
		return true
	}
	there, here := &w.wire.greeted[number(from.id)-1][number(to.id)-1], &w.wire.greeted[number(to.id)-1][number(from.id)-1]
	if lives := [2]uint64{to.started, from.started}; here.lives != lives {
		if from.log == nil {
			return false
		}
		*here = greeting{lives, from.newer, from.allowed}
		*there = greeting{[2]uint64{from.started, to.started}, to.newer, to.allowed}
		for _, pair := range [][2]*member{{from, to}, {to, from}} {
			if old := pair[0]; pair[1].allowed && !old.newer {
				old.outdated()
				return false
			}
		}
	}
	return true
}

// met ends a program that has met a command which it does not know. That happens only to one that was started after its
// predecessor had announced the newer program, and that connected to a node which had not applied the entry yet.
func (n *member) met() {
	excused := false
	for _, g := range n.world.wire.greeted[number(n.id)-1] {
		excused = excused || g.lives[0] == n.started && !g.allowed
	}
	if !excused || n.started <= n.world.raisedBehind {
		fail("node %d has a command that its program does not know", n.id)
	}
	n.outdated()
}

// outdated ends an older program that has met a newer command, or a node that may send one.
func (n *member) outdated() {
	n.world.counts.Outdated++
	n.world.trail.note("%d: node %d is outdated", n.world.now, n.id)
	n.die(false)
	n.newer = true
}
