package conformance

import (
	"strconv"
	"strings"
	"testing"
)

var candlesChecks = []check{candlesNeed, candleWidths, candleRows, bucketStarts, candleRange, candleFold, candleBounds}

// agedChecks need an exchange with a past.
var agedChecks = []check{candlePages}

func TestCandles(t *testing.T) { examine(t, candlesChecks) }

func TestAged(t *testing.T) { examine(t, agedChecks) }

// widths are the widths of the resolutions in seconds.
var widths = map[string]int64{"1": 60, "60": 3600, "1D": 86400}

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
	for _, bad := range []string{"", "5", "1d", "1D ", "D"} {
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
