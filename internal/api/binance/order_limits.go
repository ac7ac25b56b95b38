package binance

func orderLimitsEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/api/v3/rateLimit/order", WS: "account.rateLimits.orders", Security: UserData,
		Weight: fixed(40),
		Fields: []Field{
			{Names: "rateLimitType interval intervalNum limit"},
			{Names: "count", State: Differs, Note: "It counts orders that were placed here since the window or the process " +
				"began, whether they traded or not."},
		},
		Answer: (*Facade).orderLimits,
	}
}

// orderLimits writes the limits of an account's orders, and its counts.
func (f *Facade) orderLimits(r *Request) error {
	var counts [len(orderWindows)]int
	for i, w := range f.orders {
		counts[i] = w.add(r.Who.Account, 0, f.Clock())
	}
	r.Out.Array()
	f.writeOrderLimits(r, &counts)
	r.Out.EndArray()
	return nil
}
