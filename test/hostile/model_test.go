package hostile

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// act is an operation on the only level of a market. All its orders are of one account,
// at one price, for one unit.
type act uint8

const (
	// place adds an order behind the others.
	place act = iota + 1
	// cancel removes an order at any place.
	cancel
	// take buys one unit: it fills the oldest order or is killed.
	take
	// depth reads the amount in the book.
	depth
	// held reads the account's locked amount.
	held
	// list reads the account's open orders.
	list
	// look reads the state of an order.
	look
)

var acts = [...]string{place: "place", cancel: "cancel", take: "take", depth: "depth", held: "held", list: "list", look: "look"}

// input is an operation, told its answer.
type (
	input struct {
		act  act
		obid uint64
	}
	told struct {
		// yes is the answer of cancel and take; of look, whether the order is open.
		yes bool
		// obid is the answer of place, many that of depth and held.
		obid, many uint64
		// open is the answer of list, newest first.
		open []uint64
	}
)

// queue is a state of the level: the ids of its orders, oldest first, eight bytes each,
// after the highest id so far and the number of changes of the level.
type queue string

func (q queue) ids() []uint64 {
	var ids []uint64
	for b := []byte(q); len(b) > 0; b = b[8:] {
		ids = append(ids, binary.BigEndian.Uint64(b))
	}
	return ids
}

func queueOf(highest, changes uint64, ids []uint64) queue {
	b := binary.BigEndian.AppendUint64(nil, highest)
	b = binary.BigEndian.AppendUint64(b, changes)
	for _, id := range ids {
		b = binary.BigEndian.AppendUint64(b, id)
	}
	return queue(b)
}

// pageSize is the number of orders in a list.
const pageSize = 50

// step reports whether an answer is possible in a state, and returns the next state.
func (q queue) step(in input, out told) (bool, queue) {
	all := q.ids()
	highest, changes, ids := all[0], all[1], all[2:]
	at := slices.Index(ids, in.obid)
	switch in.act {
	case place:
		return out.obid > highest, queueOf(out.obid, changes+1, append(ids, out.obid))
	case cancel:
		if at >= 0 {
			return out.yes, queueOf(highest, changes+1, slices.Delete(ids, at, at+1))
		}
		return !out.yes, q
	case take:
		if len(ids) > 0 {
			return out.yes, queueOf(highest, changes+1, ids[1:])
		}
		return !out.yes, q
	case depth, held:
		return out.many == uint64(len(ids)), q
	case look:
		return out.yes == (at >= 0), q
	default: // list
		slices.Reverse(ids)
		return slices.Equal(out.open, ids[:min(len(ids), pageSize)]), q
	}
}

// levelModel is the model of histories. heard are the amounts of the level after each
// change in the stream, with which the linearization must agree.
func levelModel(heard []uint64) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return queueOf(0, 0, nil) },
		Step: func(state, in, out any) (bool, any) {
			before := state.(queue)
			ok, after := before.step(in.(input), out.(told))
			if n := after.ids()[1]; ok && after != before {
				ok = n <= uint64(len(heard)) && heard[n-1] == uint64(len(after.ids())-2)
			}
			return ok, after
		},
		DescribeOperation: func(in, out any) string { return fmt.Sprintf("%s %+v: %+v", acts[in.(input).act], in, out) },
		DescribeState:     func(state any) string { return fmt.Sprint(state.(queue).ids()) },
	}
}

// checkWithin is the timeout of checking a history.
const checkWithin = 20 * time.Second

// TestModel checks that the model rejects impossible histories. Each history is a line of
// sequential operations.
func TestModel(t *testing.T) {
	good := []porcupine.Operation{}
	add := func(history []porcupine.Operation, in input, out told) []porcupine.Operation {
		n := int64(len(history))
		return append(slices.Clone(history), porcupine.Operation{Input: in, Output: out, Call: 2 * n, Return: 2*n + 1})
	}
	good = add(good, input{act: place}, told{obid: 7})
	good = add(good, input{act: place}, told{obid: 9})
	good = add(good, input{act: take}, told{yes: true})
	heard := []uint64{1, 2, 1, 0}
	for _, c := range []struct {
		why string
		in  input
		out told
		ok  bool
	}{
		{"the second one is left", input{act: list}, told{open: []uint64{9}}, true},
		{"the first one was older", input{act: list}, told{open: []uint64{7}}, false},
		{"one is left", input{act: depth}, told{many: 1}, true},
		{"money is held for a sold one", input{act: held}, told{many: 2}, false},
		{"a sold one cannot be canceled", input{act: cancel, obid: 7}, told{yes: true}, false},
		{"the other one can", input{act: cancel, obid: 9}, told{yes: true}, true},
		{"there is one to take", input{act: take}, told{yes: false}, false},
		{"ids rise", input{act: place}, told{obid: 8}, false},
		{"a sold one is not open", input{act: look, obid: 7}, told{yes: true}, false},
	} {
		if got := porcupine.CheckOperations(levelModel(heard), add(good, c.in, c.out)); got != c.ok {
			t.Errorf("%s: %v", c.why, got)
		}
	}
	for _, other := range [][]uint64{nil, {1, 2}, {1, 1, 1}, {1, 2, 2}} {
		if porcupine.CheckOperations(levelModel(other), good) {
			t.Errorf("the stream showed %d", other)
		}
	}
	if !strings.Contains(levelModel(nil).DescribeOperation(input{act: take}, told{yes: true}), "take") {
		t.Error("operations have no names")
	}
}
