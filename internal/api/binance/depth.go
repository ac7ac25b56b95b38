package binance

import (
	"iter"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/wire"
)

func depthEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/api/v3/depth", WS: "depth",
		Weight: weighed("5 up to a limit of 100, 25 up to 500, 50 up to 1000, 250 beyond", func(p *Params) int {
			switch limit := p.Long("limit", usualDepth); {
			case limit <= 100:
				return 5
			case limit <= 500:
				return 25
			case limit <= 1000:
				return 50
			}
			return 250
		}),
		Params: append(need("symbol"), append(may("limit"), statusParam)...),
		Fields: []Field{
			{Names: "lastUpdateId", State: Differs, Note: "It rises by one for each level that changes, and the " +
				"updates of the streams have all numbers."},
			{Names: "bids asks"},
		},
		Answer: (*Facade).depth,
	}
}

// Bounds of the parameter limit of depth.
const (
	usualDepth = 100
	mostDepth  = 5000
)

// depth writes the best levels of a book.
func (f *Facade) depth(r *Request) error {
	m, limit := r.market(), r.Limit(usualDepth, mostDepth)
	if m != nil {
		r.withStatus([]*bourse.Market{m})
	}
	if err := r.Err(); err != nil {
		return err
	}

	book := f.View.Depth(m.ID)
	r.Out.Object()
	r.Out.Uint("lastUpdateId", book.Seq)
	WriteLevels(r.Out, "bids", m, book.Bids, limit)
	WriteLevels(r.Out, "asks", m, book.Asks, limit)
	r.Out.EndObject()
	return nil
}

// WriteLevels writes the best levels of a side, each as a pair of texts.
func WriteLevels(
	out *wire.Writer, name string, m *bourse.Market, levels iter.Seq2[bourse.Price, bourse.Lots], limit int,
) {
	out.Name(name)
	out.Array()
	left := limit
	for price, lots := range levels {
		if left--; left < 0 {
			break
		}
		out.Array()
		out.String(priceText(price, m))
		out.String(lotsText(lots, m))
		out.EndArray()
	}
	out.EndArray()
}
