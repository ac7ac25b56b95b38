package history_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

// noted applies commands that leave one row each.
func noted(n int) []bourse.Command {
	list := make([]bourse.Command, n)
	for i := range list {
		list[i] = bourse.Command{Kind: bourse.CommandNote, Text: "note"}
	}
	return list
}

func TestLagCountsOnlyWhatTheStoreMisses(t *testing.T) {
	r := newRig(1, 1000)
	r.follow(1)
	want := func(about string, commands uint64, span bourse.Time) {
		t.Helper()
		if n, s := r.tail.Lag(); n != commands || s != span {
			t.Errorf("%s: lag of %d commands and %d µs, want %d and %d", about, n, s, commands, span)
		}
	}
	want("at first", 0, 0)
	r.now += 5
	r.frame(bourse.Command{Kind: bourse.CommandTick}, bourse.Command{Kind: bourse.CommandTick})
	want("commands without rows", 0, 0)
	r.now += 5
	r.frame(noted(3)...)
	want("rows", 5, 10)
	r.follow(1)
	want("the ticks are stored", 3, 5)
	r.follow(1)
	want("all is stored", 0, 0)
}

func TestReadsOfDroppedRowsWaitForTheStore(t *testing.T) {
	r := newRig(1, 20)
	r.follow(1)
	for range 50 {
		r.frame(noted(2)...)
	}
	if list, err := r.reader.Notes(context.Background(), 0, 5); err != nil || len(list) != 5 {
		t.Errorf("%d notes (%v): the youngest are here", len(list), err)
	}
	_, err := r.reader.Notes(context.Background(), 0, 50)
	var e *bourse.Error
	if !errors.As(err, &e) || e.Code != bourse.CodeBehind {
		t.Fatalf("error %v, want one that names the lag", err)
	}
	r.reader.Patience = time.Minute
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.reader.Notes(gone, 0, 50); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v for somebody who left", err)
	}
	go r.follow(len(r.behind))
	if list, err := r.reader.Notes(context.Background(), 0, 50); err != nil || len(list) != 50 {
		t.Errorf("%d notes (%v) of one who waited", len(list), err)
	}
}

// TestReadsWaitForTheLastDroppedRow has the store come nearer row by row: a read
// fails until it has everything.
func TestReadsWaitForTheLastDroppedRow(t *testing.T) {
	r := newRig(1, 20)
	r.follow(1)
	for range 50 {
		r.frame(noted(1)...)
	}
	r.reader.Patience = time.Nanosecond
	refused := 0
	for ; len(r.behind) > 0; r.follow(1) {
		list, err := r.reader.Notes(context.Background(), 0, 60)
		switch {
		case err != nil:
			refused++
		case len(list) != 50:
			t.Fatalf("%d notes with %d commands behind", len(list), len(r.behind))
		}
	}
	if refused < 10 || refused > 45 {
		t.Errorf("%d reads were refused", refused)
	}
}

func TestListsWithoutOrdinalsRefuseDeepOffsets(t *testing.T) {
	r := newRig(1, 20)
	r.follow(1)
	ctx := context.Background()
	for name, read := range map[string]func(skip int) error{
		"transfers": func(skip int) error { _, err := r.reader.Transfers(ctx, 1, skip, 50); return err },
		"notes":     func(skip int) error { _, err := r.reader.Notes(ctx, skip, 50); return err },
	} {
		// Accounts without orders are asked nothing, so give this one some.
		r.frame(bourse.Command{Kind: bourse.CommandPlace, Account: 1, NewOrder: r.place(1)})
		r.follow(1)
		var e *bourse.Error
		if err := read(10_000); err != nil {
			t.Errorf("%s at 10,000: %v", name, err)
		}
		if err := read(10_001); !errors.As(err, &e) || e.Code != bourse.CodeInvalid {
			t.Errorf("%s at 10,001: %v", name, err)
		}
	}
}

// TestRestore takes a snapshot into another tail and view: what was before it
// comes from the store, what follows from the tail.
func TestRestore(t *testing.T) {
	r := newRig(3, 1<<20)
	for range 40 {
		r.frame(r.some(20)...)
		r.pass()
	}
	leaving, parked, state := r.view.Leaving(), r.view.Parked(), r.view.NetworkState(1)
	if len(leaving) == 0 || len(parked) == 0 || state.Tip.Height == 0 {
		t.Fatalf("the past is too short: %d, %d, %+v", len(leaving), len(parked), state)
	}
	r.restore(t)
	sameRows(t, "leaving", r.view.Leaving(), leaving, equal)
	sameRows(t, "parked", r.view.Parked(), parked, equal)
	if got := r.view.NetworkState(1); got != state {
		t.Errorf("network %+v, want %+v", got, state)
	}
	if r.check(t) {
		t.Error("reads of what is neither here nor stored did not fail")
	}
	for range 20 {
		r.frame(r.some(20)...)
	}
	r.follow(41)
	if r.check(t); t.Failed() {
		return
	}
	r.follow(len(r.behind))
	if !r.check(t) {
		t.Error("busy, although everything is stored")
	}
}

// TestProjectLeavesNothingOfARestore also holds the shape of a batch.
func TestProjectLeavesNothingOfARestore(t *testing.T) {
	var ev bourse.Events
	var b history.Batch
	ev.AddOrder(bourse.EventOrderClosed).ID = 1
	history.Project(&bourse.Command{Seq: 9, Time: 9}, &ev, &b)
	if b.From != 0 || b.Rows() != 0 {
		t.Errorf("a restore left %+v", b)
	}
	history.Project(&bourse.Command{Kind: bourse.CommandCancel, Seq: 10, Time: 9}, &ev, &b)
	history.Project(&bourse.Command{Kind: bourse.CommandTick, Seq: 11, Time: 12}, &bourse.Events{}, &b)
	if b.From != 10 || b.To != 11 || b.Time != 12 || b.Rows() != 1 || b.Orders[0].Seq != 10 || b.Orders[0].Closed != 9 {
		t.Errorf("the batch is %+v", b)
	}
	rejected := bourse.Events{}
	rejected.Reject(&bourse.Order{Account: 1}, bourse.Overflow)
	if history.Project(&bourse.Command{Kind: bourse.CommandPlace, Seq: 12}, &rejected, &b); b.Rows() != 1 {
		t.Error("a rejected order left a row")
	}
}
