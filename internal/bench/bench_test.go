package bench

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/bourse-exchange/bourse"
)

// small is a workload of n orders, each odd one of which matches the one before.
func small(orders int) *Workload {
	w := &Workload{users: 2}
	for i := range orders {
		w.measured = append(w.measured, item{
			kind: bourse.CommandPlace, side: bourse.Side(1 + i%2), typ: bourse.Limit, tif: bourse.GTC,
			account: bourse.AccountID(1 + i%2), price: 100_000, lots: 1,
		})
	}
	return w
}

// TestParse parses whole records of known types, and refuses others.
func TestParse(t *testing.T) {
	place, cancel := make([]byte, recordSize), make([]byte, recordSize)
	place[0], place[1], place[4], place[16], place[24] = addIOC, 1, 7, 8, 9
	cancel[0], cancel[4], cancel[8] = cancelOrder, 7, 3
	list, ok := parse(slices.Concat(place, cancel))
	want := []item{
		{kind: bourse.CommandPlace, side: bourse.Sell, typ: bourse.Limit, tif: bourse.IOC, account: 7, price: 8, lots: 9},
		{kind: bourse.CommandCancel, account: 7, order: 3},
	}
	if !ok || !slices.Equal(list, want) {
		t.Errorf("%+v, want %+v", list, want)
	}
	if _, ok := parse(cancel[1:]); ok {
		t.Error("a record that is not whole was taken")
	}
	cancel[0] = addMarket + 1
	if _, ok := parse(cancel); ok {
		t.Error("a record of an unknown type was taken")
	}
}

func TestDurable(t *testing.T) {
	r, err := Durable(small(500), t.TempDir(), 10_000, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if r.P50 <= 0 || r.P99 < r.P50 || r.P999 < r.P99 || r.Reached <= 0 || r.Anchor <= 0 {
		t.Errorf("%+v", *r)
	}
}

// TestRestart compares the restarted state with the writer's, and wants an error when an
// acknowledged command is missing.
func TestRestart(t *testing.T) {
	l, err := newLineAt(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := small(500)
	if err := errors.Join(l.all(these(w.opening())), l.all(items(w.measured)), l.halt(), l.Log.Close(), l.disk.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := restart(l.path, l.engine.Seq())
	if err != nil {
		t.Fatal(err)
	}
	if r.Hash != hash(l.engine) || r.Commands != uint64(l.engine.Seq()) {
		t.Errorf("%+v; the line ended at %d with %s", *r, l.engine.Seq(), hash(l.engine))
	}
	if _, err := restart(l.path, l.engine.Seq()+1); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a lost command: %v", err)
	}
}

func TestSnapshot(t *testing.T) {
	const pairs, orders = 2, 2000
	r, err := Snapshot(context.Background(), t.TempDir(), orders, Windows{Rate: 2000, Pairs: pairs, Each: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Quiet) != pairs || len(r.During) != pairs || len(r.Took) != pairs || r.Orders != orders || r.Rate != 2000 {
		t.Errorf("%+v", *r)
	}
	for _, measured := range slices.Concat(r.Quiet, r.During, r.Took, []float64{r.Ratio}) {
		if !(measured > 0) { // also false for NaN
			t.Errorf("%+v", *r)
		}
	}
	// The ratio is the median of the pairs' ratios, so it lies between them.
	low, high := r.During[0]/r.Quiet[0], r.During[1]/r.Quiet[1]
	if r.Ratio < min(low, high) || r.Ratio > max(low, high) {
		t.Errorf("%+v has pairs of %v and %v", *r, low, high)
	}
}

// TestHistory counts the rows of 500 orders: the end of each, 250 trades with two fills,
// the ledger entries of each side, and what webhooks are told.
func TestHistory(t *testing.T) {
	const backlog = 500
	w := small(2 * backlog)
	r, err := History(context.Background(), w, Place{Dir: t.TempDir()}, backlog, Windows{Rate: 2000, Pairs: 1, Each: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	credits := uint64(2 * w.users)
	bulletins := uint64(w.users + 1) // of the accounts, and of the market that opens
	if want := 2*credits + bulletins + backlog + backlog/2 + backlog + 2*backlog; r.Rows != want || r.Ratio <= 0 {
		t.Errorf("%+v; want %d rows", *r, want)
	}
}

// TestShares finds the part of a profile's time that goroutines with a label took.
func TestShares(t *testing.T) {
	sample := func(nanoseconds int64, parts ...string) *profile.Sample {
		return &profile.Sample{Value: []int64{1, nanoseconds}, Label: map[string][]string{"part": parts}}
	}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		Sample:     []*profile.Sample{sample(30, "history"), sample(60), sample(10, "other")},
	}
	var text bytes.Buffer
	if err := p.Write(&text); err != nil {
		t.Fatal(err)
	}
	if share, err := shareOf(text.Bytes(), "history"); err != nil || share != 0.3 {
		t.Errorf("the share is %v: %v", share, err)
	}
	if _, err := shareOf([]byte("no profile"), "history"); err == nil {
		t.Error("what is no profile is read")
	}
}

// TestWideRequests wants each request of a screen's load to change as many levels as it has orders.
func TestWideRequests(t *testing.T) {
	requests := wideRequests("key")
	for i, side := range []string{`"side":"BUY"`, `"side":"SELL"`} {
		if n := bytes.Count(requests[i], []byte(side)); n != screenBatch {
			t.Errorf("%d orders of %s", n, side)
		}
		prices := map[string]bool{}
		for _, part := range strings.Split(string(requests[i]), `"price":`)[1:] {
			price, _, _ := strings.Cut(part, ",")
			prices[price] = true
		}
		if want := []int{screenBatch, 1}[i]; len(prices) != want {
			t.Errorf("%d prices of %s, want %d", len(prices), side, want)
		}
	}
}
