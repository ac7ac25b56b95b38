package conformance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var pacedChecks = []check{
	pacedBookBegins, pacedBookMessages, pacedBookKept, tapeMessages, pacedCandles, allTickers, pacedStates,
}

func TestPaced(t *testing.T) { examine(t, pacedChecks) }

// until returns the messages of a stream up to the first that is enough. Those of other streams
// stay.
func (s *socket) until(stream string, enough func(*value) bool) (got []*value) {
	s.x.Helper()
	var others []*value
	defer func() { s.aside = append(others, s.aside...) }()
	for {
		var m *value
		if len(s.aside) > 0 {
			m, s.aside = s.aside[0], s.aside[1:]
		} else {
			var err error
			if m, err = s.next(); err != nil {
				s.x.Fatalf("%s: %v", stream, err)
			}
		}
		if m.get("stream").text != stream {
			others = append(others, m)
			continue
		}
		if got = append(got, m); enough(m) {
			return got
		}
	}
}

// follow subscribes to a stream and keeps its first messages.
func (s *socket) follow(stream string) {
	s.x.Helper()
	s.must("sub", fields{"streams": stream})
}

// at returns a test for messages up to a number.
func at(seq string) func(*value) bool {
	return func(m *value) bool { return seconds(m.get("seq").text) >= seconds(seq) }
}

func pacedBookBegins(x *exam) {
	x.covers("SPOT-PACE-1")
	m := x.market()
	a := x.trader(m)
	a.sell(m, "10", "1")
	a.buy(m, "9", "2")
	s := x.connect()
	s.follow(m.pair + "@book")
	book := x.book(m)
	reset := s.until(m.pair+"@book", at(book.get("seq").text))[0]
	x.equal("class", reset.get("class").text, "reset")
	x.equal("seq", reset.get("seq").text, book.get("seq").text)
	x.equal("state", reset.get("state").String(), x.post("/orderbook", fields{"pair": m.pair}).value.String())
}

func pacedBookMessages(x *exam) {
	x.covers("SPOT-PACE-2")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "10.5", "1.5")
	s := x.connect()
	name := m.pair + "@book"
	s.follow(name)
	before := x.book(m).get("seq").text
	s.until(name, at(before))
	x.succeeds(b.batch(placing(m.limit("BUY", "10.5", "1.5")), placing(m.limit("BUY", "9", "2")))) // takes one level, makes another
	got := s.until(name, at(x.book(m).get("seq").text))
	if len(got) == 1 {
		x.golden(got[0], "stream_book", "pair", m.pair)
	}
	prev := before
	last := map[string]string{}
	for _, message := range got {
		x.equal("prev", message.get("prev").text, prev)
		prev = message.get("seq").text
		for _, side := range []string{"bids", "asks"} {
			for _, row := range message.get(side).items {
				last[side+row.items[0].text] = row.items[1].text
			}
		}
	}
	x.equal("last amounts", fmt.Sprint(last), fmt.Sprint(map[string]string{"bids9.0000": "2.0000", "asks10.5000": "0"}))
}

func pacedBookKept(x *exam) {
	x.covers("SPOT-PACE-3")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "30", "1")
	s := x.connect()
	name := m.pair + "@book"
	s.follow(name)
	var ids []string
	for i := range 8 {
		ids = append(ids, a.sell(m, strconv.Itoa(10+i*3%7), "1.5"), b.buy(m, strconv.Itoa(3+i*5%8), "2"))
	}
	a.cancel(ids[0])
	b.cancel(ids[5])

	kept, seq := local{}, int64(0)
	for _, message := range s.until(name, at(x.book(m).get("seq").text)) {
		switch number := seconds(message.get("seq").text); {
		case message.get("class").text == "reset":
			kept, seq = local{}, number
			kept.load(message.get("state"))
		case seconds(message.get("prev").text) > seq:
			x.Errorf("behind %d comes %s", seq, message)
		case number > seq:
			seq = number
			for side, rows := range map[string]string{"BUY": "bids", "SELL": "asks"} {
				for _, row := range message.get(rows).items {
					kept[side+row.items[0].text] = row.items[1].text
					if row.items[1].text == "0" {
						delete(kept, side+row.items[0].text)
					}
				}
			}
		}
	}
	theirs := local{}
	theirs.load(x.book(m))
	x.equal("the book", fmt.Sprint(kept), fmt.Sprint(theirs))
}

func tapeMessages(x *exam) {
	x.covers("SPOT-PACE-4")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	name := m.pair + "@tape"
	s := x.connect()
	s.sub(name)
	x.trade(m, a, b, "10.5", "1.5")
	got := s.until(name, at(x.trades(m).column("trade_id")[0]))
	x.golden(got[len(got)-1], "stream_tape", "pair", m.pair)

	// One order takes 60 others: they come in one message.
	before := x.trades(m).column("trade_id")[0]
	orders := make([]fields, 30)
	for i := range orders {
		orders[i] = placing(m.limit("SELL", "11", "1"))
	}
	for range 2 {
		x.succeeds(a.batch(orders...))
	}
	b.buy(m, "11", "60")
	listed := x.trades(m).column("trade_id")
	got = s.until(name, at(listed[0]))
	last := got[len(got)-1]
	x.equal("prev", last.get("prev").text, before)
	x.equal("skipped", last.get("skipped").text, "10")
	ids := (&value{items: last.get("trades").items}).column("trade_id")
	slices.Reverse(ids)
	x.same("trades", ids, listed[:50]...)
	x.equal("seq", last.get("seq").text, listed[0])
}

func pacedCandles(x *exam) {
	x.covers("SPOT-PACE-5")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	s := x.connect()
	for _, res := range []string{"1", "1M"} {
		name := m.pair + "@candle/" + res
		s.follow(name)
		begun := s.until(name, func(*value) bool { return true })[0]
		x.golden(begun, "stream_candle", "pair", m.pair, "res", res)
		x.equal("close of "+res, begun.get("close").text, "10")
	}

	x.trade(m, a, b, "10.5", "1.5")
	for _, res := range []string{"1", "1M"} {
		got := s.until(m.pair+"@candle/"+res, func(c *value) bool { return c.get("close").text == "10.5" })
		last := got[len(got)-1]
		rows := x.post("/candlestick", fields{"pair": m.pair, "res": res, "limit": 2}).value.get("candlestick").items
		for _, row := range rows {
			if strings.HasPrefix(row.get("time").text, last.get("time").text+".") {
				x.equal("volume of "+res, last.get("volume").text, row.get("volume").text)
				x.equal("open of "+res, last.get("open").text, row.get("open").text)
			}
		}
	}
}

// rowFor returns the row of a market; nothing without one.
func rowFor(m *market, rows *value) *value {
	for _, row := range rows.items {
		if row.get("pair").text == m.pair {
			return row
		}
	}
	return nothing
}

func allTickers(x *exam) {
	x.covers("SPOT-PACE-6")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	s := x.connect()
	s.follow("tickers")
	first := s.until("tickers", func(*value) bool { return true })[0]
	pairs := strings.Join(first.get("tickers").column("pair"), " ")
	for _, pair := range []string{m.pair, untouched.pair, "BTC/USDT"} {
		if !strings.Contains(" "+pairs+" ", " "+pair+" ") {
			x.Errorf("%s is not among %s", pair, pairs)
		}
	}

	x.trade(m, a, b, "10.5", "1.5")
	want := x.ticker(m)
	got := s.until("tickers", func(message *value) bool {
		return rowFor(m, message.get("tickers")).get("vol_base").text == want.get("vol_base").text
	})
	row := rowFor(m, got[len(got)-1].get("tickers"))
	for _, name := range []string{"price", "high", "low", "vol_quote"} {
		x.equal(name, row.get(name).text, want.get(name).text)
	}
	x.equal("price_24h", row.get("price_24h").text, rowFor(m, x.v2("GET", "/web/markets", "", nil).value.get("markets")).get("price_24h").text)
	if rowFor(untouched, got[len(got)-1].get("tickers")) != nothing {
		x.Errorf("a market without a trade is among those that changed")
	}
}

// resolutions are all resolutions of candles.
var resolutions = []string{"1", "3", "5", "15", "30", "60", "120", "240", "360", "720", "1D", "1W", "1M"}

func pacedStates(x *exam) {
	x.covers("SPOT-PACE-7")
	m := x.market()
	s := x.connect()
	names := make([]string, 0, 65)
	for n := range 65 {
		names = append(names, fmt.Sprintf("%s@candle/%s", testMarket(1+n/13).pair, resolutions[n%13]))
	}
	s.fails(s.ask("sub", fields{"streams": names}), "64")
	s.succeeds(s.ask("sub", fields{"streams": names[:64]}))

	x.trader(m).sell(m, "10", "1")
	s.succeeds(s.ask("sub", fields{"streams": m.pair + "@book", "since": fields{m.pair + "@book": 1 << 40}}))
	reset := s.until(m.pair+"@book", func(*value) bool { return true })[0]
	x.equal("class", reset.get("class").text, "reset")
}
