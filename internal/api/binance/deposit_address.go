package binance

import "github.com/bourse-exchange/bourse/internal/chain"

func depositAddressEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/sapi/v1/capital/deposit/address", Security: UserData, Weight: fixed(10),
		Params: append(append(need("coin"), may("network")...), unserved("An address takes any amount.", "amount")...),
		Fields: []Field{
			{Names: "address coin tag"},
			{Names: "url", State: Differs, Note: "It is the payment link that a wallet reads, empty for a network without one."},
		},
		Answer: (*Facade).depositAddress,
	}
}

// depositAddress writes an account's deposit address for an asset.
func (f *Facade) depositAddress(r *Request) error {
	route, err := f.route(r)
	if err != nil {
		return err
	}
	to := route.Home(r.Who.Account)
	uri, _ := route.PaymentURI(chain.CoinOf(route.Asset.Symbol, route.Terms.Contract), to)
	r.Out.Object()
	r.Out.Text("address", to.Address)
	r.Out.Word("coin", string(route.Asset.Symbol))
	r.Out.Text("tag", to.Memo)
	r.Out.Text("url", uri)
	r.Out.EndObject()
	return nil
}
