package binance

import "github.com/bourse-exchange/bourse"

// writeFilters writes the terms of a market that its orders must meet.
func (r *Request) writeFilters(m *bourse.Market) {
	r.Out.Name("filters")
	r.Out.Array()

	r.filter("PRICE_FILTER", func() {
		r.price("minPrice", 1, m)
		r.price("maxPrice", m.MaxPrice, m)
		r.price("tickSize", 1, m)
	})
	for _, name := range [...]string{"LOT_SIZE", "MARKET_LOT_SIZE"} {
		r.filter(name, func() {
			r.lots("minQty", 1, m)
			r.lots("maxQty", bourse.MaxLots, m)
			r.lots("stepSize", 1, m)
		})
	}
	r.filter("NOTIONAL", func() {
		r.quote("minNotional", m.MinOrder, m)
		r.Out.Bool("applyMinToMarket", true)
		r.quote("maxNotional", bourse.MaxAmount, m)
		r.Out.Bool("applyMaxToMarket", false)
		r.Out.Int("avgPriceMins", 0)
	})
	r.filter("MAX_NUM_ORDERS", func() { r.Out.Int("maxNumOrders", int64(r.facade.MaxOpen)) })
	r.filter("MAX_NUM_ALGO_ORDERS", func() { r.Out.Int("maxNumAlgoOrders", int64(r.facade.MaxOpen)) })
	if m.Band != 0 {
		r.writeBand(m)
	}

	r.Out.EndArray()
}

// writeBand writes the filter of a market's band. The band is around the last price and the
// initial one; its bounds from the last price alone are told.
func (r *Request) writeBand(m *bourse.Market) {
	up, down := m.Band.Format(), inverse(m.Band)
	r.filter("PERCENT_PRICE_BY_SIDE", func() {
		r.Out.Word("bidMultiplierUp", up)
		r.Out.Word("bidMultiplierDown", down)
		r.Out.Word("askMultiplierUp", up)
		r.Out.Word("askMultiplierDown", down)
		r.Out.Int("avgPriceMins", 0)
	})
}

// inverse returns the inverse of a ratio with six decimals, rounded up, so that no price
// within it is outside of the band.
func inverse(band bourse.Rate) string {
	const one = uint64(bourse.RateOne)
	return bourse.Units((one*one + uint64(band) - 1) / uint64(band)).Format(6)
}

// filter writes a filter with its fields.
func (r *Request) filter(kind string, fields func()) {
	r.Out.Object()
	r.Out.Word("filterType", kind)
	fields()
	r.Out.EndObject()
}
