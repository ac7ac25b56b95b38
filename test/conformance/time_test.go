package conformance

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

var timeChecks = []check{timesAreTexts, streamTimes, timeGoesOn, oneTimeForATrade, microseconds}

func TestTimes(t *testing.T) { examine(t, timeChecks) }

func timesAreTexts(x *exam) {
	x.covers("SPOT-TIM-1")
	m := x.market()
	a, b := x.traders(m)
	x.trade(m, a, b, "10", "1")
	a.sell(m, "10", "1")
	x.match(x.post("/time", fields{}).value, `{"success":true,"time":"#time"}`)
	for what, v := range map[string]*value{
		"trade": x.trades(m).items[0], "own trade": a.list("/trades_history").items[0],
		"open order": a.list("/open_orders").items[0], "order": a.list("/orders_history").items[0],
		"trade of an order": b.list("/orders_history").items[0].get("trades").items[0],
	} {
		if !placeholders["#time"].form.MatchString(v.get("time").text) || v.get("time").kind != '"' {
			x.Errorf("time of %s is %s", what, v.get("time"))
		}
	}
}

func streamTimes(x *exam) {
	x.covers("SPOT-TIM-2")
	m := x.market()
	a, b := x.traders(m)
	s := b.private()
	s.sub(m.pair+"@marketTrade", m.pair+"@candleStick/1")
	x.trade(m, a, b, "10", "1")
	got := s.fence()
	if len(got) == 0 {
		x.Fatalf("no messages")
	}
	for _, message := range got {
		x.match(message.get("time"), `"#unix"`)
	}
}

func timeGoesOn(x *exam) {
	x.covers("SPOT-TIM-3")
	now := func() *answer { return x.post("/time", fields{}) }
	first := now().value.get("time").text
	last := first
	later := func(a *answer) bool {
		text := a.value.get("time").text
		if text < last {
			x.Errorf("time went from %s to %s", last, text)
		}
		last = text
		return text > first
	}
	// A second, and some delay of a busy machine.
	if a := x.eventually(2*time.Second, now, later); a.value.get("time").text <= first {
		x.Errorf("time stands still at %s", first)
	}
}

func oneTimeForATrade(x *exam) {
	x.covers("SPOT-TIM-4")
	m := x.market()
	a, b := x.traders(m)
	s := x.connect()
	s.sub(m.pair + "@marketTrade")
	sold, bought := x.trade(m, a, b, "10", "1")
	when := x.trades(m).items[0].get("time").text
	x.equal("time of the seller's trade", a.list("/trades_history").items[0].get("time").text, when)
	x.equal("time of the buyer's trade", b.list("/trades_history").items[0].get("time").text, when)
	x.equal("time in the seller's order", a.history(sold).get("trades").items[0].get("time").text, when)
	x.equal("time in the buyer's order", b.history(bought).get("trades").items[0].get("time").text, when)
	seconds, _, _ := strings.Cut(when, ".")
	x.same("time in the stream", (&value{items: s.fence()}).column("time"), seconds)
}

func microseconds(x *exam) {
	x.covers("SPOT-TIM-5")
	m := x.market()
	a, b := x.traders(m)
	s := b.private()
	s.sub(m.pair+"@marketTrade", m.pair+"@candleStick/1")
	x.trade(m, a, b, "10", "1")
	when := strings.Replace(x.trades(m).items[0].get("time").text, ".", "", 1)
	got := s.fence()
	x.equal("time_us of a trade", first(of(got, m.pair+"@marketTrade")).get("time_us").text, when)
	x.equal("time_us of an own trade", first(of(got, "myTrades")).get("time_us").text, when)
	for _, message := range got {
		whole, _ := strings.CutPrefix(message.get("time_us").text, message.get("time").text)
		x.equal("digits of time_us behind time", strconv.Itoa(len(whole)), "6")
	}
}
