package binance

// generalEndpoints returns the endpoints about the interface and the markets.
func generalEndpoints() []Endpoint {
	return []Endpoint{
		{Method: "GET", Path: "/api/v3/ping", WS: "ping", Weight: fixed(1), Answer: (*Facade).ping},
		{
			Method: "GET", Path: "/api/v3/time", WS: "time", Weight: fixed(1),
			Fields: []Field{{Names: "serverTime"}}, Answer: (*Facade).time,
		},
		exchangeInfoEndpoint(),
		{
			Method: "GET", Path: "/api/v3/executionRules", Weight: fixed(2), State: NotServed,
			Note: "No market has rules of this kind: exchangeInfo tells the band of prices.",
		},
	}
}

// ping writes an empty object.
func (f *Facade) ping(r *Request) error {
	r.Out.Object()
	r.Out.EndObject()
	return nil
}

// time writes the time that timestamps are held against. The view's is that of the last command.
func (f *Facade) time(r *Request) error {
	r.Out.Object()
	r.time("serverTime", f.Now())
	r.Out.EndObject()
	return nil
}
