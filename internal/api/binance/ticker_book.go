package binance

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/view"
)

func bookTickerEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/api/v3/ticker/bookTicker", WS: "ticker.book", Weight: weightOne(),
		Params: append(may("symbol symbols"), statusParam),
		Fields: []Field{{Names: "symbol bidPrice bidQty askPrice askQty"}},
		Answer: (*Facade).bookTicker,
	}
}

// bookTicker writes the best levels.
func (f *Facade) bookTicker(r *Request) error {
	markets := r.symbolOrSymbols(mostSymbols)
	if err := r.Err(); err != nil {
		return err
	}
	bests := f.View.Bests(markets)
	at := 0
	return r.eachMarket(markets, func(m *bourse.Market) error {
		r.Out.Object()
		r.symbol(m)
		r.writeBest(m, &bests[at])
		r.Out.EndObject()
		at++
		return nil
	})
}

// writeBest writes the best level of each side, zeros for an empty one.
func (r *Request) writeBest(m *bourse.Market, b *view.Best) {
	r.price("bidPrice", b.Bid, m)
	r.lots("bidQty", b.BidLots, m)
	r.price("askPrice", b.Ask, m)
	r.lots("askQty", b.AskLots, m)
}
