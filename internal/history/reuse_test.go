package history

import (
	"testing"

	"github.com/bourse-exchange/bourse"
)

// TestTailReusesWhatNobodySees runs a tail far beyond its bound: what a reader
// holds stays as it was, and without readers the memory goes around.
func TestTailReusesWhatNobodySees(t *testing.T) {
	tail := NewTail(80)
	cmd := bourse.Command{Kind: bourse.CommandPlace}
	var ev bourse.Events
	ev.AddOrder(bourse.EventOrderClosed)
	run := func() {
		for range 1000 {
			cmd.Seq++
			ev.Orders[0].Ordinal = uint64(cmd.Seq)
			tail.Begin()
			tail.Observe(&cmd, &ev)
			tail.End()
		}
	}
	run()
	for range 20 {
		cmd.Seq++
		tail.Observe(&cmd, &ev)
		tail.End()
		g, want := tail.glimpse(), cmd.Seq
		rows := 0
		for _, c := range g.chunks {
			rows += len(c.Orders)
		}
		run()
		for i := len(g.chunks) - 1; i >= 0; i-- {
			for j := len(g.chunks[i].Orders) - 1; j >= 0; j, want, rows = j-1, want-1, rows-1 {
				if got := g.chunks[i].Orders[j].Seq; got != want {
					t.Fatalf("a row of command %d became one of %d", want, got)
				}
			}
		}
		if rows != 0 {
			t.Fatalf("%d rows are gone", rows)
		}
	}
	// Each 11 rows make a header, and the list of chunks twice; new rows would be one more.
	if n := testing.AllocsPerRun(5, run); n > 300 {
		t.Errorf("1,000 rows that nobody reads took %v allocations", n)
	}
}

// TestTailHoldsWhatTheStoreMisses replays a past that the store has most of.
func TestTailHoldsWhatTheStoreMisses(t *testing.T) {
	tail := NewTail(1000)
	tail.Stored(Cursor{Seq: 500})
	cmd := bourse.Command{Kind: bourse.CommandPlace}
	var ev bourse.Events
	ev.AddOrder(bourse.EventOrderClosed)
	for cmd.Seq < 600 {
		if cmd.Seq == 540 {
			tail.Stored(Cursor{Seq: 560}) // ahead: no reason for a gap
		}
		tail.Begin()
		for range 6 { // 500 is within a frame
			cmd.Seq++
			tail.Observe(&cmd, &ev)
		}
		tail.End()
	}
	g, next := tail.glimpse(), bourse.Seq(501)
	if g.begin != 500 {
		t.Errorf("rows up to %d may be missing", g.begin)
	}
	for _, c := range g.chunks {
		for _, o := range c.Orders {
			if o.Seq != next {
				t.Fatalf("a row of command %d stands where %d is missed", o.Seq, next)
			}
			next++
		}
	}
	if next != 601 {
		t.Errorf("the rows from %d on are not here", next)
	}
}
