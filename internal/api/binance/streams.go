package binance

// streamEndpoints returns the endpoints of the keys with which older clients listen.
func streamEndpoints() []Endpoint {
	endpoint := func(method, ws string) Endpoint {
		e := Endpoint{
			Method: method, Path: "/api/v3/userDataStream", WS: ws, Security: UserStream, Weight: fixed(2),
		}
		if method != "POST" {
			e.Params = need(listenKeyName)
		}
		return e
	}
	start, ping, stop := endpoint("POST", "userDataStream.start"), endpoint("PUT", "userDataStream.ping"),
		endpoint("DELETE", "userDataStream.stop")
	start.Fields = []Field{{Names: listenKeyName}}
	start.Answer = (*Facade).startListening
	ping.Answer = (*Facade).extendListening
	stop.Answer = (*Facade).endListening
	return []Endpoint{start, ping, stop}
}

const listenKeyName = "listenKey"

// startListening writes the listen key of the request's key.
func (f *Facade) startListening(r *Request) error {
	r.Out.Object()
	r.Out.Word(listenKeyName, f.Listens.Create(r.Who))
	r.Out.EndObject()
	return nil
}

// extendListening lets a listen key live from now on.
func (f *Facade) extendListening(r *Request) error {
	return r.empty(f.Listens.Extend(r.Who, r.Text(listenKeyName)))
}

// endListening ends a listen key.
func (f *Facade) endListening(r *Request) error {
	return r.empty(f.Listens.End(r.Who, r.Text(listenKeyName)))
}

// empty writes an empty object unless there is an error.
func (r *Request) empty(err error) error {
	if err == nil {
		r.Out.Object()
		r.Out.EndObject()
	}
	return err
}
