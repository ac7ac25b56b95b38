package sim

import (
	"errors"
	"fmt"
	"sort"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
	"github.com/bourse-exchange/bourse/internal/record"
)

// agreed is the truth of a cluster: every batch that any node yielded, in order, and its
// effect on an exchange that never stops.
type agreed struct {
	pair     *enginetest.Pair
	workload *enginetest.Workload
	past     []agreedBatch
	// promises are the last commands acknowledged, with the terms of their batches.
	promises []promise
	acked    uint64
	// known is the last command that clients have seen an effect of.
	known bourse.Seq
	// leaders are the leaders by term; opened is the last term that was seen open.
	leaders map[uint64]uint64
	opened  uint64
	// voters are the voters at the entries up to which nodes had applied the log.
	voters map[uint64][]uint64
}

type agreedBatch struct {
	first, last bourse.Seq
	chain       journal.Hash
}

type promise struct {
	term uint64
	last bourse.Seq
}

// fate is a client's knowledge of a batch.
type fate int

const (
	flying fate = iota
	acked
	dropped
	unknown
)

// sent is a batch that a client sent.
type sent struct {
	node     *member
	id       uint64
	commands string
	state    fate
	// committed is true once a node has yielded the batch.
	committed bool
}

// last returns the last command that any node yielded.
func (a *agreed) last() bourse.Seq {
	if len(a.past) == 0 {
		return 0
	}
	return a.past[len(a.past)-1].last
}

// find returns the index of the batch with a command that was committed.
func (a *agreed) find(seq bourse.Seq) int {
	return sort.Search(len(a.past), func(i int) bool { return a.past[i].last >= seq })
}

// has reports whether a journal's tip is that behind a batch which was committed.
func (a *agreed) has(tip *journal.Tip) bool {
	i := a.find(tip.Last)
	return i < len(a.past) && a.past[i].last == tip.Last && a.past[i].chain == tip.Chain
}

// see compares a batch with the truth, which learns a new one.
func (a *agreed) see(n *member, b *journal.Batch) {
	n.world.trail.mark(n.id, uint64(b.First), b.Term, uint64(b.Time))
	if b.First > a.last() {
		n.learn(b)
		return
	}
	if was := a.past[a.find(b.First)]; was.first != b.First || was.chain != b.Chain {
		fail("node %d has another batch at command %d than was committed", n.id, b.First)
	}
}

// learn applies a batch for the first time.
func (n *member) learn(b *journal.Batch) {
	w := n.world
	a := w.truth
	if b.First != a.last()+1 {
		fail("node %d has committed command %d, and %d is the last one of the others", n.id, b.First, a.last())
	}

	s := w.find(string(b.Commands))
	switch {
	case s == nil:
		fail("nobody has sent the batch at command %d", b.First)
	case s.committed:
		fail("the batch at command %d is committed for the second time", b.First)
	case s.state == dropped:
		fail("the batch at command %d was said to be dropped", b.First)
	}
	s.committed = true

	a.past = append(a.past, agreedBatch{b.First, b.Last(), b.Chain})
	each(b, func(cmd *bourse.Command) error {
		own := *cmd
		return a.pair.Apply(&own)
	})
}

// find returns the batch that a client sent as these commands.
func (w *cluster) find(commands string) *sent {
	for _, s := range w.proposed {
		if s.commands == commands {
			return s
		}
	}
	return nil
}

// send lets a client send a batch to a node that takes proposals, as far as the client knows.
func (w *cluster) send() {
	count := w.chance.between(1, w.shape.burst)
	if w.truth.last() == 0 {
		if n := len(w.proposed); n > 0 && w.proposed[n-1].state == flying {
			return
		}
	}
	nodes := w.running()
	n := nodes[w.chance.Below(uint64(len(nodes)))]
	if !n.awake() || n.before != nil || !n.log.Status().Open {
		return
	}
	w.propose(n, int(count))
	for range w.chance.Below(w.shape.together) {
		if w.truth.last() > 0 {
			w.propose(n, int(w.chance.between(1, w.shape.burst)))
		}
	}
}

// sendLast sends one more batch to the leader, and returns its tag, zero if none was taken.
func (w *cluster) sendLast() uint64 {
	before := len(w.proposed)
	w.propose(w.leader(), 1)
	if len(w.proposed) == before {
		return 0
	}
	return uint64(len(w.proposed))
}

// propose proposes commands, the first time those that found the exchange. The last one makes the batch unlike all others.
func (w *cluster) propose(n *member, count int) {
	var b []byte
	if w.truth.last() == 0 {
		// A batch that was dropped took the opening with it.
		w.truth.workload = enginetest.NewWorkload(newChance(uint64(len(w.proposed)), 2), w.truth.pair.Oracle)
		count = w.truth.workload.Opening()
	}
	added := 1
	for range count {
		cmd := w.truth.workload.Next()
		if !n.allowed && cmd.Genesis != nil {
			older := *cmd.Genesis
			older.Rules--
			cmd.Genesis = &older
		}
		if n.allowed || !isNewer(&cmd) {
			b = record.Append(b, &cmd)
			added++
		}
	}
	tag := uint64(len(w.proposed) + 1)
	b = record.Append(b, &bourse.Command{
		Kind: bourse.CommandCredit, Account: 1, AssetID: 1, Amount: bourse.Units(tag),
	})

	n.lastID++
	err := n.log.Propose(journal.Proposal{ID: n.lastID, Count: added, Time: n.commandTime(), Commands: b})
	switch {
	case errors.Is(err, journal.ErrBusy), errors.Is(err, journal.ErrNotLeader):
		n.lastID--
		return
	case err != nil:
		fail("node %d refuses a proposal: %w", n.id, err)
	}
	w.proposed = append(w.proposed, &sent{node: n, id: n.lastID, commands: string(b)})
}

// answered returns the batch that a notice answers.
func (w *cluster) answered(n *member, id uint64) *sent {
	for i := len(w.proposed) - 1; i >= 0; i-- {
		if s := w.proposed[i]; s.node == n && s.id == id && s.state == flying {
			return s
		}
	}
	fail("node %d answers proposal %d, which is not open", n.id, id)
	return nil
}

// acknowledge tells a client that its batch is committed.
func (w *cluster) acknowledge(n *member, id uint64, b *journal.Batch) {
	s := w.answered(n, id)
	if s.commands != string(b.Commands) {
		fail("proposal %d of node %d is answered with another batch", id, n.id)
	}
	s.state = acked
	w.counts.Acked++
	w.truth.acked++
	w.truth.know(b.Last())
	w.truth.promises = append(w.truth.promises, promise{b.Term, b.Last()})
}

// drop tells a client that its batch never was and never will be committed.
func (w *cluster) drop(n *member, id uint64) {
	s := w.answered(n, id)
	if s.committed {
		fail("proposal %d of node %d is committed, and was said to be dropped", id, n.id)
	}
	s.state = dropped
	w.counts.Dropped++
}

// forsake ends the open requests of a node's clients without an answer.
func (w *cluster) forsake(n *member) {
	for _, s := range w.proposed {
		if s.node == n && s.state == flying {
			s.state = unknown
			w.counts.Unknown++
		}
	}
}

// observe checks that a term has one leader, and that a leader which opens has everything
// that was acknowledged in earlier terms.
func (a *agreed) observe(n *member) {
	s := n.log.Status()
	if s.Role != raftlog.Leader {
		return
	}
	switch is, known := a.leaders[s.Term]; {
	case !known:
		a.leaders[s.Term] = n.id
		if n.world.heir == (heir{n.id, s.Term}) {
			n.world.counts.Handed++
		}
		n.world.counts.Elections++
		n.world.trail.note("%d: node %d leads term %d", n.world.now, n.id, s.Term)
	case is != n.id:
		fail("term %d has the leaders %d and %d", s.Term, is, n.id)
	}

	if !s.Open || s.Term <= a.opened {
		return
	}
	a.opened = s.Term
	for _, p := range a.promises {
		if p.term < s.Term && p.last > n.log.Durable() {
			fail("node %d opens term %d at command %d, and command %d was acknowledged",
				n.id, s.Term, n.log.Durable(), p.last)
		}
	}
}

// describe describes the nodes.
func (w *cluster) describe() string {
	text := fmt.Sprintf("the truth is at command %d", w.truth.last())
	for _, n := range w.running() {
		if n.log == nil {
			text += fmt.Sprintf("; node %d is down", n.id)
			continue
		}
		text += fmt.Sprintf("; node %d: %+v, durable %d", n.id, n.log.Status(), n.log.Durable())
	}
	return text
}
