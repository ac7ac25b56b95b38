package conformance

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

var streamsChecks = []check{
	dataMessages, tradeMessages, candleMessages, tickerMessages, tickerExMessages, bookMessages, bookCounts, keptBook,
	nothingOld, toldIsShown, toldInOrder, countsUnderLoad, streamsAreNumbered, stateIsAtTheJournal,
}

func TestStreams(t *testing.T) { examine(t, streamsChecks) }

func dataMessages(x *exam) {
	x.covers("SPOT-STR-1")
	m := x.market()
	a, b := x.traders(m)
	s := x.connect()
	streams := []string{"marketTrade", "candleStick/1", "candleStick/60", "candleStick/1D", "ticker", "tickerEx", "orderBook"}
	x.trade(m, a, b, "10", "1")
	for _, name := range streams {
		s.sub(m.pair + "@" + name)
	}
	a.sell(m, "10.5", "1.5")
	x.golden(first(of(s.fence(), m.pair+"@orderBook")), "stream_orderBook", "pair", m.pair)
	b.buy(m, "10.5", "1.5")
	got := s.fence()
	for name, golden := range map[string]string{
		"marketTrade": "stream_marketTrade", "ticker": "stream_ticker", "tickerEx": "stream_tickerEx",
	} {
		x.golden(first(of(got, m.pair+"@"+name)), golden, "pair", m.pair)
	}
	for _, res := range []string{"1", "60", "1D"} {
		x.golden(first(traded(of(got, m.pair+"@candleStick/"+res))), "stream_candleStick", "pair", m.pair, "res", res)
	}
}

// traded returns the candles with trades: a minute that begins meanwhile has an empty one.
func traded(candles []*value) (list []*value) {
	for _, c := range candles {
		if c.get("volume").text != "0" {
			list = append(list, c)
		}
	}
	return list
}

// first returns the first message, or nothing.
func first(messages []*value) *value {
	if len(messages) == 0 {
		return nothing
	}
	return messages[0]
}

func tradeMessages(x *exam) {
	x.covers("SPOT-STR-2")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "10", "1")
	a.sell(m, "10", "2")
	a.sell(m, "11", "4")
	a.buy(m, "9", "1")
	s := x.connect()
	s.sub(m.pair + "@marketTrade")
	b.buy(m, "11", "5")
	b.sell(m, "9", "1")
	got := &value{items: s.fence()}
	x.same("prices", got.column("price"), "10", "10", "11", "9")
	x.same("amounts", got.column("amount"), "1", "2", "2", "1")
	x.same("sides", got.column("side"), "BUY", "BUY", "BUY", "SELL")
}

func candleMessages(x *exam) {
	x.covers("SPOT-STR-3")
	m := x.market()
	a, b := x.traders(m)
	s := x.connect()
	for res := range widths {
		s.sub(m.pair + "@candleStick/" + res)
	}
	x.trade(m, a, b, "10", "1")
	before := s.fence()
	a.sell(m, "11", "1")
	a.sell(m, "12", "1")
	b.buy(m, "12", "2")
	after := s.fence()
	for res, width := range widths {
		name := m.pair + "@candleStick/" + res
		last, list := first(of(before, name)), traded(of(after, name))
		closes, volumes := []string{"12"}, []string{"2"}
		if res == "1" || res == "60" || res == "1D" {
			closes, volumes = []string{"11", "12"}, []string{"1", "1"}
		}
		x.same("closes of "+res, (&value{items: list}).column("close"), closes...)
		if len(list) != len(closes) {
			continue
		}
		if start := seconds(list[0].get("time").text); start%width != 0 || start < seconds(last.get("time").text) {
			x.Errorf("candle of width %s begins at %d", res, start)
		}
		if last.get("time").text != list[0].get("time").text {
			last, list, volumes = list[0], list[1:], volumes[1:]
		} else {
			x.equal("open", list[0].get("open").text, last.get("open").text)
		}
		for i, row := range list {
			x.equal("volume grew by", minus(row.get("volume").text, last.get("volume").text), volumes[i])
			last = row
		}
	}
}

func tickerMessages(x *exam) {
	x.covers("SPOT-STR-5")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	s := x.connect()
	s.sub(m.pair + "@ticker")
	for _, price := range []string{"10", "11", "11", "12", "12"} {
		x.trade(m, a, b, price, "1")
	}
	got := &value{items: s.fence()}
	x.same("prices", got.column("price"), "11", "12")
	x.same("previous", got.column("previous"), "10", "11")
	x.same("change", got.column("change")[1:], x.ticker(m).get("change").text)
}

func tickerExMessages(x *exam) {
	x.covers("SPOT-STR-6")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	s := x.connect()
	s.sub(m.pair + "@tickerEx")
	for _, price := range []string{"10", "11", "11"} {
		x.trade(m, a, b, price, "1")
	}
	got := s.fence()
	x.same("prices", (&value{items: got}).column("price"), "10", "11", "11")
	row := x.ticker(m)
	for _, name := range []string{"price", "change", "previous", "high", "low", "vol_base", "vol_quote"} {
		if len(got) > 0 {
			x.equal(name, got[len(got)-1].get(name).text, row.get(name).text)
		}
	}
}

func bookMessages(x *exam) {
	x.covers("SPOT-STR-7")
	m := x.market()
	a, b := x.traders(m)
	s := x.connect()
	s.sub(m.pair + "@orderBook")
	id := a.sell(m, "10", "1")
	a.sell(m, "10", "2")
	a.cancel(id)
	b.buy(m, "10", "0.5")
	b.buy(m, "10", "3")
	got := s.fence()
	want := []string{"10.0000:1.0000", "10.0000:3.0000", "10.0000:2.0000", "10.0000:1.5000", "10.0000:0", "10.0000:1.5000"}
	x.same("levels", levels(&value{items: got}), want...)
	x.same("sides", (&value{items: got}).column("side"), "SELL", "SELL", "SELL", "SELL", "SELL", "BUY")
}

func bookCounts(x *exam) {
	x.covers("SPOT-STR-8")
	m := x.market()
	a, b := x.traders(m)
	s := x.connect()
	s.sub(m.pair + "@orderBook")
	at := seconds(x.book(m).get("seq").text)
	for i := range 5 {
		a.sell(m, strconv.Itoa(10+i), "1")
	}
	b.buy(m, "20", "6")
	got := s.fence()
	if len(got) != 11 {
		x.Errorf("%d messages, want 11", len(got))
	}
	for i, message := range got {
		x.equal("seq", message.get("seq").text, strconv.FormatInt(at+int64(i)+1, 10))
	}
}

// local is a client's book: price and side to amount.
type local map[string]string

// load applies a snapshot.
func (l local) load(book *value) {
	for side, name := range map[string]string{"BUY": "bids", "SELL": "asks"} {
		for _, row := range book.get(name).items {
			l[side+row.get("price").text] = row.get("amount").text
		}
	}
}

// update applies a message.
func (l local) update(message *value) {
	key := message.get("side").text + message.get("price").text
	l[key] = message.get("amount").text
	if l[key] == "0" {
		delete(l, key)
	}
}

func keptBook(x *exam) {
	x.covers("SPOT-STR-9")
	m := x.market()
	a, b := x.traders(m)
	a.sell(m, "30", "1")
	s := x.connect()
	s.sub(m.pair + "@orderBook")
	a.sell(m, "10", "1")
	snapshot := x.book(m)
	kept := local{}
	kept.load(snapshot)
	var ids []string
	for i := range 8 {
		ids = append(ids, a.sell(m, strconv.Itoa(10+i*3%7), "1.5"), b.buy(m, strconv.Itoa(3+i*5%8), "2"))
	}
	a.cancel(ids[0])
	b.cancel(ids[5])
	for _, message := range s.fence() {
		if seconds(message.get("seq").text) > seconds(snapshot.get("seq").text) {
			kept.update(message)
		}
	}
	theirs := local{}
	theirs.load(x.book(m))
	if len(kept) != len(theirs) {
		x.Errorf("kept %v, the exchange has %v", kept, theirs)
	}
	for key, amount := range theirs {
		x.equal("amount at "+key, kept[key], amount)
	}
}

// countsUnderLoad lets several accounts trade concurrently.
func countsUnderLoad(x *exam) {
	x.covers("SPOT-STR-8")
	m := x.market()
	s := x.connect()
	s.sub(m.pair + "@orderBook")
	at := seconds(x.book(m).get("seq").text)
	var flows []<-chan *answer
	for i := range 4 {
		a := x.trader(m)
		var orders []fields
		for j := range 15 {
			side := []string{"BUY", "SELL"}[(i+j)%2]
			orders = append(orders, m.limit(side, strconv.Itoa(10+j%3), strconv.Itoa(1+i)))
		}
		flows = append(flows, a.later(orders...))
	}
	for _, answers := range flows {
		for res := range answers {
			x.succeeds(res)
		}
	}
	kept := local{}
	for i, message := range s.fence() {
		x.equal("seq", message.get("seq").text, strconv.FormatInt(at+int64(i)+1, 10))
		kept.update(message)
	}
	x.covers("SPOT-STR-9")
	book := x.book(m)
	x.equal("book kept from the stream", kept.String(), written(book).String())
}

func nothingOld(x *exam) {
	x.covers("SPOT-STR-10")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	a.sell(m, "10", "1")
	s := x.connect()
	s.auth(a)
	s.must("sub", fields{"streams": []string{
		m.pair + "@marketTrade", m.pair + "@ticker", m.pair + "@tickerEx", m.pair + "@orderBook", "myOrders", "myTrades",
	}})
	if got := s.fence(); len(got) != 0 {
		x.Errorf("%d old messages; the first is %s", len(got), got[0])
	}
	b.buy(m, "10", "1")
	if got := s.fence(); len(got) != 5 && len(got) != 4 {
		x.Errorf("%d messages, want 4 or 5", len(got))
	}
}

func toldIsShown(x *exam) {
	x.covers("SPOT-STR-11")
	m := x.market()
	a, b := x.traders(m)
	public, private := x.connect(), a.private()
	public.sub(m.pair + "@marketTrade")
	for i := range 5 {
		a.sell(m, strconv.Itoa(10+i), "1")
		private.fence()
		answers := b.later(m.limit("BUY", strconv.Itoa(10+i), "1"))
		told, err := public.next()
		if err != nil {
			x.Fatalf("%v", err)
		}
		x.equal("last trade", x.trades(m).column("price")[0], told.get("price").text)
		x.equal("price", x.ticker(m).get("price").text, told.get("price").text)
		if told, err = private.next(); err != nil {
			x.Fatalf("%v", err)
		}
		x.equal("own trade", a.list("/trades_history").column("price")[0], told.get("price").text)
		x.same("open orders", a.open())
		x.becomes(<-answers, "FILLED", "1")
		private.fence()
	}
}

func toldInOrder(x *exam) {
	x.covers("SPOT-STR-12")
	m, n := x.market(), x.market()
	a := x.account("1000 "+m.base, "1000 "+n.base, "10000 USDT")
	s := a.private()
	s.sub(m.pair+"@orderBook", n.pair+"@marketTrade", m.pair+"@marketTrade", n.pair+"@orderBook")
	var want []string
	for i, in := range []*market{m, n, n, m} {
		price := strconv.Itoa(10 + i)
		a.buy(in, price, "2")
		a.sell(in, price, "2")
		want = append(want, in.pair+"@orderBook "+price, in.pair+"@marketTrade "+price, in.pair+"@orderBook "+price)
	}
	var got, own []string
	for _, message := range s.fence() {
		if name := message.get("stream").text; name == "myOrders" || name == "myTrades" {
			own = append(own, message.get("pair").text)
		} else {
			price, _, _ := strings.Cut(message.get("price").text, ".")
			got = append(got, name+" "+price)
		}
	}
	for i := 0; i+3 <= len(got); i += 3 { // a trade is followed by its level
		slices.SortFunc(got[i+1:i+3], strings.Compare)
	}
	x.same("the public's messages", got, want...)
	x.same("own messages by pair", slices.Compact(own), m.pair, n.pair, m.pair)
}

// streamsAreNumbered follows the event streams over two connections.
func streamsAreNumbered(x *exam) {
	x.covers("SPOT-STR-13")
	m := x.market()
	a, b := x.traders(m)
	last := map[string]int64{}
	follow := func(messages []*value) {
		for _, message := range messages {
			name, seq := message.get("stream").text, seconds(message.get("seq").text)
			if before := last[name]; before != 0 && seq != before+1 {
				x.Errorf("%s goes from %d to %d", name, before, seq)
			}
			last[name] = seq
			if name == m.pair+"@marketTrade" {
				x.equal("seq of a trade", message.get("seq").text, message.get("trade_id").text)
			}
		}
	}

	for range 2 {
		s := a.private()
		s.sub(m.pair+"@marketTrade", m.pair+"@orderBook")
		a.cancel(a.sell(m, "20", "1"))
		a.sell(m, "10", "2")
		b.buy(m, "10", "1.5")
		a.try(m.limit("BUY", "1000", "100000"))
		a.buy(m, "10", "1")
		b.sell(m, "9", "3")
		a.place(m.limit("BUY", "9", "4").with("time_in_force", "IOC"))
		follow(s.fence())
		_ = s.conn.Close()
	}
	for _, name := range []string{"myOrders", "myTrades", m.pair + "@marketTrade", m.pair + "@orderBook"} {
		if last[name] < 8 {
			x.Errorf("%s has come to %d", name, last[name])
		}
	}
}

func stateIsAtTheJournal(x *exam) {
	x.covers("SPOT-STR-14")
	m := x.market()
	a, b := x.traders(m)
	s := x.connect()
	s.sub(m.pair+"@ticker", m.pair+"@tickerEx", m.pair+"@candleStick/1W", m.pair+"@candleStick/1M")
	var before int64
	for i := range 3 {
		x.trade(m, a, b, strconv.Itoa(10+i), "1")
		got := (&value{items: s.fence()}).column("seq")
		if len(got) != 4 {
			x.Fatalf("%d messages, want 4", len(got))
		}
		x.same("seq of one trade's messages", slices.Compact(got), got[0])
		if at := seconds(got[0]); at <= before {
			x.Errorf("seq went from %d to %d", before, at)
		} else {
			before = at
		}
	}
}
