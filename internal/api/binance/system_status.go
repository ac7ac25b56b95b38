package binance

func systemStatusEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/sapi/v1/system/status", Weight: fixed(1), Fields: []Field{{Names: "status msg"}},
		Answer: (*Facade).systemStatus,
	}
}

// systemStatus writes that the exchange works: it does not answer otherwise.
func (f *Facade) systemStatus(r *Request) error {
	r.Out.Object()
	r.Out.Int("status", 0)
	r.Out.Word("msg", "normal")
	r.Out.EndObject()
	return nil
}
