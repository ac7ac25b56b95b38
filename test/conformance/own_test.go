package conformance

import (
	"slices"
	"testing"
)

var ownChecks = []check{
	acceptedMessage, rejectedMessage, refusedIsSilent, oneUpdateEach, finalStatus, triggeredMessage, waitingUpdate, orderOfMessages,
	ownTradeMessages, othersAreSilent, updatesSayWhatIsLeft,
}

func TestOwnStreams(t *testing.T) { examine(t, ownChecks) }

func acceptedMessage(x *exam) {
	x.covers("SPOT-MYO-1")
	m := x.market()
	a := x.trader(m)
	s := a.private()
	id := a.place(m.stop("SELL", "0.001", "1.5", "3").with("time_in_force", "IOC"))
	got := first(s.fence())
	x.equal("obid", got.get("obid").text, id)
	a.place(m.stop("SELL", "0.0015", "1.5", "3").with("time_in_force", "IOC").with("client_id", "a:1"))
	x.golden(first(s.fence()), "stream_orderAccepted", "pair", m.pair, "base", m.base)
	a.place(m.byTotal("BUY", "5").with("time_in_force", "GTC").with("price", "3"))
	x.match(first(s.fence()), `{"class":"data","stream":"myOrders","event":"orderAccepted","pair":"`+m.pair+`","obid":"#id","side":"BUY","type":"MARKET",`+
		`"time":"#unix","time_us":"#micros","time_in_force":"GTC","base":"`+m.base+`","quote":"USDT","total":"5","quote_prec":4,"filled":"0","seq":"#id"}`)
}

func rejectedMessage(x *exam) {
	x.covers("SPOT-MYO-2")
	m := x.market()
	a := x.account("10 USDT")
	s := a.private()
	order := m.limit("BUY", "10", "2").with("client_id", "a:2")
	for i, resp := range []any{"RESULT", "ACK", nil} {
		a.try(order.with("resp_type", resp).with("client_id", []string{"a:2", "a:3", "a:4"}[i]))
		got := s.fence()
		if len(got) != 1 {
			x.Fatalf("%d messages, want 1", len(got))
		}
		if i == 0 {
			x.golden(got[0], "stream_orderRejected", "pair", m.pair)
		}
		x.equal("reason", got[0].get("reason").text, "INSUF_FUNDS")
	}
	a.try(m.limit("BUY", "0.5", "1"))
	x.equal("reason", first(s.fence()).get("reason").text, "INSUF_TRADE_AMOUNT")
}

func refusedIsSilent(x *exam) {
	x.covers("SPOT-MYO-3")
	m := x.market()
	a := x.trader(m)
	s := a.private()
	order := m.limit("SELL", "10", "1")
	for name, bad := range map[string]any{"price": "1.00001", "amount": nil, "side": "x", "client_id": "", "pair": "NO/SUCH"} {
		x.failed(a.try(order.with(name, bad)))
	}
	a.cancel("9000000000000000000")
	if got := s.fence(); len(got) != 0 {
		x.Errorf("%d messages; the first is %s", len(got), got[0])
	}
}

// events formats myOrders messages as "event:obid:status:filled".
func events(messages []*value) []string {
	list := []string{}
	for _, m := range of(messages, "myOrders") {
		list = append(list, m.get("event").text+":"+m.get("obid").text+":"+m.get("status").text+":"+m.get("filled").text)
	}
	return list
}

func oneUpdateEach(x *exam) {
	x.covers("SPOT-MYO-4")
	m := x.market()
	a, b := x.traders(m)
	s := a.private()
	first, second := a.sell(m, "10", "1"), a.sell(m, "10", "3")
	x.same("events of orders that rest", events(s.fence()), "orderAccepted:"+first+"::0", "orderAccepted:"+second+"::0")
	b.sell(m, "11", "1")
	b.buy(m, "10", "1")
	b.buy(m, "10", "2")
	x.same("events of fills", events(s.fence()), "orderUpdate:"+first+":FILLED:1", "orderUpdate:"+second+"::2")
	b.sell(m, "9", "1")
	third := a.buy(m, "11", "4")
	got, want := events(s.fence()), []string{
		"orderAccepted:" + third + "::0", "orderUpdate:" + second + ":FILLED:3", "orderUpdate:" + third + "::3",
	}
	slices.Sort(got)
	slices.Sort(want) // the order of the two updates is unspecified
	x.same("events of an order that fills in steps", got, want...)
}

func finalStatus(x *exam) {
	x.covers("SPOT-MYO-5")
	m := x.market()
	a, b := x.traders(m)
	s := a.private()
	id := a.sell(m, "10", "2")
	b.buy(m, "10", "0.5")
	a.cancel(id)
	got := s.fence()
	x.same("events", events(got), "orderAccepted:"+id+"::0", "orderUpdate:"+id+"::0.5", "orderUpdate:"+id+":CANCELED:0.5")
	x.golden(got[len(got)-1], "stream_orderUpdate", "pair", m.pair, "obid", id)
	b.sell(m, "10", "1")
	id = a.place(m.limit("BUY", "10", "2").with("time_in_force", "IOC"))
	x.same("events of IOC", events(s.fence()), "orderAccepted:"+id+"::0", "orderUpdate:"+id+":KILLED:1")
	id = a.place(m.limit("BUY", "10", "2").with("time_in_force", "FOK"))
	x.same("events of FOK", events(s.fence()), "orderAccepted:"+id+"::0", "orderUpdate:"+id+":KILLED:0")
	b.sell(m, "10", "1")
	id = a.buy(m, "10", "1")
	x.same("events of a fill", events(s.fence()), "orderAccepted:"+id+"::0", "orderUpdate:"+id+":FILLED:1")
}

func triggeredMessage(x *exam) {
	x.covers("SPOT-MYO-6")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, b, b, "10", "1")
	b.sell(m, "12", "1")
	s := a.private()
	id := a.place(m.stop("BUY", "11", "12", "3"))
	s.fence()
	x.trade(m, b, b, "11", "1")
	got := of(s.fence(), "myOrders")
	if len(got) != 2 {
		x.Fatalf("%d messages, want 2: %v", len(got), got)
	}
	begin := `{"class":"data","stream":"myOrders","event":"orderUpdate","pair":"` + m.pair + `","obid":` + id + `,"side":"BUY","time":"#unix",` +
		`"time_us":"#micros","price":"12",`
	x.match(got[0], begin+`"triggered":true,"filled":"0","left":"3","seq":"#id"}`)
	x.match(got[1], begin+`"filled":"1","left":"2","seq":"#id"}`)
	rests := a.place(m.stop("BUY", "11", "5", "3"))
	x.same("events of a stop that rests", events(s.fence()), "orderAccepted:"+rests+"::", "orderUpdate:"+rests+"::0")
}

func waitingUpdate(x *exam) {
	x.covers("SPOT-MYO-7")
	m := x.market()
	a := x.trader(m)
	s := a.private()
	id := a.place(m.stop("BUY", "900", "900", "1"))
	a.cancel(id)
	got := s.fence()
	x.same("events", events(got), "orderAccepted:"+id+"::", "orderUpdate:"+id+":CANCELED:")
	x.equal("fields", got[len(got)-1].names(), "class stream event pair obid side time time_us price status left seq")
}

func orderOfMessages(x *exam) {
	x.covers("SPOT-MYO-8")
	m := x.market()
	a, b := x.traders(m)
	b.sell(m, "10", "1")
	b.sell(m, "11", "1")
	maker, taker := b.private(), a.private()
	a.buy(m, "11", "2")
	got := taker.fence()
	x.same("the taker's messages", kinds(got), "orderAccepted", "trade", "trade", "orderUpdate")
	x.same("the maker's messages", kinds(maker.fence()), "trade", "trade", "orderUpdate", "orderUpdate")
	x.same("prices", (&value{items: of(got, "myTrades")}).column("price"), "10", "11")
}

// kinds returns the kinds of messages of the private streams.
func kinds(messages []*value) []string {
	var list []string
	for _, m := range messages {
		if m.get("stream").text == "myTrades" {
			list = append(list, "trade")
		} else {
			list = append(list, m.get("event").text)
		}
	}
	return list
}

func ownTradeMessages(x *exam) {
	x.covers("SPOT-MYO-9")
	m := x.market()
	a, b := x.traders(m)
	maker, taker := a.private(), b.private()
	sold, bought := x.trade(m, a, b, "10.5", "1.5")
	x.golden(first(of(taker.fence(), "myTrades")), "stream_myTrades", "pair", m.pair, "obid", bought)
	told := of(maker.fence(), "myTrades")
	x.matchAll(told, `{"class":"data","stream":"myTrades","time":"#unix","time_us":"#micros","price":"10.5","amount":"1.5","total":"15.75","side":"SELL",`+
		`"pair":"`+m.pair+`","obid":`+sold+`,"role":"MAKER","fee":"0.01575","trade_id":"#id","seq":"#id"}`)
	x.trade(m, a, a, "10", "1")
	roles := (&value{items: of(maker.fence(), "myTrades")}).column("role")
	slices.Sort(roles)
	x.same("roles in a trade with itself", roles, "MAKER", "TAKER")
}

func othersAreSilent(x *exam) {
	x.covers("SPOT-MYO-10")
	m := x.market()
	a, b := x.traders(m)
	s := x.account("100 USDT").private()
	own := b.private()
	_, id := x.trade(m, a, b, "10", "1")
	a.try(m.limit("BUY", "1000000", "1000000"))
	if got := s.fence(); len(got) != 0 {
		x.Errorf("%d messages of others; the first is %s", len(got), got[0])
	}
	for _, message := range own.fence() {
		x.equal("obid", message.get("obid").text, id)
	}
}

func updatesSayWhatIsLeft(x *exam) {
	x.covers("SPOT-MYO-11")
	m := x.market()
	a, b := x.traders(m)
	s := a.private()
	a.sell(m, "10", "3")
	b.buy(m, "10", "1")
	b.buy(m, "10", "2")
	a.place(m.limit("BUY", "9", "2").with("time_in_force", "IOC"))
	b.sell(m, "8", "4")
	a.place(m.byAmount("BUY", "1.5").with("time_in_force", "IOC"))
	a.place(m.byTotal("BUY", "10").with("time_in_force", "IOC"))
	var got []string
	for _, message := range of(s.fence(), "myOrders") {
		if message.get("event").text == "orderUpdate" {
			got = append(got, message.get("side").text+":"+message.get("price").text+":"+message.get("left").text)
		}
	}
	x.same("updates", got, "SELL:10:2", "SELL:10:0", "BUY:9:2", "BUY::0", "BUY::")
}
