package pages

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/stream"
	"github.com/bourse-exchange/bourse/internal/api/v2"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// closes is the number of a market's hourly prices.
const closes = 24

// markets lists all markets with their terms, rolling days and hourly prices.
func (p *Pages) markets(c *v2.Call) error { return p.share(c, &p.all, p.writeMarkets) }

func (p *Pages) writeMarkets(w *wire.Writer) {
	catalogue := p.View.Catalogue()
	markets := catalogue.Listed()
	days, at := p.View.Days(markets)

	w.Uint("seq", uint64(at.Seq))
	w.Seconds("time", at.Time)
	w.Name("markets")
	w.Array()
	for i, m := range markets {
		w.Object()
		writeTerms(w, catalogue, m)
		stream.WriteDay(w, catalogue, m, &days[i])
		p.writeCloses(w, m)
		w.EndObject()
	}
	w.EndArray()
}

// writeTerms writes a market's definition and limits. The rates are those of fee level 0.
func writeTerms(w *wire.Writer, c *view.Catalogue, m *bourse.Market) {
	base, quote := c.Assets[m.Base], c.Assets[m.Quote]
	maker, taker := c.Fees.Bound(0, m.Maker, m.Taker)

	w.Word("pair", string(m.Pair))
	w.Word("base", string(base.Symbol))
	w.Word("quote", string(quote.Symbol))
	w.Text("base_name", base.Name)
	w.Text("quote_name", quote.Name)
	w.Uint("base_precision", uint64(m.BasePrecision))
	w.Uint("quote_precision", uint64(m.QuotePrecision))
	w.Uint("base_scale", uint64(base.Scale))
	w.Uint("quote_scale", uint64(quote.Scale))
	w.Word("state", m.State.String())

	w.Word("maker_fee", maker.Percent())
	w.Word("taker_fee", taker.Percent())
	w.Amount("min_order", m.MinOrder, quote.Scale)
	w.Price("max_price", m.MaxPrice, m.QuotePrecision)
	w.Price("initial_price", m.InitialPrice, m.QuotePrecision)
	writeBound(w, "collar", m.Collar, m.Collar.Percent())
	writeBound(w, "band", m.Band, m.Band.Format())
}

// writeBound writes a bound of prices; null if there is none.
func writeBound(w *wire.Writer, name string, bound bourse.Rate, text string) {
	if bound == 0 {
		text = ""
	}
	w.Maybe(name, text)
}

// writeCloses writes a market's prices at the last whole hours, and the present one.
func (p *Pages) writeCloses(w *wire.Writer, m *bourse.Market) {
	w.Name("closes")
	w.Array()
	for _, price := range p.View.Closes(m.ID, closes) {
		w.Decimal(bourse.Units(uint64(price)), m.QuotePrecision)
	}
	w.EndArray()
}
