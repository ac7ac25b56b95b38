package binance

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

func allOrdersEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/api/v3/allOrders", WS: "allOrders", Security: UserData, Weight: fixed(20),
		Params: append(need("symbol"), may("orderId startTime endTime limit")...), Fields: orderFields,
		Answer: (*Facade).allOrders,
	}
}

// mostLookup bounds the time between startTime and endTime.
const mostLookup = bourse.Day

// period reads startTime and endTime into a query, which is for the oldest rows if the
// former is given alone or with the latter.
func (r *Request) period(q *history.ListQuery) {
	from, byStart := r.Time("startTime")
	to, byEnd := r.Until("endTime")
	if byStart && byEnd && to-from >= mostLookup+millisecond {
		r.Fail(Errorf(codeLookup, "More than 24 hours between startTime and endTime."))
	}
	q.From, q.Oldest = from, byStart
	if byEnd {
		q.To = max(to, 1)
	}
}

// allOrders lists an account's orders in a market, oldest first.
func (f *Facade) allOrders(r *Request) error {
	m, q := r.market(), history.ListQuery{Limit: r.Limit(usualLimit, mostLimit)}
	r.period(&q)
	if r.Has("orderId") {
		q.AtLeast, q.Oldest = uint64(max(r.Long("orderId", 0), 0)), true
	}
	if err := r.Err(); err != nil {
		return err
	}

	q.Market = m.ID
	list, err := f.History.Orders(r.Context, r.Who.Account, &q)
	if err != nil {
		return err
	}
	slices.Reverse(list)
	r.Out.Array()
	for i := range list {
		r.writeOrder(&list[i])
	}
	r.Out.EndArray()
	return nil
}
