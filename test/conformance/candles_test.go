package conformance

import (
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var candlesChecks = []check{
	candlesNeed, candleWidths, candleRows, bucketStarts, weeksAndMonths, candleRange, candleFold, candleBounds,
}

// agedChecks need an exchange with a past.
var agedChecks = []check{candlePages, newestCandles, widerCandles, pricesOfMarkets, pagesOfCandles}

func TestCandles(t *testing.T) { examine(t, candlesChecks) }

func TestAged(t *testing.T) { examine(t, agedChecks) }

// widths are the widths of the resolutions in seconds, but for weeks and months.
var widths = map[string]int64{
	"1": 60, "3": 180, "5": 300, "15": 900, "30": 1800, "60": 3600, "120": 7200, "240": 14400, "360": 21600,
	"720": 43200, "1D": 86400,
}

// candles requests a market's candles.
func (x *exam) candles(m *market, res string, from, to int64) *answer {
	x.Helper()
	return x.post("/candlestick", fields{"pair": m.pair, "res": res, "from": from, "to": to})
}

// now returns the exchange's time in seconds.
func (x *exam) now() int64 {
	x.Helper()
	return seconds(x.post("/time", fields{}).value.get("time").text)
}

func seconds(time string) int64 {
	whole, _, _ := strings.Cut(time, ".")
	n, _ := strconv.ParseInt(whole, 10, 64)
	return n
}

// forever is later than any candle.
const forever = 1 << 33

func candlesNeed(x *exam) {
	x.covers("SPOT-CDL-1")
	body := fields{"pair": "BTC/USDT", "res": "1", "from": 0, "to": 60}
	for name := range body {
		x.fails(x.post("/candlestick", body.with(name, nil)), "Missing data: "+name)
	}
	for _, name := range []string{"limit", "before"} {
		x.succeeds(x.post("/candlestick", fields{"pair": "BTC/USDT", "res": "1", name: 60}))
		x.failsNaming(x.post("/candlestick", body.with(name, "60")), name)
	}
	x.failsNaming(x.post("/candlestick", body.with("from", "0")), "from")
	x.failsNaming(x.post("/candlestick", body.with("to", 1.5)), "to")
	x.succeeds(x.post("/candlestick", body))
}

func candleWidths(x *exam) {
	x.covers("SPOT-CDL-2")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	for res := range widths {
		rows := x.candles(m, res, 0, forever).value.get("candlestick").items
		if len(rows) == 0 || rows[len(rows)-1].get("close").text != "10" {
			x.Errorf("candles of width %s: %v", res, rows)
		}
	}
	for _, bad := range []string{"", "2", "1d", "1D ", "D", "1m", "05", "1440"} {
		x.failsNaming(x.candles(m, bad, 0, forever), "res")
	}
}

func candleRows(x *exam) {
	x.covers("SPOT-CDL-3")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	got := x.candles(m, "1D", 0, forever).value
	rows := got.get("candlestick")
	rows.items = rows.items[:min(1, len(rows.items))]
	x.golden(got, "candlestick")
}

func bucketStarts(x *exam) {
	x.covers("SPOT-CDL-4")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	when := seconds(x.trades(m).items[0].get("time").text)
	for res, width := range widths {
		rows := x.candles(m, res, when-width+1, forever).value.get("candlestick").column("time")
		want := strconv.FormatInt(when/width*width, 10) + ".000000"
		if len(rows) == 0 || rows[0] != want {
			x.Errorf("candles of width %s from %s start at %v", res, want, rows)
		}
	}
}

func weeksAndMonths(x *exam) {
	m := x.market()
	a, b := x.traders(m)
	s := x.connect()
	s.sub(m.pair+"@candleStick/1W", m.pair+"@candleStick/1M")
	x.trade(m, a, b, "10", "1")
	told := s.fence()
	when := time.Unix(seconds(x.trades(m).items[0].get("time").text), 0).UTC()

	monday := when.AddDate(0, 0, -int(when.Weekday()+6)%7)
	for res, day := range map[string]time.Time{"1W": monday, "1M": when.AddDate(0, 0, 1-when.Day())} {
		start := day.Truncate(24 * time.Hour).Unix()
		want := strconv.FormatInt(start, 10)
		x.covers("SPOT-CDL-2", "SPOT-CDL-4")
		rows := x.candles(m, res, start, forever).value.get("candlestick").items
		if len(rows) == 0 || rows[0].get("time").text != want+".000000" || rows[len(rows)-1].get("close").text != "10" {
			x.Errorf("candles of %s from %s: %v", res, want, rows)
		}
		x.covers("SPOT-STR-3")
		message := first(of(told, m.pair+"@candleStick/"+res))
		x.equal("candle of the stream "+res, message.get("time").text, want)
		x.equal("its close", message.get("close").text, "10")
	}
}

func candleRange(x *exam) {
	x.covers("SPOT-CDL-5")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	start := seconds(x.trades(m).items[0].get("time").text) / 60 * 60
	want := strconv.FormatInt(start, 10) + ".000000"
	x.same("candles", x.candles(m, "1", start, start).value.get("candlestick").column("time"), want)
	x.same("candles", x.candles(m, "1", start, start+59).value.get("candlestick").column("time"), want)
	x.same("candles", x.candles(m, "1", start+1, start+59).value.get("candlestick").column("time"))
	all := x.candles(m, "1", 0, start).value.get("candlestick").column("time")
	for i, time := range all {
		if back := int64(len(all) - 1 - i); seconds(time) != start-60*back {
			x.Errorf("candles: %v", all)
		}
	}
}

func candleFold(x *exam) {
	x.covers("SPOT-CDL-6")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	first := seconds(x.trades(m).items[0].get("time").text) / 86400 * 86400
	before := x.candles(m, "1D", first, first).value.get("candlestick").items[0]
	for _, price := range []string{"12", "0.85", "888.5", "11"} {
		x.trade(m, a, b, price, "2")
	}
	row := x.candles(m, "1D", first, first).value.get("candlestick").items[0]
	if seconds(x.trades(m).items[0].get("time").text)/86400*86400 != first {
		return // midnight passed meanwhile
	}
	x.equal("open", row.get("open").text, before.get("open").text)
	x.equal("close", row.get("close").text, "11")
	x.equal("low", row.get("low").text, minimum(before.get("low").text, "0.85"))
	if decimal(row.get("high").text).Cmp(decimal("888.5")) < 0 {
		x.Errorf("high is %s", row.get("high"))
	}
	x.equal("volume grew by", minus(row.get("volume").text, before.get("volume").text), "8")
}

func candleBounds(x *exam) {
	x.covers("SPOT-CDL-7")
	for res := range widths {
		x.answers(x.candles(untouched, res, 0, forever), `{"success":true,"candlestick":[]}`)
	}
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	for res, width := range widths {
		rows := x.candles(m, res, 0, forever).value.get("candlestick").column("time")
		if len(rows) == 0 || seconds(rows[len(rows)-1]) > x.now() {
			x.Errorf("candles of width %s: %v", res, rows)
			continue
		}
		// Every check of this run trades within a day.
		if seconds(rows[0]) < x.now()-86400-width {
			x.Errorf("candles of width %s begin at %s", res, rows[0])
		}
	}
}

// candlePages reads the minutes of a past range, each page from behind the one before.
func candlePages(x *exam) {
	x.covers("SPOT-CDL-9")
	const minutes = 1201
	m := &market{pair: "BTC/USDT"}
	first := (x.now()/3600 - 24) * 3600
	last := first + (minutes-1)*60

	from := first
	for _, rows := range []int64{500, 500, 201} {
		page := x.candles(m, "1", from, last).value.get("candlestick").column("time")
		if int64(len(page)) != rows {
			x.Fatalf("%d candles from %d, want %d", len(page), from, rows)
		}
		for i, time := range page {
			if want := from + int64(i)*60; seconds(time) != want {
				x.Fatalf("candle %d from %d is of %s, want %d", i, from, time, want)
			}
		}
		from += rows * 60
	}
	x.answers(x.candles(m, "1", from, last), `{"success":true,"candlestick":[]}`)
}

// newestCandles reads minutes backwards, page by page, and compares them with a read by range.
func newestCandles(x *exam) {
	x.covers("SPOT-CDL-10")
	m := &market{pair: "BTC/USDT"}
	end := (x.now()/3600 - 1) * 3600
	ask := func(body fields) []*value {
		a := x.post("/candlestick", fields{"pair": m.pair, "res": "1"}.and(body))
		x.succeeds(a)
		return a.value.get("candlestick").items
	}
	same := func(what string, got []*value, from, to int64) {
		x.Helper()
		want := x.candles(m, "1", from, to).value.get("candlestick").items
		x.equal(what, (&value{kind: '[', items: got}).String(), (&value{kind: '[', items: want}).String())
	}

	page := ask(fields{"limit": 7, "before": end})
	same("newest", page, end-7*60, end-60)
	same("those before them", ask(fields{"limit": 7, "before": seconds(page[0].get("time").text)}), end-14*60, end-8*60)
	same("500", ask(fields{"before": end}), end-500*60, end-60)
	same("before the middle of a minute", ask(fields{"limit": 2, "before": end + 30}), end-60, end)
	same("oldest", ask(fields{"limit": 2, "from": end - 600, "to": end}), end-600, end-540)
	same("from on", ask(fields{"limit": 2, "from": end - 600}), end-600, end-540)
	same("up to", ask(fields{"limit": 2, "to": end}), end-60, end)
	same("both", ask(fields{"limit": 9, "from": end - 120, "before": end}), end-120, end-60)
	x.answers(x.post("/candlestick", fields{"pair": m.pair, "res": "1M", "before": 0}), `{"success":true,"candlestick":[]}`)

	now := x.now()
	last := ask(fields{"limit": 2})
	if len(last) != 2 || seconds(last[1].get("time").text) < now/60*60 {
		x.Errorf("the last two minutes at %d: %v", now, last)
	}
	for _, bad := range []any{0, 501, -1, 1.5, "5"} {
		x.failsNaming(x.post("/candlestick", fields{"pair": m.pair, "res": "1", "limit": bad}), "limit")
	}
}

// widerCandles folds kept candles of the past and compares them with the wider ones.
func widerCandles(x *exam) {
	x.covers("SPOT-CDL-6")
	m := &market{pair: "BTC/USDT"}
	end := (x.now()/43200)*43200 - 1
	for narrow, span := range map[string]int64{"1": 7 * 3600, "60": 12 * 3600} {
		from := (end + 1 - span) / 3600 * 3600
		kept := x.candles(m, narrow, from, end).value.get("candlestick").items
		for res, width := range widths {
			if width <= widths[narrow] || span%width != 0 || narrow == "1" && width > 1800 {
				continue
			}
			bucket := func(time int64) int64 { return time / width * width }
			x.folds(res, x.candles(m, res, from, end).value.get("candlestick").items, kept, bucket)
		}
	}

	// The current week and month change while they are read.
	for res, bucket := range map[string]func(int64) int64{"1W": weekOf, "1M": monthOf} {
		var days, rows []*value
		x.eventually(x.patience, func() *answer {
			days = x.candles(m, "1D", 0, forever).value.get("candlestick").items
			rows = x.candles(m, res, 0, forever).value.get("candlestick").items
			return x.candles(m, "1D", 0, forever)
		}, func(a *answer) bool {
			return (&value{kind: '[', items: days}).String() == a.value.get("candlestick").String()
		})
		x.folds(res, rows, days, bucket)
	}
}

func weekOf(t int64) int64 {
	day := time.Unix(t, 0).UTC()
	return t - int64(day.Weekday()+6)%7*86400
}

func monthOf(t int64) int64 {
	day := time.Unix(t, 0).UTC()
	return t - int64(day.Day()-1)*86400
}

// folds compares candles with narrower ones.
func (x *exam) folds(res string, rows, kept []*value, bucket func(int64) int64) {
	x.Helper()
	parts := map[int64][]*value{}
	for _, k := range kept {
		start := bucket(seconds(k.get("time").text))
		parts[start] = append(parts[start], k)
	}

	x.equal("candles of "+res, strconv.Itoa(len(rows)), strconv.Itoa(len(parts)))
	starts := slices.Sorted(maps.Keys(parts))
	for i, row := range rows[:min(len(rows), len(starts))] {
		list := slices.DeleteFunc(slices.Clone(parts[starts[i]]), func(k *value) bool { return k.get("volume").text == "0" })
		if len(list) == 0 {
			list = parts[starts[i]][:1]
		}
		high, low, volume := list[0].get("high").text, list[0].get("low").text, new(big.Rat)
		for _, k := range list {
			if volume.Add(volume, decimal(k.get("volume").text)); decimal(k.get("high").text).Cmp(decimal(high)) > 0 {
				high = k.get("high").text
			}
			low = minimum(low, k.get("low").text)
		}
		x.equal("time of "+res, row.get("time").text, strconv.FormatInt(starts[i], 10)+".000000")
		x.equal("open", row.get("open").text, list[0].get("open").text)
		x.equal("high", row.get("high").text, high)
		x.equal("low", row.get("low").text, low)
		x.equal("close", row.get("close").text, list[len(list)-1].get("close").text)
		if volume.Cmp(decimal(row.get("volume").text)) != 0 {
			x.Errorf("volume of %s at %d is %s, want %s", res, starts[i], row.get("volume"), volume)
		}
	}
}
