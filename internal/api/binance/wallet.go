package binance

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/teller"
)

// walletEndpoints returns the endpoints of the wallet.
func walletEndpoints() []Endpoint {
	return []Endpoint{
		systemStatusEndpoint(),
		coinsEndpoint(),
		depositAddressEndpoint(),
		depositsEndpoint(),
		withdrawEndpoint(),
		withdrawalsEndpoint(),
		tradeFeeEndpoint(),
		restrictionsEndpoint(),
	}
}

// Errors of the wallet.
var (
	errCoin     = Errorf(codeNoCoin, "We don't have this asset.")
	errInterval = Errorf(codeWalletLookup, "Time interval must be within 0-90 days")
)

// coin returns the asset that the parameter coin names, or nil after an error.
func (r *Request) coin() *bourse.Asset {
	symbol := r.Text("coin")
	if r.Err() != nil {
		return nil
	}
	a := r.names.Asset(bourse.Symbol(symbol))
	if a == nil {
		r.Fail(errCoin)
	}
	return a
}

// route returns the way of a coin over the network that the parameter network names, or over
// its usual one.
func (f *Facade) route(r *Request) (route teller.Route, err error) {
	asset := r.coin()
	if asset == nil {
		return route, r.Err()
	}
	carriers := teller.Carriers(r.names.Catalogue, asset.ID)
	name := r.Text("network")
	for _, terms := range carriers {
		network := r.names.Networks[terms.Network]
		if name != "" && name != string(network.Symbol) {
			continue
		}
		route, _, err = f.Teller.Route(asset, network)
		return route, err
	}
	return route, invalid("network")
}

// walletPeriod reads startTime and endTime, at most 90 days apart; without them it is the last
// 90 days.
func (r *Request) walletPeriod() (from, to bourse.Time) {
	const most = 90 * bourse.Day
	from, byStart := r.Time("startTime")
	to, byEnd := r.Until("endTime")
	if !byEnd {
		to = r.now()
	}
	if !byStart {
		from = max(to-most, 0)
	}
	if to < from || to-from >= most+millisecond {
		r.Fail(errInterval)
	}
	return from, to
}
