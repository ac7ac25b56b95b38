package sequencer_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

func TestTicksMoveTimeWhenNothingElseDoes(t *testing.T) {
	r := newRig(t)
	sleep := bourse.Time(0)
	for range 5 {
		sleep = r.write()
		r.apply()
	}
	if r.seen.frames != 0 || sleep <= 0 || sleep > bourse.Second {
		t.Fatalf("%d frames, and a sleep of %d", r.seen.frames, sleep)
	}
	start := r.now
	r.now = start + bourse.Second - 1
	r.settle()
	if r.seen.frames != 0 {
		t.Error("a tick came early")
	}
	r.now = start + bourse.Second
	r.settle()
	if kinds := r.seen.kinds(); !slices.Equal(kinds, []bourse.CommandKind{bourse.CommandTick}) {
		t.Fatalf("after a second: %v", kinds)
	}
	if r.engine.Now() != r.now {
		t.Errorf("engine time is %d at %d", r.engine.Now(), r.now)
	}
	// A command moves time as well.
	r.now += bourse.Second
	r.submit(note("x"))
	r.settle()
	r.now += bourse.Second - 1
	r.settle()
	if kinds := r.seen.kinds(); len(kinds) != 2 || kinds[1] != bourse.CommandNote {
		t.Errorf("a tick beside a command: %v", kinds)
	}
	// A clock set back moves nothing.
	r.now -= bourse.Minute
	r.submit(note("x"))
	r.settle()
	if want := r.now + bourse.Minute - bourse.Second + 1; r.engine.Now() != want {
		t.Errorf("engine time went to %d, not %d", r.engine.Now(), want)
	}
}

func TestWatermark(t *testing.T) {
	r := newRig(t)
	r.settle()
	before := r.log.Marks()
	r.submit(note("x"))
	r.settle()
	if sleep := r.write(); sleep != 5000 {
		t.Errorf("the writer sleeps for %d", sleep)
	}
	r.now += 4999
	r.write()
	if r.log.Marks() != before {
		t.Error("the watermark was written early")
	}
	r.now++
	r.write()
	r.now += 5000
	r.write()
	if r.log.Marks() != before+1 {
		t.Errorf("the watermark was written %d times", r.log.Marks()-before)
	}
}

func TestContinue(t *testing.T) {
	r := newRig(t)
	const orders = 2*engine.MaxSteps + 500
	for i := range orders {
		r.submit(place(1, bourse.Price(200+i), 1))
	}
	r.settle()
	if r.engine.OpenOrders() != orders {
		t.Fatalf("%d open orders", r.engine.OpenOrders())
	}
	all := r.submit(&bourse.Command{Kind: bourse.CommandCancelAll, Account: 1})
	for !resolved(all) {
		r.write()
		r.apply()
	}
	if left := r.engine.OpenOrders(); left != orders-engine.MaxSteps {
		t.Fatalf("one command canceled %d orders", orders-left)
	}
	r.settle() // at the same time
	if r.engine.OpenOrders() != 0 || r.engine.Unfinished() {
		t.Errorf("%d orders were left open", r.engine.OpenOrders())
	}
	for _, kind := range r.seen.kinds()[orders+1:] {
		if kind != bourse.CommandContinue {
			t.Errorf("a command of kind %d", kind)
		}
	}
	if err := r.engine.Check(); err != nil {
		t.Error(err)
	}
}

// TestContinueAfterLoss shows that an unfinished command is continued although the term
// changed.
func TestContinueAfterLoss(t *testing.T) {
	r := newRig(t)
	for i := range engine.MaxSteps + 1 {
		r.submit(place(1, bourse.Price(200+i), 1))
	}
	r.submit(&bourse.Command{Kind: bourse.CommandNote, Text: "x"})
	r.settle()
	r.submit(&bourse.Command{Kind: bourse.CommandCancelAll, Account: 1})
	for r.engine.OpenOrders() > 1 {
		r.write()
		r.apply()
	}
	r.log.Hold()
	r.write()
	r.log.ChangeTerm(nil)
	r.log.Release()
	r.settle()
	if r.engine.OpenOrders() != 0 {
		t.Errorf("%d orders were left open", r.engine.OpenOrders())
	}
}

// TestStartClosesConnections restarts with connections whose close was not journaled,
// twice: there is nothing left to close then.
func TestStartClosesConnections(t *testing.T) {
	r := newRig(t)
	r.submit(place(1, 200, 1))
	r.submit(&bourse.Command{Kind: bourse.CommandCancelOnClose, Account: 1})
	r.submit(&bourse.Command{Kind: bourse.CommandCancelOnClose, Account: 2})
	r.settle()
	r.submit(&bourse.Command{Kind: bourse.CommandConnectionClosed, Account: 2, Connection: 2})
	r.settle()

	for _, want := range []int{1, 1} {
		r.start(engine.New())
		armed := r.submit(&bourse.Command{Kind: bourse.CommandCancelOnClose, Account: 2})
		r.submit(place(2, 300, 1))
		r.settle()
		closed := 0
		for _, c := range r.seen.commands {
			if c.Kind == bourse.CommandConnectionClosed && c.Account == 0 {
				closed++
			}
		}
		if closed != want || r.engine.OpenOrders() != 1 {
			t.Fatalf("%d starts closed connections, %d open orders", closed, r.engine.OpenOrders())
		}
		r.submit(&bourse.Command{
			Kind: bourse.CommandConnectionClosed, Account: 2, Connection: bourse.ConnectionID(r.result(armed).Outcome.ID),
		})
		r.settle()
		if r.engine.OpenOrders() != 0 {
			t.Fatal("the connection of this process was closed by its start")
		}
	}
}

// TestStartClosesConnectionsAfterLoss loses the first command of a process.
func TestStartClosesConnectionsAfterLoss(t *testing.T) {
	r := newRig(t)
	r.submit(place(1, 200, 1))
	r.submit(&bourse.Command{Kind: bourse.CommandCancelOnClose, Account: 1})
	r.settle()
	r.start(engine.New())
	r.log.Hold()
	r.write()
	r.log.ChangeTerm(nil)
	r.log.Release()
	r.settle()
	if r.engine.OpenOrders() != 0 || r.engine.Connections() != 0 {
		t.Errorf("%d open orders, connection %d armed", r.engine.OpenOrders(), r.engine.Connections())
	}
}

// TestBusy shows that a busy log delays commands and loses none.
func TestBusy(t *testing.T) {
	r := newRig(t)
	r.log.Hold()
	var tickets []*sequencer.Ticket
	for range 100 {
		tickets = append(tickets, r.submit(note("x")))
		if r.write() == 0 {
			t.Fatal("the writer spins")
		}
	}
	for _, ticket := range tickets {
		if resolved(ticket) {
			t.Fatal("a ticket was resolved")
		}
	}
	r.log.Release()
	r.settle()
	for i, ticket := range tickets {
		if got := r.result(ticket); got.Err != nil || i > 0 && got.Seq != tickets[i-1].Seq+1 {
			t.Fatalf("command %d became %+v", i, got)
		}
	}
}

func TestBusyWriterIsWoken(t *testing.T) {
	r := newRig(t)
	for range 100 {
		r.submit(note("x"))
		r.write()
	}
	drainWake(r)
	if sleep := r.write(); sleep == 0 {
		t.Fatal("the writer spins while nobody applies")
	}
	if !r.apply() {
		t.Fatal("there is nothing to apply")
	}
	select {
	case <-r.Wake():
	default:
		t.Error("the writer was not told that there is room")
	}
}

func drainWake(r *rig) {
	select {
	case <-r.Wake():
	default:
	}
}

func TestSubmitWakesOnce(t *testing.T) {
	r := newRig(t)
	r.settle()
	drainWake(r)
	r.submit(note("x"))
	select {
	case <-r.Wake():
	default:
		t.Fatal("the writer was not told")
	}
	r.submit(note("x"))
	select {
	case <-r.Wake():
		t.Error("the writer was told twice")
	default:
	}
}

// TestFailureAnswersNobody shows that no answer is given when durability is unknown.
func TestFailureAnswersNobody(t *testing.T) {
	r := newRig(t)
	ticket := r.submit(note("x"))
	cause := errors.New("sync failed")
	r.log.Fail(cause)
	for range 3 {
		if _, err := r.Write(r.now); !errors.Is(err, cause) {
			t.Fatalf("Write: %v", err)
		}
		if r.apply() {
			t.Fatal("something was applied")
		}
	}
	if resolved(ticket) || r.Idle() {
		t.Error("somebody was answered")
	}
}

// TestNoRoom fills the journal's disk: client commands are refused without effect, the
// sequencer's own wait for a tick instead of looping, and both continue once there is
// room.
func TestNoRoom(t *testing.T) {
	r := newRig(t)
	orders := make([]*sequencer.Ticket, engine.MaxOpenOrders)
	for i := range orders {
		orders[i] = r.submit(place(1, bourse.Price(1000+i), 1))
	}
	r.settle()
	last := r.Applied()
	r.submit(&bourse.Command{Kind: bourse.CommandCancelAll, Account: 1})
	for r.Applied() == last {
		r.write()
		r.apply()
	}
	if !r.engine.Unfinished() {
		t.Fatal("the cancel-all was done at once")
	}

	r.log.SetFull(true)
	last = r.Applied()
	ticket := r.submit(note("refused"))
	for range 10 {
		r.write()
		r.apply()
	}
	if got := r.result(ticket); !errors.Is(got.Err, sequencer.ErrNoRoom) || r.Applied() != last {
		t.Fatalf("a command without room: %+v, applied to %d of %d", got, r.Applied(), last)
	}
	if sleep := r.write(); sleep == 0 || !r.Idle() {
		t.Fatalf("the writer sleeps for %d, idle %t", sleep, r.Idle())
	}

	r.log.SetFull(false)
	r.now += bourse.Second
	r.settle()
	if r.engine.Unfinished() {
		t.Fatal("with room again the cancel-all did not go on")
	}
	if got := r.result(orders[0]); got.Err != nil {
		t.Fatal(got.Err)
	}
	ticket = r.submit(note("taken"))
	r.settle()
	if got := r.result(ticket); got.Err != nil {
		t.Fatalf("with room again: %v", got.Err)
	}
	if slices.Contains(r.seen.texts(), "refused") {
		t.Error("what was refused has happened")
	}
}
