package binance

func commissionEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/api/v3/account/commission", WS: "account.commission", Security: UserData, Weight: fixed(20),
		Params: need("symbol"),
		Fields: []Field{
			{Names: "symbol standardCommission.maker standardCommission.taker"},
			{Names: "standardCommission.buyer standardCommission.seller specialCommission.maker specialCommission.taker " +
				"specialCommission.buyer specialCommission.seller taxCommission.maker taxCommission.taker " +
				"taxCommission.buyer taxCommission.seller", State: Differs, Note: "They are zero: there is one commission."},
			{Names: "discount.enabledForAccount discount.enabledForSymbol discount.discountAsset discount.discount",
				State: Differs, Note: "There is no discount."},
		},
		Answer: (*Facade).commission,
	}
}

// commission writes an account's rates in a market.
func (f *Facade) commission(r *Request) error {
	m := r.market()
	if err := r.Err(); err != nil {
		return err
	}
	maker, taker := f.rates(r, m)
	r.Out.Object()
	r.symbol(m)
	r.writeAllRates("standardCommission", maker, taker)
	r.writeAllRates("specialCommission", 0, 0)
	r.writeAllRates("taxCommission", 0, 0)
	r.writeDiscount()
	r.Out.EndObject()
	return nil
}
