package conformance

import (
	"slices"
	"testing"
)

var silenceChecks = []check{
	armed, rearmed, fires, firesOnce, closes, silenceNeedsTrade,
}

func TestSilence(t *testing.T) { examine(t, silenceChecks) }

// after arms the account's switch.
func (a *account) after(seconds int, more fields) *answer {
	a.x.Helper()
	for name, value := range more {
		return a.post("/open_orders/cancel_after", fields{"seconds": seconds, name: value})
	}
	return a.post("/open_orders/cancel_after", fields{"seconds": seconds})
}

// canceled waits until messages say that orders are canceled, and no others.
func (s *socket) canceled(ids ...string) {
	s.x.Helper()
	for len(ids) > 0 {
		m, err := s.next()
		if err != nil {
			s.x.Fatalf("orders %v were not canceled: %v", ids, err)
		}
		if m.get("status").text != "CANCELED" {
			continue
		}
		at := slices.Index(ids, m.get("obid").text)
		if at < 0 {
			s.x.Fatalf("%s, want %v", m, ids)
		}
		ids = slices.Delete(ids, at, at+1)
	}
}

func armed(x *exam) {
	x.covers("SPOT-SIL-1")
	a := x.account()
	before := seconds(x.post("/time", fields{}).value.get("time").text)
	armed := a.after(86400, nil)
	x.golden(armed.value, "open_orders_cancel_after")
	if at := seconds(armed.value.get("expires").text); at < before+86400 || at > before+86460 {
		x.Errorf("expires is %v, a day after %v", at, before)
	}
	x.fails(a.post("/open_orders/cancel_after", fields{}), "Missing data: seconds")
	for _, wrong := range []any{-1, 86401, 1.5, "60", true} {
		x.failsNaming(a.post("/open_orders/cancel_after", fields{"seconds": wrong}), "seconds")
	}
	x.failsNaming(a.after(60, fields{"pair": "XXX/YYY"}), "pair")
}

func rearmed(x *exam) {
	x.covers("SPOT-SIL-2")
	a, m, n, ids := x.twoMarkets()
	s := a.private()
	a.after(3, nil)
	x.succeeds(a.after(60, nil))
	a.after(3, fields{"pair": m.pair})
	x.answers(a.after(0, fields{"pair": m.pair}), `{"success":true,"expires":null}`)
	x.succeeds(a.after(4, fields{"pair": n.pair}))
	s.canceled(ids[1], ids[3])
	x.same("open orders", a.open(), ids[2], ids[0])
	x.answers(a.after(0, nil), `{"success":true,"expires":null}`)
	x.answers(a.after(0, nil), `{"success":true,"expires":null}`)
	x.same("open orders", a.open(), ids[2], ids[0])
}

func fires(x *exam) {
	x.covers("SPOT-SIL-3")
	a, m, _, ids := x.twoMarkets()
	b := x.trader(m)
	other := b.sell(m, "12", "1")
	s := a.private()
	expires := seconds(a.after(2, fields{"pair": m.pair}).value.get("expires").text)
	b.buy(m, "10", "0.5")
	later := a.place(m.stop("SELL", "0.001", "5", "1"))
	s.canceled(ids[0], ids[2], later)
	if now := seconds(x.post("/time", fields{}).value.get("time").text); now < expires || now > expires+2 {
		x.Errorf("canceled at %v, expires was %v", now, expires)
	}
	a.stands(ids[0], "CANCELED", "0.5")
	a.stands(ids[2], "CANCELED", "0")
	x.same("open orders", a.open(), ids[3], ids[1])
	x.same("open orders of another", b.open(), other)
	a.after(1, nil)
	s.canceled(ids[1], ids[3])
	x.same("open orders", a.open())
}

func firesOnce(x *exam) {
	x.covers("SPOT-SIL-4")
	m := x.market()
	a, b := x.traders(m)
	id, other := a.sell(m, "10", "1"), b.sell(m, "10", "1")
	s, t := a.private(), b.private()
	a.after(1, nil)
	s.canceled(id)
	id = a.sell(m, "10", "1")
	b.after(1, nil)
	t.canceled(other)
	x.same("open orders", a.open(), id)
}

func closes(x *exam) {
	x.covers("SPOT-SIL-5")
	a, m, _, ids := x.twoMarkets()
	b := x.trader(m)
	other := b.sell(m, "12", "1")
	s, plain, c := a.private(), x.connect(), x.connect()
	plain.auth(a)
	_ = plain.conn.Close()
	c.succeeds(c.ask("auth", fields{"api_key": a.key, "cancel_on_close": true}))
	x.same("open orders", a.open(), ids[3], ids[2], ids[1], ids[0])
	_ = c.conn.Close()
	s.canceled(ids[0], ids[2], ids[1], ids[3])
	x.same("open orders", a.open())
	x.same("open orders of another", b.open(), other)
}

func silenceNeedsTrade(x *exam) {
	x.covers("SPOT-SIL-6")
	a := x.account()
	key, _ := a.newKey("read")
	reader := &account{x: x, key: key}
	x.fails(reader.after(1, nil), "Forbidden: the key has no scope trade")
	s := x.connect()
	s.fails(s.ask("auth", fields{"api_key": key, "cancel_on_close": true}), "scope trade")
	s.fails(s.ask("sub", fields{"streams": "myOrders"}), "Unauthorized")
	s.fails(s.ask("auth", fields{"api_key": key, "cancel_on_close": "yes"}), "cancel_on_close")
	s.succeeds(s.ask("auth", fields{"api_key": key}))
	s.succeeds(s.ask("sub", fields{"streams": "myOrders"}))
}
