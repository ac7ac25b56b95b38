package binance

import "github.com/bourse-exchange/bourse/internal/account"

func restrictionsEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/sapi/v1/account/apiRestrictions", Security: UserData, Weight: fixed(1),
		Fields: []Field{
			{Names: "ipRestrict createTime enableReading enableWithdrawals enableSpotAndMarginTrading"},
			{Names: "enableInternalTransfer enableMargin enableFutures permitsUniversalTransfer enableVanillaOptions " +
				"enableFixApiTrade enableFixReadOnly enablePortfolioMarginTrading", State: Differs, Note: "They are false."},
			{Names: "tradingAuthorityExpirationTime", State: NotServed, Note: "A key that ends is told nowhere else."},
		},
		Answer: (*Facade).restrictions,
	}
}

// restrictions writes the permissions of the request's key.
func (f *Facade) restrictions(r *Request) error {
	key, err := f.Teller.Accounts.Key(r.Context, r.Who.Account, r.Who.Key)
	if err != nil {
		return err
	}
	r.Out.Object()
	r.Out.Bool("ipRestrict", len(key.Addresses) > 0)
	r.time("createTime", key.Created)
	r.Out.Bool("enableReading", r.Who.Scopes.Has(account.ScopeRead))
	r.Out.Bool("enableWithdrawals", r.Who.Scopes.Has(account.ScopeWithdraw))
	r.Out.Bool("enableSpotAndMarginTrading", r.Who.Scopes.Has(account.ScopeTrade))
	for _, name := range [...]string{
		"enableInternalTransfer", "enableMargin", "enableFutures", "permitsUniversalTransfer", "enableVanillaOptions",
		"enableFixApiTrade", "enableFixReadOnly", "enablePortfolioMarginTrading",
	} {
		r.Out.Bool(name, false)
	}
	r.Out.EndObject()
	return nil
}
