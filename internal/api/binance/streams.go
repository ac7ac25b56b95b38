package binance

// streamEndpoints returns the endpoints of the keys with which older clients listen.
func streamEndpoints() []Endpoint {
	const notYet = "It comes with a later version; userDataStream.subscribe takes its place."
	unserved := func(method string) Endpoint {
		return Endpoint{
			Method: method, Path: "/api/v3/userDataStream", Security: UserData, Weight: fixed(2), State: NotServed, Note: notYet,
		}
	}
	return []Endpoint{unserved("POST"), unserved("PUT"), unserved("DELETE")}
}
