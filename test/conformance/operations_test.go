package conformance

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"
)

var operationsChecks = []check{
	oneAnswerEach, anyID, pingInTime, unknownOperation, textOrArray, streamsNeeded, unknownStreams, allOrNone, subscribedOnce,
	nothingAfterUnsub, authAnswers, privateNeedsAuth, secondAuth, revokedOnStream, longMessage, noRequest, requestWithoutID, tooManyRequests,
	streamOrigin, fragments, binaryMessage, expiredOnStream, tooManyFrames, tooManyNames, codesOnStreams,
}

func TestOperations(t *testing.T) { examine(t, operationsChecks) }

const succeeded = `{"class":"resp","id":%d,"success":true}`

// fails expects an error as the answer to the socket's last request.
func (s *socket) fails(m *value, words ...string) {
	s.x.Helper()
	s.x.match(m, fmt.Sprintf(`{"class":"resp","id":%d,"success":false,"error":"#text","code":"#code"}`, s.id))
	for _, word := range words {
		if got := m.get("error").text; !strings.Contains(got, word) {
			s.x.Errorf("error is %q, which does not name %q", got, word)
		}
	}
}

// succeeds expects success as the answer to the socket's last request.
func (s *socket) succeeds(m *value) {
	s.x.Helper()
	s.x.match(m, fmt.Sprintf(succeeded, s.id))
}

func oneAnswerEach(x *exam) {
	x.covers("SPOT-WS-1")
	s := x.connect()
	for id := range 20 {
		op := []string{"ping", "nonsense"}[id%2]
		s.say(fmt.Sprintf(`{"op":"%s","id":%d}`, op, id))
	}
	for id := range 20 {
		want := fmt.Sprintf(succeeded, id)
		if id%2 == 1 {
			want = fmt.Sprintf(`{"class":"resp","id":%d,"success":false,"error":"#text","code":"#code"}`, id)
		}
		x.match(s.answer(), want)
	}
	s.say(`{"op":"ping","id":7}`)
	x.golden(s.answer(), "stream_resp")
	s.say(`{"op":"nonsense","id":7}`)
	x.golden(s.answer(), "stream_resp_error")
	s.id = 100
	s.succeeds(s.ask("ping", fields{}))
}

func anyID(x *exam) {
	x.covers("SPOT-WS-2")
	s := x.connect()
	for _, id := range []string{"0", "-1", "7", "7", "9223372036854775807", "-123456789012345678901234567890"} {
		s.say(`{"id":` + id + `,"op":"ping"}`)
		x.match(s.answer(), `{"class":"resp","id":`+id+`,"success":true}`)
	}
}

func pingInTime(x *exam) {
	x.covers("SPOT-WS-3")
	m := x.market()
	a := x.trader(m)
	s, idle := x.connect(), x.connect()
	s.sub(m.pair+"@orderBook", m.pair+"@marketTrade", m.pair+"@tickerEx")

	// Only moments in which the machine is not busy count: a connection without data that
	// pings at the same time must be answered in time.
	const moments, most = 20, 400
	counted := 0
	for i := 0; counted < moments && i < most; i++ {
		a.sell(m, strconv.Itoa(10+i), "1")
		began := time.Now()
		s.request("ping", fields{})
		idle.request("ping", fields{})
		idle.succeeds(idle.answer())
		hasTime := time.Since(began) <= inTime
		s.succeeds(s.answer())
		if !hasTime {
			continue
		}
		counted++
		if took := time.Since(began); took > inTime {
			x.Errorf("a ping was answered after %v", took)
		}
	}
	if counted < moments {
		x.Errorf("%d pings of %d were answered within %v", counted, most, inTime)
	}
}

// inTime is the time within which a ping must be answered.
const inTime = 100 * time.Millisecond

func unknownOperation(x *exam) {
	x.covers("SPOT-WS-4")
	s := x.connect()
	for _, op := range []string{"", "Ping", "subscribe", "login"} {
		s.fails(s.ask(op, fields{}))
	}
	s.succeeds(s.ask("ping", fields{}))
}

func textOrArray(x *exam) {
	x.covers("SPOT-WS-5")
	m := x.market()
	a := x.trader(m)
	s := x.connect()
	one, two := m.pair+"@orderBook", m.pair+"@candleStick/1"
	for _, streams := range []any{one, []string{one}, []string{one, two}} {
		s.succeeds(s.ask("sub", fields{"streams": streams}))
		a.cancel(a.sell(m, "10", "1"))
		if n := len(of(s.fence(), one)); n != 2 {
			x.Errorf("%d messages after sub %v, want 2", n, streams)
		}
		s.succeeds(s.ask("unsub", fields{"streams": streams}))
		a.cancel(a.sell(m, "10", "1"))
		if n := len(s.fence()); n != 0 {
			x.Errorf("%d messages after unsub %v", n, streams)
		}
	}
	s.fails(s.ask("sub", fields{"streams": 7}), "streams")
	s.fails(s.ask("sub", fields{"streams": []any{one, 7}}), "streams")
}

func streamsNeeded(x *exam) {
	x.covers("SPOT-WS-6")
	s := x.connect()
	for _, op := range []string{"sub", "unsub"} {
		x.equal("error", s.ask(op, fields{}).get("error").text, "Missing data: streams")
		x.equal("error", s.ask(op, fields{"streams": []string{}}).get("error").text, "Missing data")
	}
}

func unknownStreams(x *exam) {
	x.covers("SPOT-WS-7")
	s := x.connect()
	for _, name := range []string{
		"NO/SUCH@ticker", "BTC/USDT@nothing", "BTC/USDT@candleStick/7", "BTC/USDT@candleStick", "BTC/USDT", "myStuff", "btc/usdt@ticker", "",
		"@ticker", "BTC/USDT@Ticker", "BTC/USDT@ticker ",
	} {
		s.fails(s.ask("sub", fields{"streams": name}), name)
		s.fails(s.ask("unsub", fields{"streams": []string{name}}), name)
	}
}

func allOrNone(x *exam) {
	x.covers("SPOT-WS-8")
	m := x.market()
	a := x.trader(m)
	s := x.connect()
	book := m.pair + "@orderBook"
	s.fails(s.ask("sub", fields{"streams": []string{book, "NO/SUCH@ticker"}}))
	a.cancel(a.sell(m, "10", "1"))
	if n := len(s.fence()); n != 0 {
		x.Errorf("%d messages after a sub that failed", n)
	}
	s.succeeds(s.ask("sub", fields{"streams": book}))
	s.fails(s.ask("unsub", fields{"streams": []string{book, "myOrders"}}))
	a.cancel(a.sell(m, "10", "1"))
	if n := len(s.fence()); n != 2 {
		x.Errorf("%d messages after an unsub that failed, want 2", n)
	}
}

func subscribedOnce(x *exam) {
	x.covers("SPOT-WS-9")
	m := x.market()
	a := x.trader(m)
	s := x.connect()
	book := m.pair + "@orderBook"
	s.succeeds(s.ask("unsub", fields{"streams": book}))
	s.succeeds(s.ask("sub", fields{"streams": []string{book, book}}))
	s.succeeds(s.ask("sub", fields{"streams": book}))
	a.sell(m, "10", "1")
	if n := len(s.fence()); n != 1 {
		x.Errorf("%d messages, want 1", n)
	}
	s.succeeds(s.ask("unsub", fields{"streams": book}))
	a.sell(m, "10", "1")
	if n := len(s.fence()); n != 0 {
		x.Errorf("%d messages after unsub", n)
	}
}

func nothingAfterUnsub(x *exam) {
	x.covers("SPOT-WS-10")
	m := x.market()
	a := x.trader(m)
	s := x.connect()
	s.sub(m.pair+"@orderBook", m.pair+"@ticker")
	a.sell(m, "10", "1")
	if n := len(s.fence()); n != 1 {
		x.Errorf("%d messages before unsub, want 1", n)
	}
	s.ask("unsub", fields{"streams": m.pair + "@orderBook"})
	a.sell(m, "11", "1")
	a.buy(m, "11", "2")
	if n := len(of(s.fence(), m.pair+"@orderBook")); n != 0 {
		x.Errorf("%d messages after unsub", n)
	}
}

func authAnswers(x *exam) {
	x.covers("SPOT-WS-11")
	a := x.account()
	s := x.connect()
	x.equal("error", s.ask("auth", fields{}).get("error").text, "Missing data: api_key")
	for _, bad := range []string{"x", strings.Repeat("0", 64)} {
		x.equal("error", s.ask("auth", fields{"api_key": bad}).get("error").text, "Unauthorized")
	}
	trade, _ := a.newKey("trade")
	s.fails(s.ask("auth", fields{"api_key": trade}), "read")
	s.fails(s.ask("sub", fields{"streams": "myOrders"}))
	s.succeeds(s.ask("auth", fields{"api_key": a.key}))
	s.succeeds(s.ask("sub", fields{"streams": "myOrders"}))
}

func codesOnStreams(x *exam) {
	x.covers("SPOT-WS-25")
	s := x.connect()
	for _, c := range []struct {
		op   string
		with fields
		code string
	}{
		{"sub", fields{"streams": "myOrders"}, "UNAUTHORIZED"},
		{"sub", fields{"streams": "NO/SUCH@ticker"}, "NOT_FOUND"},
		{"sub", fields{}, "MISSING_DATA"},
		{"auth", fields{"api_key": "useless"}, "INVALID_KEY"},
		{"nonsense", fields{}, "VALIDATION_ERROR"},
	} {
		m := s.ask(c.op, c.with)
		s.fails(m)
		x.equal("code of "+c.op, m.get("code").text, c.code)
	}
}

func privateNeedsAuth(x *exam) {
	x.covers("SPOT-WS-12")
	s := x.connect()
	for _, name := range []string{"myOrders", "myTrades"} {
		x.equal("error", s.ask("sub", fields{"streams": name}).get("error").text, "Unauthorized")
		x.equal("error", s.ask("sub", fields{"streams": []string{"BTC/USDT@ticker", name}}).get("error").text, "Unauthorized")
	}
}

func secondAuth(x *exam) {
	x.covers("SPOT-WS-13")
	m := x.market()
	a, b := x.traders(m)
	s := a.private()
	s.fails(s.ask("auth", fields{"api_key": b.key}))
	other, _ := a.newKey("read")
	s.succeeds(s.ask("auth", fields{"api_key": other}))
	s.succeeds(s.ask("auth", fields{"api_key": a.key}))
	id := a.sell(m, "10", "1")
	b.sell(m, "10", "1")
	x.same("orders told", (&value{items: s.fence()}).column("obid"), id)
}

func revokedOnStream(x *exam) {
	x.covers("SPOT-WS-14")
	a := x.account()
	key, id := a.newKey("read")
	s, other := x.connect(), a.private()
	s.must("auth", fields{"api_key": key})
	x.operate("key", "revoke", id)
	s.ends(time.Second, ws.StatusPolicyViolation)
	other.succeeds(other.ask("ping", fields{}))
}

func longMessage(x *exam) {
	x.covers("SPOT-WS-15")
	s := x.connect()
	message := `{"op":"ping","id":1,"padding":"` + strings.Repeat("x", 1<<14)
	s.say(message[:1<<14-2] + `"}`)
	x.match(s.answer(), fmt.Sprintf(succeeded, 1))
	s.say(message[:1<<14-1] + `"}`)
	s.ends(x.patience, ws.StatusMessageTooBig)
}

func noRequest(x *exam) {
	x.covers("SPOT-WS-16")
	for _, message := range []string{
		"", "ping", "[]", `"ping"`, "{}", `{"id":1}`, `{"op":1,"id":1}`, `{"op":"ping","id":"1"}`, `{"op":"ping","id":1.5}`,
		`{"op":"ping","id":1}{}`, `{"op":"ping","id":1,"id":2}`, "{\"op\":\"ping\",\"id\":1,\"x\":\"\xff\"}",
	} {
		s := x.connect()
		s.say(message)
		s.ends(x.patience, ws.StatusInvalidFramePayloadData, ws.StatusPolicyViolation)
	}
}

func requestWithoutID(x *exam) {
	x.covers("SPOT-WS-24")
	s := x.connect()
	for _, message := range []string{`{"op":"ping"}`, `{"op":"ping","id":null}`, `{"op":"sub","streams":"BTC/USDT@ticker"}`} {
		s.say(message)
		x.match(s.answer(), `{"class":"resp","id":null,"success":false,"error":"Missing data: id","code":"MISSING_DATA"}`)
	}
	s.succeeds(s.ask("ping", fields{}))
}

func tooManyRequests(x *exam) {
	x.covers("SPOT-WS-17")
	s := x.connect()
	const sent = 250
	var burst bytes.Buffer
	for id := range sent {
		_ = ws.WriteFrame(&burst, ws.MaskFrame(ws.NewTextFrame([]byte(fmt.Sprintf(`{"op":"ping","id":%d}`, id)))))
	}
	if _, err := s.conn.Write(burst.Bytes()); err != nil {
		x.broken("%v", err)
	}
	refused := 0
	for id := range sent {
		if m := s.answer(); m.get("success").kind == 'f' {
			refused++
			x.match(m, fmt.Sprintf(`{"class":"resp","id":%d,"success":false,"error":"Too many requests","code":"RATE_LIMIT"}`, id))
		}
	}
	if refused == 0 || refused > 150 {
		x.Errorf("%d of %d requests were refused", refused, sent)
	}
	open := x.eventually(5*time.Second, func() *answer {
		return &answer{value: s.ask("ping", fields{})}
	}, func(a *answer) bool { return a.value.get("success").kind == 't' })
	s.succeeds(open.value)
}

func streamOrigin(x *exam) {
	x.covers("SPOT-WS-18")
	for _, origin := range []string{"https://a.example", "null", "file://"} {
		s, err := x.dial("/stream", http.Header{"Origin": {origin}})
		if err != nil {
			x.Errorf("from %s: %v", origin, err)
			continue
		}
		s.succeeds(s.ask("ping", fields{}))
	}
}

func fragments(x *exam) {
	x.covers("SPOT-WS-19")
	s := x.connect()
	frames := []ws.Frame{
		ws.NewFrame(ws.OpText, false, []byte(`{"op":"pi`)),
		ws.NewPingFrame([]byte("in between")),
		ws.NewFrame(ws.OpContinuation, false, []byte(`ng","i`)),
		ws.NewFrame(ws.OpContinuation, true, []byte(`d":1}`)),
		ws.NewPingFrame(nil),
	}
	for _, f := range frames {
		if err := s.frame(f); err != nil {
			x.broken("%v", err)
		}
	}
	s.id = 1
	s.succeeds(s.answer())
	for _, want := range []string{"in between", ""} {
		end := time.NewTimer(x.patience)
		select {
		case pong := <-s.pongs:
			x.equal("payload of the pong", pong, want)
		case <-end.C:
			x.Errorf("no pong for %q", want)
		}
		end.Stop()
	}
}

func binaryMessage(x *exam) {
	x.covers("SPOT-WS-20")
	s := x.connect()
	if err := s.frame(ws.NewBinaryFrame([]byte(`{"op":"ping","id":1}`))); err != nil {
		x.broken("%v", err)
	}
	s.ends(x.patience, ws.StatusUnsupportedData)
}

func expiredOnStream(x *exam) {
	x.covers("SPOT-WS-21")
	a := x.account()
	life := 5 * time.Second
	if *unrestFlag {
		life = 3 * time.Second // less than a node leads
	}
	ends := time.Now().Add(life).Truncate(time.Second)
	key := text(x.operate("key", "create", a.id, "--name", "short", "--scopes", "read", "--expires", ends.Format(time.RFC3339))["api_key"])
	s, other := x.connect(), a.private()
	s.must("auth", fields{"api_key": key})
	s.ends(time.Until(ends)+time.Second, ws.StatusPolicyViolation)
	if time.Now().Before(ends) {
		x.Errorf("closed before the key's end")
	}
	other.succeeds(other.ask("ping", fields{}))
}

func tooManyFrames(x *exam) {
	x.covers("SPOT-WS-22")
	for name, f := range map[string]ws.Frame{
		"pongs":     ws.NewPongFrame([]byte("x")),
		"fragments": ws.NewFrame(ws.OpContinuation, false, nil),
	} {
		s, other := x.connect(), x.connect()
		if name == "fragments" {
			_ = s.frame(ws.NewFrame(ws.OpText, false, nil))
		}
		_, _ = s.conn.Write(bytes.Repeat(ws.MustCompileFrame(ws.MaskFrame(f)), 20_000)) // the connection may end meanwhile
		s.ends(x.patience, ws.StatusPolicyViolation)
		other.succeeds(other.ask("ping", fields{}))
	}
}

func tooManyNames(x *exam) {
	x.covers("SPOT-WS-23")
	s := x.connect()
	names := strings.TrimSuffix(strings.Repeat(`"BTC/USDT@ticker",`, 800), ",")
	const sent = 50
	for id := range sent {
		s.say(fmt.Sprintf(`{"op":"sub","id":%d,"streams":[%s]}`, id, names))
	}
	refused := 0
	for id := range sent {
		if m := s.answer(); m.get("success").kind == 'f' {
			refused++
			x.match(m, fmt.Sprintf(`{"class":"resp","id":%d,"success":false,"error":"Too many requests","code":"RATE_LIMIT"}`, id))
		}
	}
	if refused == 0 {
		x.Errorf("%d subscriptions of 800 names were taken at once", sent)
	}
	s.succeeds(s.ask("ping", fields{}))
}
