package conformance

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"
)

// slowChecks wait for the start of a minute.
var slowChecks = []check{nextMinute}

// TestAcrossMinutes is in a file that sorts early, so that it waits while the other
// checks run.
func TestAcrossMinutes(t *testing.T) {
	examine(t, slowChecks)
}

// reconnect opens a connection to whichever node leads by now.
func (x *exam) reconnect() *socket {
	x.Helper()
	for end := time.Now().Add(leadWithin); time.Now().Before(end); {
		if s, err := x.dial("/stream", nil); err == nil {
			return s
		}
	}
	x.broken("no node takes a connection")
	return nil
}

func nextMinute(x *exam) {
	m := x.market()
	a, b := x.traders(m)
	s := x.connect()
	s.sub(m.pair + "@candleStick/1")
	x.trade(m, a, b, "10", "1")
	start := seconds(x.trades(m).items[0].get("time").text) / 60 * 60
	before := x.patience
	x.patience += time.Minute
	var empty *value
	for empty == nil {
		got, err := s.next()
		if err != nil && *unrestFlag && !errors.Is(err, errNoMessage) {
			s = x.reconnect()
			s.sub(m.pair + "@candleStick/1")
			start = seconds(x.post("/time", fields{}).value.get("time").text) / 60 * 60
			continue
		}
		if err != nil {
			x.covers("SPOT-STR-4")
			x.Fatalf("no candle of the next minute: %v", err)
		}
		if seconds(got.get("time").text) > start {
			empty = got
		}
	}
	x.patience = before
	x.covers("SPOT-STR-4")
	next := strconv.FormatInt(start+60, 10)
	candle := `,"open":"10","high":"10","low":"10","close":"10","volume":"0"}`
	x.match(empty, `{"class":"data","stream":"`+m.pair+`@candleStick/1","time":`+next+`,"time_us":`+next+`000000,"pair":"`+m.pair+`"`+
		strings.TrimSuffix(candle, "}")+`,"seq":"#id"}`)
	x.covers("SPOT-CDL-8")
	rows := x.candles(m, "1", start+60, start+60).value.get("candlestick")
	x.match(rows, `[{"time":"`+next+`.000000"`+candle+`]`)
}
