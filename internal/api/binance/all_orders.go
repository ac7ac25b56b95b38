package binance

import (
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
	list, err := f.pastOrders(r, q)
	if err != nil {
		return err
	}
	r.Out.Array()
	r.writeOrders(list)
	r.Out.EndArray()
	return nil
}

// pastOrders reads the orders that a query selects, newest first, some at a time: each may have
// any number of fills, of which the value alone is kept.
func (f *Facade) pastOrders(r *Request, q history.ListQuery) (list []history.OrderFills, err error) {
	for left := q.Limit; left > 0; {
		q.Limit = min(left, readTogether)
		part, err := f.History.Orders(r.Context, r.Who.Account, &q)
		if err != nil {
			return nil, err
		}
		left -= len(part)
		if len(part) < q.Limit {
			left = 0
		}
		if len(part) == 0 {
			break
		}
		r.charge(1)
		for i := range part {
			r.summarize(&part[i])
		}
		if q.Oldest {
			q.AtLeast = uint64(part[0].ID) + 1
			list = append(part, list...)
		} else {
			q.Before = uint64(part[len(part)-1].ID)
			list = append(list, part...)
		}
	}
	return list, nil
}

// summarize replaces the fills of an order by one with their value and the last one's time, and
// charges for them.
func (r *Request) summarize(o *history.OrderFills) {
	if n := len(o.Fills); n > 0 {
		r.chargeRows(n)
		o.Fills = []history.Fill{{Total: valueOf(o.Fills), Time: o.Fills[n-1].Time}}
	}
}
