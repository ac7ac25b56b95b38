package view

import (
	"bytes"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-exchange/bourse"
)

// TestVersionIsDescribed compares the version of the tape with docs/format/snapshot.md.
func TestVersionIsDescribed(t *testing.T) {
	page, err := os.ReadFile("../../docs/format/snapshot.md")
	if err != nil {
		t.Fatal(err)
	}
	row := fmt.Sprintf("| `%s` | %d |", TapeSection, tapeVersion)
	if !strings.Contains(string(page), row) {
		t.Errorf("the page has no row %s", row)
	}
}

// traded is a trade and its time, for the naive tape.
type traded struct {
	at bourse.Time
	bourse.Trade
}

// naive computes a ticker from all trades.
func naive(initial bourse.Price, trades []traded, now bourse.Time) Ticker {
	t := Ticker{Price: initial, Previous: initial, Trades: uint64(len(trades))}
	before := initial
	begin := now.Floor(bourse.Minute) - bourse.Day + bourse.Minute
	var day []traded
	for _, tr := range trades {
		if tr.Price != t.Price {
			t.Previous, t.Price = t.Price, tr.Price
		}
		if tr.at < begin {
			before = tr.Price
		} else {
			day = append(day, tr)
		}
	}
	t.High, t.Low = t.Price, t.Price
	for i, tr := range day {
		if i == 0 {
			t.High, t.Low = tr.Price, tr.Price
		}
		t.High, t.Low = max(t.High, tr.Price), min(t.Low, tr.Price)
		t.Volume = t.Volume.Plus(bourse.Units(uint64(tr.Lots)))
		t.Value = t.Value.Plus(tr.Total)
	}
	// Rounded half away from zero, in big rationals.
	diff := new(big.Rat).SetFrac64(100*(int64(t.Price)-int64(before)), int64(before))
	half := big.NewRat(1, 2)
	if diff.Sign() < 0 {
		half.Neg(half)
	}
	diff.Add(diff, half)
	t.Change = new(big.Int).Quo(diff.Num(), diff.Denom()).Int64()
	return t
}

// candle computes one bucket from all trades.
func naiveCandle(initial bourse.Price, trades []traded, res bourse.Resolution, now bourse.Time) Bucket {
	start, next := res.Floor(now), res.Add(res.Floor(now), 1)
	b := Bucket{Start: start}
	last := initial
	for _, tr := range trades {
		if tr.at < start {
			last = tr.Price
			continue
		}
		if tr.at < next {
			b.add(&tr.Trade)
		}
	}
	if b.Volume.IsZero() {
		b.Open, b.High, b.Low, b.Close = last, last, last, last
	}
	return b
}

func TestTapeAgreesWithAllTrades(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		initial := bourse.Price(rapid.Uint64Range(1, 200).Draw(t, "initial"))
		tape := NewTape()
		ev := new(bourse.Events)
		ev.AddFact(bourse.EventMarket, bourse.Fact{Market: &bourse.Market{ID: 1, InitialPrice: initial}})
		now := bourse.Time(1_700_000_000) * bourse.Second
		tape.Fold(&bourse.Command{Time: now}, ev, nil)
		var all []traded
		steps := rapid.SampledFrom([]bourse.Time{0, bourse.Second, bourse.Minute, bourse.Hour, 7 * bourse.Hour, bourse.Day, 3 * bourse.Day, 20 * bourse.Day})
		for range rapid.IntRange(1, 60).Draw(t, "commands") {
			now += steps.Draw(t, "step") + bourse.Time(rapid.Int64Range(0, int64(bourse.Minute)).Draw(t, "more"))
			ev.Reset()
			for range rapid.IntRange(0, 3).Draw(t, "trades") {
				tr := ev.AddTrade()
				*tr = bourse.Trade{
					Market: 1, Number: uint64(len(all) + 1),
					Price: bourse.Price(rapid.Uint64Range(1, 200).Draw(t, "price")),
					Lots:  bourse.Lots(rapid.Uint64Range(1, 9).Draw(t, "lots")), Total: bourse.Units(3),
				}
				all = append(all, traded{now, *tr})
			}
			var updates []Update
			tape.Fold(&bourse.Command{Time: now}, ev, &updates)
			if got, want := tape.markets[1].ticker(), naive(initial, all, now); got != want {
				t.Fatalf("ticker is %+v, want %+v", got, want)
			}
			checkUpdates(t, updates, initial, all, now)
			checkCurrent(t, tape.markets[1], initial, all, now)
			saved := snapshot(tape)
			again, err := RestoreTape(saved)
			if err != nil || !bytes.Equal(snapshot(again), saved) || again.markets[1].ticker() != tape.markets[1].ticker() {
				t.Fatalf("restored %v: %+v, want %+v", err, again.markets[1], tape.markets[1])
			}
			checkCurrent(t, again.markets[1], initial, all, now)
		}
	})
}

// TestRestoreTapeVersion wants older and newer versions of the format to be refused by name.
func TestRestoreTapeVersion(t *testing.T) {
	saved := snapshot(NewTape())
	for _, version := range []byte{1, saved[0] + 1} {
		saved[0] = version
		_, err := RestoreTape(saved)
		if want := fmt.Sprintf("tape version %d is not known", version); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("version %d is refused with %v", version, err)
		}
	}
}

func snapshot(t *Tape) (saved []byte) {
	t.Snapshot(func(b []byte) { saved = append(saved, b...) })
	return saved
}

// checkUpdates wants the last candle of each resolution to match all trades, and no
// candle to go back in time.
func checkUpdates(t *rapid.T, updates []Update, initial bourse.Price, all []traded, now bourse.Time) {
	last := map[bourse.Resolution]Bucket{}
	for _, u := range updates {
		if u.Kind != CandleChanged {
			continue
		}
		if len(all) == 0 {
			t.Fatal("a candle before the first trade")
		}
		if before, ok := last[u.Resolution]; ok && u.Candle.Start < before.Start {
			t.Fatal("a candle went back in time")
		}
		last[u.Resolution] = u.Candle
	}
	for res, got := range last {
		if want := naiveCandle(initial, all, res, now); res.Kept() == res && got != want {
			t.Fatalf("candle %s is %+v, want %+v", res, got, want)
		}
		if got.Start != res.Floor(now) {
			t.Fatalf("candle %s is %+v at %d", res, got, now)
		}
	}
}

// checkCurrent wants the current candle of each resolution to match all trades.
func checkCurrent(t *rapid.T, m *marketTape, initial bourse.Price, all []traded, now bourse.Time) {
	t.Helper()
	for res := bourse.Resolution1; res <= bourse.LastResolution && len(all) > 0; res++ {
		if got, want := m.candle(res, &m.candles[res.Kept()]), naiveCandle(initial, all, res, now); got != want {
			t.Fatalf("the current candle %s is %+v, want %+v", res, got, want)
		}
	}
}

func TestUpdatesFollowThePrice(t *testing.T) {
	tape := NewTape()
	ev := new(bourse.Events)
	ev.AddFact(bourse.EventMarket, bourse.Fact{Market: &bourse.Market{ID: 1, InitialPrice: 100}})
	tape.Fold(&bourse.Command{Time: bourse.Day}, ev, nil)
	kinds := func(now bourse.Time, prices ...bourse.Price) []UpdateKind {
		ev.Reset()
		for i, p := range prices {
			*ev.AddTrade() = bourse.Trade{Market: 1, Number: uint64(i + 1), Price: p, Lots: 1}
		}
		var list []UpdateKind
		var updates []Update
		tape.Fold(&bourse.Command{Time: now}, ev, &updates)
		for _, u := range updates {
			list = append(list, u.Kind)
		}
		return list
	}
	c := CandleChanged
	for _, step := range []struct {
		name string
		now  bourse.Time
		p    []bourse.Price
		want []UpdateKind
	}{
		{"nothing before the first trade", 2 * bourse.Day, nil, nil},
		{"the first trade at the initial price", 2 * bourse.Day, []bourse.Price{100}, []UpdateKind{VolumeChanged, c, c, c}},
		{"another price", 2 * bourse.Day, []bourse.Price{101}, []UpdateKind{TickerChanged, c, c, c}},
		{"a minute without trades", 2*bourse.Day + bourse.Minute, nil, []UpdateKind{c}},
		{"the minute is rolled once", 2*bourse.Day + bourse.Minute + 1, nil, nil},
		{"three minutes begin beside the fourth one", 2*bourse.Day + 3*bourse.Minute, nil, []UpdateKind{c, c}},
		{"a day later all but the week and the month is gone", 3 * bourse.Day, nil,
			append([]UpdateKind{VolumeChanged}, slices.Repeat([]UpdateKind{c}, 11)...)},
	} {
		if got := kinds(step.now, step.p...); !slices.Equal(got, step.want) {
			t.Errorf("%s: %v, want %v", step.name, got, step.want)
		}
	}
}

func TestPercentRoundsHalfAwayFromZero(t *testing.T) {
	for _, c := range []struct {
		price, before bourse.Price
		want          int64
	}{
		{100, 100, 0}, {1005, 1000, 1}, {1004, 1000, 0}, {995, 1000, -1}, {996, 1000, 0},
		{1, 200, -100}, {201, 200, 1}, {199, 200, -1}, {3, 1, 200},
		{bourse.MaxPrice, 1, 1<<63 - 1}, {1, bourse.MaxPrice, -100}, {bourse.MaxPrice, bourse.MaxPrice, 0},
	} {
		if got := percent(c.price, c.before); got != c.want {
			t.Errorf("percent(%d, %d) = %d, want %d", c.price, c.before, got, c.want)
		}
	}
}

func TestOldMinutesAreForgotten(t *testing.T) {
	tape := NewTape()
	ev := new(bourse.Events)
	ev.AddFact(bourse.EventMarket, bourse.Fact{Market: &bourse.Market{ID: 1, InitialPrice: 100}})
	tape.Fold(&bourse.Command{}, ev, nil)
	const days = 30
	for i := range days * 24 * 60 {
		ev.Reset()
		*ev.AddTrade() = bourse.Trade{Market: 1, Number: uint64(i + 1), Price: 100, Lots: 1}
		tape.Fold(&bourse.Command{Time: bourse.Time(i) * bourse.Minute}, ev, nil)
		if n := len(tape.markets[1].minutes); n > 2*49*60+2 {
			t.Fatalf("%d minutes are kept", n)
		}
	}
}

// TestCloses compares the hourly prices with those of all trades, over days with and without
// trades.
func TestCloses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, ev := New(), new(bourse.Events)
		ev.AddFact(bourse.EventMarket, bourse.Fact{Market: &bourse.Market{ID: 1, InitialPrice: 7}})
		now := bourse.Time(1_700_000_000) * bourse.Second
		v.tape.Fold(&bourse.Command{Time: now}, ev, nil)
		var all []traded
		steps := rapid.SampledFrom([]bourse.Time{bourse.Minute, bourse.Hour, 5 * bourse.Hour, bourse.Day, 3 * bourse.Day})
		for range rapid.IntRange(1, 40).Draw(t, "trades") {
			now += steps.Draw(t, "step")
			ev.Reset()
			tr := ev.AddTrade()
			*tr = bourse.Trade{
				Market: 1, Number: uint64(len(all) + 1), Lots: 1, Price: bourse.Price(rapid.Uint64Range(1, 200).Draw(t, "price")),
			}
			all = append(all, traded{now, *tr})
			v.tape.Fold(&bourse.Command{Time: now}, ev, nil)
		}
		now += steps.Draw(t, "at last")
		ev.Reset()
		v.tape.Fold(&bourse.Command{Time: now}, ev, nil)
		v.now = now

		want := make([]bourse.Price, 24)
		for i := range want {
			want[i] = 7
			for _, tr := range all {
				if i == 23 || tr.at < now.Floor(bourse.Hour)-bourse.Time(22-i)*bourse.Hour {
					want[i] = tr.Price
				}
			}
		}
		if got := v.Closes(1, 24); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}
