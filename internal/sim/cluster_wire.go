package sim

import (
	"slices"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// links is the network between the nodes.
type links struct {
	// flying are the messages on their way, in the order of sending.
	flying []letter
	// cut is the time until which no message of a node reaches another.
	cut [places][places]micros
	// greeted has each node's greeting of each other one.
	greeted [places][places]greeting
}

// letter is a message on its way.
type letter struct {
	due      micros
	from, to uint64
	bytes    []byte
}

// post sends messages of a node: each is lost, delayed, or on its way twice.
func (w *cluster) post(messages []*raftpb.Message) {
	for _, m := range messages {
		b, err := proto.Marshal(m)
		want(err, "encoding a message")
		w.trail.mark(uint64(m.GetType()), m.GetFrom(), m.GetTo(), m.GetTerm(), m.GetIndex(), m.GetCommit())
		for {
			w.dispatch(letter{from: m.GetFrom(), to: m.GetTo(), bytes: b})
			if w.calm || !w.chance.percent(w.shape.twice) {
				break
			}
			w.counts.Twice++
		}
	}
}

func (w *cluster) dispatch(l letter) {
	switch {
	case w.wire.cut[number(l.from)-1][number(l.to)-1] > w.now:
		return
	case !w.calm && w.chance.percent(w.shape.lost):
		w.counts.Lost++
		return
	}
	l.due = w.now + micros(w.chance.Below(uint64(w.shape.flight)))
	if w.chance.percent(2) {
		l.due += 20 * w.shape.flight
	}
	w.wire.flying = append(w.wire.flying, l)
}

// deliver hands over the messages that are due.
func (x *links) deliver(w *cluster) {
	x.flying = slices.DeleteFunc(x.flying, func(l letter) bool {
		if l.due > w.now {
			return false
		}
		if n := w.at(l.to); n != nil && n.log != nil && w.meet(w.at(l.from), n) {
			m := new(raftpb.Message)
			want(proto.Unmarshal(l.bytes, m), "decoding a message")
			want(n.log.Receive(m), "handing over a message")
		}
		return true
	})
}

// heal ends all cuts.
func (x *links) heal() { x.cut = [places][places]micros{} }
