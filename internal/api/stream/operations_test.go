package stream_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"github.com/bourse-exchange/bourse"
)

func resp(id any) string { return fmt.Sprintf(`{"class":"resp","id":%v,"success":true}`, id) }

func failed(id any, code, err string) string {
	return fmt.Sprintf(`{"class":"resp","id":%v,"success":false,"error":%q,"code":%q}`, id, err, code)
}

// TestOperations sends all kinds of requests on one connection.
func TestOperations(t *testing.T) {
	c := newExchange(t, 0).dial()
	for _, step := range []struct{ request, answer string }{
		{`{"op":"ping","id":1}`, resp(1)},
		{`{"id":2,"op":"ping","more":{"x":[1]}}`, resp(2)},
		{`{"op":"pong","id":3}`, failed(3, "VALIDATION_ERROR", "op: must be one of ping, auth, sub and unsub")},
		{`{"op":"","id":4}`, failed(4, "VALIDATION_ERROR", "op: must be one of ping, auth, sub and unsub")},
		{`{"op":"PING","id":5}`, failed(5, "VALIDATION_ERROR", "op: must be one of ping, auth, sub and unsub")},
		{`{"op":"ping"}`, failed("null", "MISSING_DATA", "Missing data: id")},
		{`{"op":"sub","id":null,"streams":"BTC/USDT@ticker"}`, failed("null", "MISSING_DATA", "Missing data: id")},
		{`{"op":"ping","id":6,"Streams":"x"}`, failed(6, "VALIDATION_ERROR", `Unknown field "Streams", did you mean streams?`)},

		{`{"op":"sub","id":10}`, failed(10, "MISSING_DATA", "Missing data: streams")},
		{`{"op":"sub","id":11,"streams":null}`, failed(11, "MISSING_DATA", "Missing data: streams")},
		{`{"op":"sub","id":12,"streams":[]}`, failed(12, "MISSING_DATA", "Missing data")},
		{`{"op":"sub","id":13,"streams":1}`, failed(13, "VALIDATION_ERROR", "streams: must be a string or an array of strings")},
		{`{"op":"sub","id":14,"streams":[1]}`, failed(14, "VALIDATION_ERROR", "streams: must be an array of at most 1024 strings")},
		{`{"op":"sub","id":15,"streams":"BTC/EUR@ticker"}`, failed(15, "NOT_FOUND", `Unknown pair in "BTC/EUR@ticker"`)},
		{`{"op":"sub","id":16,"streams":"BTC/USDT@tick"}`, failed(16, "NOT_FOUND", `Unknown stream "BTC/USDT@tick"`)},
		{`{"op":"sub","id":17,"streams":"BTC/USDT@candleStick/7"}`, failed(17, "NOT_FOUND", `Unknown stream "BTC/USDT@candleStick/7"`)},
		{`{"op":"sub","id":18,"streams":"BTC/USDT@candleStick"}`, failed(18, "NOT_FOUND", `Unknown stream "BTC/USDT@candleStick"`)},
		{`{"op":"sub","id":19,"streams":"BTC/USDT@candleStick/"}`, failed(19, "NOT_FOUND", `Unknown stream "BTC/USDT@candleStick/"`)},
		{`{"op":"sub","id":20,"streams":"BTC/USDT@1"}`, failed(20, "NOT_FOUND", `Unknown stream "BTC/USDT@1"`)},
		{`{"op":"sub","id":21,"streams":""}`, failed(21, "NOT_FOUND", `Unknown stream ""`)},
		{`{"op":"sub","id":22,"streams":"btc/usdt@ticker"}`, failed(22, "NOT_FOUND", `Unknown pair in "btc/usdt@ticker"`)},
		{`{"op":"sub","id":23,"streams":"myOrders"}`, failed(23, "UNAUTHORIZED", "Unauthorized")},
		{`{"op":"sub","id":24,"streams":["BTC/USDT@ticker","myTrades"]}`, failed(24, "UNAUTHORIZED", "Unauthorized")},
		{`{"op":"unsub","id":25,"streams":"myTrades"}`, failed(25, "UNAUTHORIZED", "Unauthorized")},
		{`{"op":"unsub","id":26,"streams":[]}`, failed(26, "MISSING_DATA", "Missing data")},
		{`{"op":"unsub","id":27,"streams":"BTC/EUR@ticker"}`, failed(27, "NOT_FOUND", `Unknown pair in "BTC/EUR@ticker"`)},
		{`{"op":"sub","id":28,"streams":"BTC/USDT@ticker"}`, resp(28)},
		{`{"op":"sub","id":29,"streams":["BTC/USDT@ticker","BTC/USDT@ticker"]}`, resp(29)},
		{`{"op":"unsub","id":30,"streams":["BTC/USDT@ticker","BTC/USDT@orderBook"]}`, resp(30)},
		{`{"op":"unsub","id":31,"streams":["BTC/USDT@ticker"]}`, resp(31)},

		{`{"op":"auth","id":40}`, failed(40, "MISSING_DATA", "Missing data: api_key")},
		{`{"op":"auth","id":41,"api_key":7}`, failed(41, "VALIDATION_ERROR", "api_key: must be a string")},
		{`{"op":"auth","id":42,"api_key":"nobody"}`, failed(42, "INVALID_KEY", "Unauthorized")},
		{`{"op":"auth","id":43,"api_key":"alice trades"}`, failed(43, "FORBIDDEN", "Forbidden: the key has no scope read")},
		{`{"op":"auth","id":44,"api_key":"broken"}`, failed(44, "INTERNAL_SERVER_ERROR", "Internal error, try again later")},
		{`{"op":"sub","id":45,"streams":"myOrders"}`, failed(45, "UNAUTHORIZED", "Unauthorized")},
		{`{"op":"auth","id":46,"api_key":"alice"}`, resp(46)},
		{`{"op":"auth","id":47,"api_key":"alice"}`, resp(47)},
		{`{"op":"auth","id":48,"api_key":"alice again"}`, resp(48)},
		{`{"op":"auth","id":49,"api_key":"bob"}`, failed(49, "FORBIDDEN", "This connection belongs to another account")},
		{`{"op":"sub","id":50,"streams":["myOrders","myTrades"]}`, resp(50)},
	} {
		c.ask(step.request, step.answer)
	}
}

func TestInternalErrorsAreLogged(t *testing.T) {
	x := newExchange(t, 0)
	x.dial().ask(`{"op":"auth","id":1,"api_key":"broken"}`, failed(1, "INTERNAL_SERVER_ERROR", "Internal error, try again later"))
	if got := x.log.String(); !strings.Contains(got, "unexpected EOF") || strings.Contains(got, "broken") {
		t.Errorf("logged was %q", got)
	}
}

func TestIdsAreAnyInteger(t *testing.T) {
	c := newExchange(t, 0).dial()
	for _, id := range []string{
		"0", "-1", "-0", "7", "7", "9223372036854775808", "-123456789012345678901234567890",
	} {
		c.ask(`{"op":"ping","id":`+id+`}`, resp(id))
	}
}

func TestAnswersComeInOrder(t *testing.T) {
	c := newExchange(t, 0).dial()
	var requests []byte
	for i := range 90 {
		f := ws.MaskFrame(ws.NewTextFrame(fmt.Appendf(nil, `{"op":"%s","id":%d,"streams":"BTC/USDT@ticker"}`,
			[]string{"ping", "sub", "unsub", "auth"}[i%4], i)))
		requests = append(requests, ws.MustCompileFrame(f)...)
	}
	c.raw(requests)
	for i := range 90 {
		want := resp(i)
		if i%4 == 3 {
			want = failed(i, "MISSING_DATA", "Missing data: api_key")
		}
		c.want(want)
	}
}

func TestSubscriptionIsAllOrNothing(t *testing.T) {
	x := newExchange(t, 0)
	c := x.dial()
	c.ask(`{"op":"sub","id":1,"streams":["BTC/USDT@orderBook","BTC/EUR@orderBook"]}`, failed(1, "NOT_FOUND", `Unknown pair in "BTC/EUR@orderBook"`))
	x.place(alice, limit(bourse.Buy, 5900000, 1000))
	if got := c.drain(); len(got) != 0 {
		t.Errorf("half a subscription sent %v", got)
	}
	c.ok(`{"op":"sub","id":2,"streams":["BTC/USDT@orderBook"]}`)
	c.ok(`{"op":"sub","id":3,"streams":"BTC/USDT@orderBook"}`)
	c.ask(`{"op":"unsub","id":4,"streams":["BTC/USDT@orderBook","BTC/EUR@orderBook"]}`, failed(4, "NOT_FOUND", `Unknown pair in "BTC/EUR@orderBook"`))
	x.place(alice, limit(bourse.Buy, 5900000, 1000))
	if got := c.drain(); len(got) != 1 {
		t.Errorf("a message came %d times: %v", len(got), got)
	}
	c.ok(`{"op":"unsub","id":5,"streams":"BTC/USDT@orderBook"}`)
	x.place(alice, limit(bourse.Buy, 5900000, 1000))
	if got := c.drain(); len(got) != 0 {
		t.Errorf("behind the unsubscription came %v", got)
	}
}

func TestSubscriptionLimit(t *testing.T) {
	c := newExchange(t, 150).dial()
	var names []string
	for i := range 150 {
		for _, kind := range []string{
			"marketTrade", "ticker", "tickerEx", "orderBook", "candleStick/1", "candleStick/60", "candleStick/1D",
		} {
			names = append(names, fmt.Sprintf(`"A%d/USDT@%s"`, i, kind))
		}
	}
	list := func(names []string) string { return "[" + strings.Join(names, ",") + "]" }
	for i := 0; i < 1000; i += 200 {
		c.ok(`{"op":"sub","id":1,"streams":` + list(names[i:i+200]) + `}`)
	}
	const refused = "A connection may have at most 1024 streams"
	c.ask(`{"op":"sub","id":2,"streams":`+list(names[1000:1025])+`}`, failed(2, "NOT_ACCEPTABLE", refused))
	c.ok(`{"op":"sub","id":3,"streams":` + list(names[1000:1023]) + `}`)
	c.ok(`{"op":"sub","id":4,"streams":` + list(append(names[1022:1024:1024], names[1023], names[0])) + `}`)
	c.ask(`{"op":"sub","id":5,"streams":`+names[1024]+`}`, failed(5, "NOT_ACCEPTABLE", refused))
	c.ok(`{"op":"unsub","id":6,"streams":` + names[7] + `}`)
	c.ok(`{"op":"sub","id":7,"streams":` + names[1024] + `}`)
}

func TestTooManyRequests(t *testing.T) {
	x := newExchange(t, 0)
	now := time.Now()
	x.frozen.Store(&now)
	c := x.dial()
	for i := range 100 {
		c.ask(fmt.Sprintf(`{"op":"ping","id":%d}`, i), resp(i))
	}
	for i := range 5 {
		c.ask(fmt.Sprintf(`{"op":"sub","id":%d,"streams":"BTC/USDT@orderBook"}`, i), failed(i, "RATE_LIMIT", "Too many requests"))
		c.frame(ws.NewPingFrame([]byte("x")))
		if f, err := c.next(); err != nil || f.Header.OpCode != ws.OpPong {
			t.Fatalf("%+v, %v", f, err)
		}
	}
	x.dial().ask(`{"op":"ping","id":1}`, resp(1)) // others are not affected
	later := now.Add(time.Second)
	x.frozen.Store(&later)
	c.ask(`{"op":"ping","id":7}`, resp(7))
	x.place(alice, limit(bourse.Buy, 5900000, 1000))
	if got := c.drain(); len(got) != 0 {
		t.Errorf("a refused subscription sent %v", got)
	}
}
