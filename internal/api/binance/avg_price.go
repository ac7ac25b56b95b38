package binance

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/view"
)

func avgPriceEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/api/v3/avgPrice", WS: "avgPrice", Weight: fixed(2), Params: need("symbol"),
		Fields: []Field{
			{Names: "mins price", State: Differs, Note: "The minutes are whole ones of the clock, the current one included; " +
				"the last price if they have no trade."},
			{Names: "closeTime", State: Differs, Note: "It is the time of the answer."},
		},
		Answer: (*Facade).avgPrice,
	}
}

// avgMinutes is the number of minutes of the average price.
const avgMinutes = 5

// avgPrice writes the average price of a market's last minutes, weighted by quantity.
func (f *Facade) avgPrice(r *Request) error {
	m := r.market()
	if err := r.Err(); err != nil {
		return err
	}
	r.Out.Object()
	r.Out.Int("mins", avgMinutes)
	r.Out.Word("price", priceText(AveragePrice(f.View, m), m))
	r.time("closeTime", r.now())
	r.Out.EndObject()
	return nil
}

// AveragePrice returns the average price of a market's last minutes, weighted by quantity and
// rounded down to a tick.
func AveragePrice(v *view.View, m *bourse.Market) bourse.Price {
	now := v.Now()
	minutes := v.Minutes(m.ID, now.Floor(bourse.Minute)-(avgMinutes-1)*bourse.Minute)
	var value, volume bourse.Amount
	for _, b := range minutes.Buckets {
		value, volume = saturated(value, b.Value), saturated(volume, b.Volume)
	}
	if average := averageOf(m, value, volume); average > 0 {
		return average
	}
	return v.Ticker(m.ID).Price
}

// averageOf returns value/volume as a price, rounded down; zero without volume.
func averageOf(m *bourse.Market, value, volume bourse.Amount) bourse.Price {
	if volume.IsZero() || m.TotalUnit == 0 {
		return 0
	}
	tickLots, _ := value.Div(bourse.Units(m.TotalUnit))
	price, _ := tickLots.Div(volume)
	return bourse.Price(min(price.Lo, uint64(bourse.MaxPrice)))
}

// saturated returns a+b, or the largest amount.
func saturated(a, b bourse.Amount) bourse.Amount {
	if sum, ok := a.Add(b); ok {
		return sum
	}
	return bourse.MaxAmount
}
