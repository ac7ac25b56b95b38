package binance

func getOrderEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/api/v3/order", WS: "order.status", Security: UserData, Weight: fixed(4),
		Params: append(need("symbol"), may("orderId origClientOrderId")...), Fields: orderFields,
		Answer: (*Facade).getOrder,
	}
}

// getOrder writes one order.
func (f *Facade) getOrder(r *Request) error {
	s := r.selectOrder()
	if err := r.Err(); err != nil {
		return err
	}
	o, err := f.find(r, &s)
	if err == nil {
		r.writeOrder(&o)
	}
	return err
}
