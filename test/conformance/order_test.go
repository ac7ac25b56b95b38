package conformance

import "encoding/json"

// limit returns a LIMIT GTC order with a RESULT answer.
func (m *market) limit(side, price, amount string) fields {
	return fields{
		"pair": m.pair, "side": side, "type": "LIMIT", "time_in_force": "GTC",
		"price": price, "amount": amount, "resp_type": "RESULT",
	}
}

// byAmount returns a MARKET order by amount.
func (m *market) byAmount(side, amount string) fields {
	return m.limit(side, "", amount).with("price", nil).with("type", "MARKET").with("time_in_force", "IOC")
}

// byTotal returns a MARKET order by total.
func (m *market) byTotal(side, total string) fields {
	return m.byAmount(side, "").with("amount", nil).with("total", total)
}

// stop returns a STOP_LIMIT order.
func (m *market) stop(side, stop, price, amount string) fields {
	return m.limit(side, price, amount).with("type", "STOP_LIMIT").with("stop", stop)
}

// takeProfit returns a TAKE_PROFIT_LIMIT order.
func (m *market) takeProfit(side, stop, price, amount string) fields {
	return m.stop(side, stop, price, amount).with("type", "TAKE_PROFIT_LIMIT")
}

// behind returns an order of a type that waits for its stop and names no price: by amount, or by
// total if amount is empty.
func (m *market) behind(kind, side, stop, amount, total string) fields {
	order := m.byAmount(side, amount).with("time_in_force", "GTC").with("type", kind).with("stop", stop)
	if amount == "" {
		order = order.with("amount", nil).with("total", total)
	}
	return order
}

// try posts an order.
func (a *account) try(order fields) *answer {
	a.x.Helper()
	return a.post("/open_orders/new", order)
}

// later posts orders one after another, concurrently with the check and past the proxy.
// Missing answers are left out.
func (a *account) later(orders ...fields) <-chan *answer {
	answers := make(chan *answer, len(orders))
	go func() {
		defer close(answers)
		for _, order := range orders {
			body, err := json.Marshal(order.with("api_key", a.key))
			if err != nil {
				continue
			}
			res, err := a.x.exchange.send("POST", a.x.exchange.url+"/spot/open_orders/new", string(body), nil)
			if err == nil {
				answers <- res
			}
		}
	}()
	return answers
}

// place posts an order that must be accepted, and returns its id.
func (a *account) place(order fields) string {
	a.x.Helper()
	res := a.try(order)
	id := res.value.get("obid")
	if id.kind != '0' {
		a.x.broken("order %v: %s", order, res.value)
	}
	return id.text
}

// buy places a LIMIT BUY, sell a LIMIT SELL.
func (a *account) buy(m *market, price, amount string) string {
	a.x.Helper()
	return a.place(m.limit("BUY", price, amount))
}

func (a *account) sell(m *market, price, amount string) string {
	a.x.Helper()
	return a.place(m.limit("SELL", price, amount))
}

// trade lets the first account sell at rest to the second.
func (x *exam) trade(m *market, seller, buyer *account, price, amount string) (sold, bought string) {
	x.Helper()
	return seller.sell(m, price, amount), buyer.buy(m, price, amount)
}

// becomes checks the status and filled amount of a RESULT answer.
func (x *exam) becomes(a *answer, status, filled string) {
	x.Helper()
	x.answers(a, `{"success":true,"obid":"#id","status":"`+status+`","filled":"`+filled+`"}`)
}

// stands checks the state of an order in the history.
func (a *account) stands(obid, status, filled string) {
	a.x.Helper()
	row := a.history(obid)
	a.x.equal("status of order "+obid, row.get("status").text, status)
	a.x.equal("filled of order "+obid, row.get("filled").text, filled)
}

// rejects expects a rejection with this reason.
func (x *exam) rejects(a *answer, reason string) {
	x.Helper()
	x.failed(a)
	got := a.value.get("error").text
	if len(got) <= len(reason)+2 || got[:len(reason)+2] != reason+": " {
		x.Errorf("error is %q, want %s: and a sentence", got, reason)
	}
}
