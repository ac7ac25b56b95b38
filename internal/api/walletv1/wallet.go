package walletv1

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
)

// pageSize is the number of rows in a page.
const pageSize = 50

// Wallet implements the interface.
type Wallet struct{ teller.Teller }

// Endpoints returns the endpoints of the interface.
func (w *Wallet) Endpoints() []api.Endpoint {
	read, withdraw := account.ScopeRead, account.ScopeWithdraw
	return []api.Endpoint{
		{Path: "/assets", Fields: assetsFields, Compress: true, Answer: w.assets},
		{Path: "/networks", Fields: networksFields, Compress: true, Answer: w.networks},
		{Path: "/balances", Scope: read, Fields: balancesFields, Answer: w.balances},
		{Path: "/balances_ex", Scope: read, Fields: balancesFields, Answer: w.balancesEx},
		{Path: "/transactions", Scope: read, Fields: transactionsFields, Answer: w.transactions},
		{Path: "/deposit", Scope: read, Fields: routeFields, Answer: w.deposit},
		{Path: "/withdraw/info", Scope: read, Fields: routeFields, Answer: w.withdrawInfo},
		{Path: "/withdraw/validate", Scope: read, Fields: validateFields, Answer: w.validate},
		{
			Path: "/withdraw", Scope: withdraw, Class: api.Orders, Fields: withdrawFields, Repeatable: "client_id",
			Answer: w.withdraw,
		},
		{Path: "/withdraw/cancel", Scope: withdraw, Class: api.Cancels, Fields: cancelFields, Answer: w.cancel},
		{
			Path: "/transfer", Scope: withdraw, Class: api.Orders, Fields: transferFields, Repeatable: "client_id",
			Answer: w.transfer,
		},
		{Path: "/addressbook", Scope: read, Fields: addressbookFields, Answer: w.addressbook},
		{Path: "/addressbook/rename", Scope: withdraw, Class: api.Orders, Fields: renameFields, Answer: w.rename},
		{Path: "/addressbook/delete", Scope: withdraw, Class: api.Orders, Fields: deleteFields, Answer: w.delete},
	}
}

// routeFields are the fields of the endpoints for an asset on a network.
var routeFields = api.Fields{"asset", "network"}

// route is an asset on a connected network.
type route struct{ teller.Route }

// route returns the route that the fields asset and network name, even a disabled one.
func (w *Wallet) route(c *api.Call) (r route, err error) {
	c.Require(routeFields...)
	catalogue := w.View.Catalogue()
	asset := api.Named(c.Form, "asset", catalogue.Asset)
	network := api.Named(c.Form, "network", catalogue.Network)
	if err := c.Err(); err != nil {
		return r, err
	}

	var carried bool
	if r.Route, carried, err = w.Route(asset, network); !carried {
		return r, uncarried(network, asset)
	}
	return r, err
}

// openRoute returns the route that the fields asset and network name, unless it is
// disabled.
func (w *Wallet) openRoute(c *api.Call) (route, error) {
	r, err := w.route(c)
	switch {
	case err != nil:
		return r, err
	case !r.Asset.Enabled:
		return r, api.Unknown("asset", "asset", string(r.Asset.Symbol))
	case !r.Listed.Enabled:
		return r, api.Unknown("network", "network", string(r.Listed.Symbol))
	case !r.Terms.Enabled:
		return r, uncarried(r.Listed, r.Asset)
	}
	return r, nil
}

// uncarried returns the error for a network that does not carry an asset.
func uncarried(network *bourse.Network, asset *bourse.Asset) error {
	return &bourse.Error{
		Code: bourse.CodeInvalid, Reason: bourse.NotOnNetwork,
		Message: "network: " + string(network.Symbol) + " does not carry " + string(asset.Symbol),
	}
}
