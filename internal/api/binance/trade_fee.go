package binance

import "github.com/bourse-exchange/bourse"

func tradeFeeEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/sapi/v1/asset/tradeFee", Security: UserData, Weight: fixed(1), Params: may("symbol"),
		Fields: []Field{{Names: "symbol makerCommission takerCommission"}}, Answer: (*Facade).tradeFee,
	}
}

// tradeFee lists an account's rates in one market or in all.
func (f *Facade) tradeFee(r *Request) error {
	markets := r.names.listed
	if r.Has("symbol") {
		markets = []*bourse.Market{r.market()}
	}
	if err := r.Err(); err != nil {
		return err
	}
	r.Out.Array()
	for _, m := range markets {
		maker, taker := f.rates(r, m)
		r.Out.Object()
		r.symbol(m)
		r.Out.Word("makerCommission", rateText(maker))
		r.Out.Word("takerCommission", rateText(taker))
		r.Out.EndObject()
	}
	r.Out.EndArray()
	return nil
}
