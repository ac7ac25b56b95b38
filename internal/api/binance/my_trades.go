package binance

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

func myTradesEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/api/v3/myTrades", WS: "myTrades", Security: UserData,
		Weight: weighed("5 with orderId, 20 without", func(p *Params) int {
			if p.Has("orderId") {
				return 5
			}
			return 20
		}),
		Params: append(need("symbol"), may("orderId startTime endTime fromId limit")...),
		Fields: []Field{
			{Names: "symbol id orderId price qty quoteQty commission commissionAsset time isBuyer isMaker"},
			{Names: "orderListId", State: Differs, Note: "It is always -1: the orders tell their list."},
			{Names: "isBestMatch", State: Differs, Note: "It is always true."},
		},
		Answer: (*Facade).myTrades,
	}
}

// myTrades lists an account's fills in a market, or those of one order, oldest first.
func (f *Facade) myTrades(r *Request) error {
	m, q := r.market(), history.ListQuery{Limit: r.Limit(usualLimit, mostLimit)}
	r.period(&q)
	from, order := uint64(r.Long("fromId", 0)), bourse.OrderID(r.Long("orderId", 0))
	timed := r.Has("startTime") || r.Has("endTime")
	switch {
	case r.Err() != nil:
		return r.Err()
	case timed && (r.Has("fromId") || r.Has("orderId")):
		return Errorf(codeCombination, "Combination of optional parameters invalid.")
	case r.Has("orderId"):
		return f.fillsOf(r, m, order, from, q.Limit)
	}
	if r.Has("fromId") {
		q.AtLeast, q.Oldest = from, true
	}

	q.Market = m.ID
	list, err := f.History.Fills(r.Context, r.Who.Account, &q)
	if err != nil {
		return err
	}
	slices.Reverse(list)
	r.writeMine(m, list)
	return nil
}

// fillsOf lists the fills of one order, from a trade on.
func (f *Facade) fillsOf(r *Request, m *bourse.Market, id bourse.OrderID, from uint64, limit int) error {
	o, found, err := f.orderOf(r, id)
	if err != nil {
		return err
	}
	list := o.Fills
	if !found || o.Market != m.ID {
		list = nil
	}
	list = slices.DeleteFunc(list, func(fill history.Fill) bool { return fill.Trade < from })
	if more := len(list) - limit; more > 0 && !r.Has("fromId") {
		list = list[more:]
	}
	r.writeMine(m, list[:min(len(list), limit)])
	return nil
}

// writeMine writes fills.
func (r *Request) writeMine(m *bourse.Market, fills []history.Fill) {
	r.Out.Array()
	for i := range fills {
		fill := &fills[i]
		r.Out.Object()
		r.symbol(m)
		r.Out.Uint("id", fill.Trade)
		r.Out.Uint("orderId", uint64(fill.Order))
		r.Out.Int("orderListId", -1)
		r.price("price", fill.Price, m)
		r.lots("qty", fill.Lots, m)
		r.quote("quoteQty", fill.Total, m)
		r.writeCommission(m, fill)
		r.time("time", fill.Time)
		r.Out.Bool("isBuyer", fill.Side == bourse.Buy)
		r.Out.Bool("isMaker", fill.Role == bourse.Maker)
		r.Out.Bool("isBestMatch", true)
		r.Out.EndObject()
	}
	r.Out.EndArray()
}
