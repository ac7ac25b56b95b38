package sequencer_test

import (
	"errors"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

// manyOrders is the number of orders that take three commands to cancel.
const manyOrders = 2*engine.MaxSteps + 500

// newQuoter returns an exchange whose account 1 has manyOrders open orders, and a switch
// that arm arms.
func newQuoter(t *testing.T, arm *bourse.Command) *rig {
	t.Helper()
	r := newRig(t)
	for i := range manyOrders {
		r.submit(place(1, bourse.Price(200+i), 1))
	}
	r.submit(arm)
	r.settle()
	return r
}

// sweep returns an order that takes everything there is.
func sweep() *bourse.Command {
	return &bourse.Command{Kind: bourse.CommandPlace, Account: 2, NewOrder: bourse.NewOrder{
		Market: 1, Side: bourse.Buy, Type: bourse.Limit, TIF: bourse.IOC, Price: 1e6, Lots: 2 * manyOrders,
	}}
}

// traded returns the filled amount of an order, which must have been accepted.
func (r *rig) traded(order *sequencer.Ticket) bourse.Lots {
	r.t.Helper()
	got := r.result(order)
	if got.Err != nil || got.Outcome.Reason != 0 {
		r.t.Fatalf("an order was answered %+v", got)
	}
	return got.Outcome.Filled
}

// TestStartCancelsBeforeOrders restarts with a connection whose close cancels more orders
// than a command can, or with a switch that expired meanwhile. An order of another account
// trades with none of them.
func TestStartCancelsBeforeOrders(t *testing.T) {
	for name, arm := range map[string]*bourse.Command{
		"connection": {Kind: bourse.CommandCancelOnClose, Account: 1},
		"time":       {Kind: bourse.CommandCancelAfter, Account: 1, Hold: bourse.Second},
	} {
		t.Run(name, func(t *testing.T) {
			r := newQuoter(t, arm)
			r.now += bourse.Minute
			r.start(engine.New())
			order, single := r.submit(sweep()), r.submit(cancel(1, 1))
			if err := r.Drain(r.now); err != nil {
				t.Fatal(err)
			}
			if filled := r.traded(order); filled != 0 || r.engine.OpenOrders() != 0 {
				t.Errorf("the order traded %d, %d orders are open", filled, r.engine.OpenOrders())
			}
			r.result(single)

			after := r.submit(place(2, 200, 1))
			r.settle()
			r.traded(after)
		})
	}
}

// TestStartCancelsBeforeOrdersAfterLoss loses the first command of a process, while an
// order waits.
func TestStartCancelsBeforeOrdersAfterLoss(t *testing.T) {
	r := newQuoter(t, &bourse.Command{Kind: bourse.CommandCancelOnClose, Account: 1})
	r.start(engine.New())
	order := r.submit(sweep())
	r.log.Hold()
	r.write()
	r.log.ChangeTerm(nil)
	r.log.Release()
	r.settle()
	if filled := r.traded(order); filled != 0 {
		t.Errorf("the order traded %d", filled)
	}
}

// TestInstallCancelsBeforeOrders installs a snapshot with a connection whose close cancels more
// orders than a command can, whether or not the process began with another one whose first
// command is under way. An order of another account trades with none of them.
func TestInstallCancelsBeforeOrders(t *testing.T) {
	for name, own := range map[string]bool{"a calm start": false, "a start under way": true} {
		t.Run(name, func(t *testing.T) {
			ahead := newQuoter(t, &bourse.Command{Kind: bourse.CommandCancelOnClose, Account: 2})
			ahead.submit(&bourse.Command{Kind: bourse.CommandCancelOnClose, Account: 1})
			ahead.settle()
			other := ahead.engine
			r := newRig(t)
			r.load = func(bourse.Seq) (sequencer.Section, error) { return sections(other), nil }
			if own {
				r.submit(&bourse.Command{Kind: bourse.CommandCancelOnClose, Account: 2})
				r.settle()
				r.start(engine.New())
				r.log.Hold()
				r.write()
			}
			r.log.Install(journal.Tip{Last: other.Seq(), Chain: journal.Hash{1}, Term: 9, Time: other.Now()})
			r.log.Release()
			for r.apply() {
				continue
			}
			order := r.submit(sweep())
			r.settle()
			if filled := r.traded(order); filled != 0 {
				t.Errorf("the order traded %d", filled)
			}
		})
	}
}

// TestStartOnAFullDisk starts without room for the first command: what waits for it is
// refused, and nothing overtakes it once there is room.
func TestStartOnAFullDisk(t *testing.T) {
	r := newQuoter(t, &bourse.Command{Kind: bourse.CommandCancelOnClose, Account: 1})
	r.start(engine.New())
	r.log.SetFull(true)
	waiting := []*sequencer.Ticket{r.submit(sweep()), r.submit(cancel(1, 1))}
	for range 10 {
		r.write()
		r.apply()
	}
	for _, ticket := range waiting {
		if got := r.result(ticket); !errors.Is(got.Err, sequencer.ErrNoRoom) {
			t.Errorf("without room: %+v", got)
		}
	}
	if !r.Idle() {
		t.Error("commands wait for room")
	}

	order := r.submit(sweep())
	r.log.SetFull(false)
	r.settle()
	if resolved(order) {
		t.Error("an order came before the cancels")
	}
	r.now += bourse.Second
	r.settle()
	if filled := r.traded(order); filled != 0 || r.engine.OpenOrders() != 0 {
		t.Errorf("the order traded %d, %d orders are open", filled, r.engine.OpenOrders())
	}
}
