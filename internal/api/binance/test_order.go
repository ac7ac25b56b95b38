package binance

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

func testOrderEndpoint() Endpoint {
	const rates = "computeCommissionRates"
	return Endpoint{
		Method: "POST", Path: "/api/v3/order/test", WS: "order.test", Security: Trade, Class: api.Reads, Harmless: true,
		Weight: weighed("1, and 20 with "+rates, func(p *Params) int {
			if p.Bool(rates, false) {
				return 20
			}
			return 1
		}),
		Params: slices.Concat(orderParams(), may(rates)),
		Fields: []Field{
			{Names: "standardCommissionForOrder.maker standardCommissionForOrder.taker"},
			{Names: "specialCommissionForOrder.maker specialCommissionForOrder.taker taxCommissionForOrder.maker " +
				"taxCommissionForOrder.taker", State: Differs, Note: "They are zero: there is one commission."},
			{Names: "discount.enabledForAccount discount.enabledForSymbol discount.discountAsset discount.discount",
				State: Differs, Note: "There is no discount."},
		},
		State: Differs, Note: "It checks the request alone, and neither balances nor the book.",
		Answer: (*Facade).testOrder,
	}
}

// testOrder checks an order without placing it.
func (f *Facade) testOrder(r *Request) error {
	var p bourse.NewOrder
	m, _ := r.readOrder(&p)
	rates := r.Bool("computeCommissionRates", false)
	if err := r.Err(); err != nil {
		return err
	}

	r.Out.Object()
	if rates {
		maker, taker := f.rates(r, m)
		r.writeRates("standardCommissionForOrder", maker, taker)
		r.writeRates("specialCommissionForOrder", 0, 0)
		r.writeRates("taxCommissionForOrder", 0, 0)
		r.writeDiscount()
	}
	r.Out.EndObject()
	return nil
}

// rates returns an account's fee rates in a market.
func (f *Facade) rates(r *Request, m *bourse.Market) (maker, taker bourse.Rate) {
	standing, _ := f.View.Account(r.Who.Account)
	if standing.OwnFees {
		return standing.Maker, standing.Taker
	}
	return r.names.Fees.Bound(standing.FeeLevel, m.Maker, m.Taker)
}

// rateText returns a rate with eight decimals.
func rateText(rate bourse.Rate) string { return fixedText(bourse.Units(uint64(rate)), 6) }

// writeRates writes an object with rates.
func (r *Request) writeRates(name string, maker, taker bourse.Rate) {
	r.Out.Name(name)
	r.Out.Object()
	r.Out.Word("maker", rateText(maker))
	r.Out.Word("taker", rateText(taker))
	r.Out.EndObject()
}

// writeDiscount writes that there is no discount.
func (r *Request) writeDiscount() {
	r.Out.Name("discount")
	r.Out.Object()
	r.Out.Bool("enabledForAccount", false)
	r.Out.Bool("enabledForSymbol", false)
	r.Out.Null("discountAsset")
	r.Out.Word("discount", rateText(0))
	r.Out.EndObject()
}
