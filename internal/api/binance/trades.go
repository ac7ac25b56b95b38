package binance

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

// Bounds of the parameter limit of lists.
const (
	usualLimit = 500
	mostLimit  = 1000
)

var tradeFields = []Field{
	{Names: "id price qty quoteQty time isBuyerMaker"},
	{Names: "isBestMatch", State: Differs, Note: "It is always true."},
}

func tradesEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/api/v3/trades", WS: "trades.recent", Weight: fixed(25),
		Params: append(need("symbol"), may("limit")...), Fields: tradeFields,
		Answer: (*Facade).trades,
	}
}

// oldTradesEndpoint returns the endpoint at a path that is documented no more, which a client
// calls still.
func oldTradesEndpoint() Endpoint {
	e := tradesEndpoint()
	e.Path, e.WS = "/api/v1/trades", ""
	e.State, e.Note = Differs, "It is an older path of /api/v3/trades, which a client calls still."
	return e
}

// trades lists a market's last trades, oldest first.
func (f *Facade) trades(r *Request) error {
	m, limit := r.market(), r.Limit(usualLimit, mostLimit)
	if err := r.Err(); err != nil {
		return err
	}
	last := f.View.LastTrade(m.ID)
	return f.writeTrades(r, m, newestSpan(last, limit))
}

// newestSpan returns the span of the last numbers up to one.
func newestSpan(last uint64, limit int) history.Span {
	return history.Span{First: last - min(last, uint64(limit)) + 1, Last: last}
}

// spanFrom returns the span of the first numbers from one on, up to last.
func spanFrom(first, last uint64, limit int) history.Span {
	first = max(first, 1)
	if first > last {
		return history.Span{First: 1}
	}
	return history.Span{First: first, Last: first + min(last-first, uint64(limit)-1)}
}

// span reads the trades of a span of numbers, oldest first.
func (f *Facade) span(r *Request, m *bourse.Market, span history.Span) ([]history.Trade, error) {
	list, err := f.History.TradesSpan(r.Context, m.ID, span)
	slices.Reverse(list)
	return list, err
}

func (f *Facade) writeTrades(r *Request, m *bourse.Market, span history.Span) error {
	list, err := f.span(r, m, span)
	if err != nil {
		return err
	}
	r.Out.Array()
	for i := range list {
		t := &list[i]
		r.Out.Object()
		r.Out.Uint("id", t.Number)
		r.price("price", t.Price, m)
		r.lots("qty", t.Lots, m)
		r.quote("quoteQty", t.Total, m)
		r.time("time", t.Time)
		r.Out.Bool("isBuyerMaker", t.TakerSide == bourse.Sell)
		r.Out.Bool("isBestMatch", true)
		r.Out.EndObject()
	}
	r.Out.EndArray()
	return nil
}
