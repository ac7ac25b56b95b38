package walletv2

import (
	"net/http"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/api/v2"
)

// Wallet implements the interface.
type Wallet struct {
	teller.Teller

	// Faucet is nil but for a sandbox, which alone has its endpoint.
	Faucet Faucet
}

// Endpoints returns the endpoints of the interface.
func (w *Wallet) Endpoints() []v2.Endpoint {
	const get, post, patch, remove = http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete
	read, withdraw := account.ScopeRead, account.ScopeWithdraw

	list := []v2.Endpoint{
		{Method: get, Path: "/assets", Fields: assetsFields, Compress: true, Answer: w.assets},
		{Method: get, Path: "/assets/{symbol}", Answer: w.asset},
		{Method: get, Path: "/balances", Scope: read, Fields: balancesFields, Answer: w.balances},
		{Method: get, Path: "/balances/{symbol}", Scope: read, Answer: w.balance},
		{Method: get, Path: "/ledger", Scope: read, Fields: ledgerFields, Answer: w.ledger},
		{Method: get, Path: "/io/networks", Fields: networksFields, Compress: true, Answer: w.networks},
		{Method: get, Path: "/io/networks/{symbol}", Answer: w.network},
		{Method: get, Path: "/io/deposit/{network}/{asset}", Scope: read, Answer: w.deposit},
		{Method: get, Path: "/io/withdrawal/{network}/info/{asset}", Scope: read, Answer: w.withdrawalInfo},
		{Method: get, Path: "/io/withdrawal/{network}/validation", Scope: read, Fields: validationFields, Answer: w.validation},
		{
			Method: post, Path: "/io/withdrawal/{network}/validation", Scope: read, Query: true,
			Fields: validationFields, Answer: w.validation,
		},
		{Method: get, Path: "/io/transactions", Scope: read, Fields: transactionsFields, Answer: w.transactions},
		{Method: post, Path: "/io/transactions", Scope: withdraw, Class: api.Orders, Fields: newFields, Answer: w.newTransaction},
		{Method: get, Path: "/io/transactions/{xid}", Scope: read, Answer: w.transaction},
		{Method: remove, Path: "/io/transactions/{xid}", Scope: withdraw, Class: api.Cancels, Answer: w.cancel},
		{Method: get, Path: "/io/fees", Fields: v2.PageFields, Compress: true, Answer: w.fees},
		{Method: get, Path: "/io/fees/{asset}", Answer: w.fee},
		{Method: get, Path: "/addressbook", Scope: read, Fields: addressbookFields, Answer: w.addressbook},
		{Method: get, Path: "/addressbook/{adbkid}", Scope: read, Answer: w.address},
		{Method: patch, Path: "/addressbook/{adbkid}", Scope: withdraw, Class: api.Orders, Fields: renameFields, Answer: w.rename},
		{Method: remove, Path: "/addressbook/{adbkid}", Scope: withdraw, Class: api.Orders, Answer: w.forget},
	}
	if w.Faucet != nil {
		list = append(list, v2.Endpoint{
			Method: post, Path: "/faucet", Scope: account.ScopeTrade, Class: api.Orders, Fields: faucetFields, Answer: w.pour,
		})
	}
	return list
}

// fields concatenates lists of fields.
func fields(lists ...api.Fields) api.Fields { return slices.Concat(lists...) }

// assetOf returns the enabled asset of a symbol; name is its segment or field.
func (w *Wallet) assetOf(c *v2.Call, name, symbol string) *bourse.Asset {
	return found(c, name, symbol, w.View.Catalogue().Asset, func(a *bourse.Asset) bool { return a.Enabled })
}

// networkOf returns the enabled network of a symbol; name is its segment or field.
func (w *Wallet) networkOf(c *v2.Call, name, symbol string) *bourse.Network {
	return found(c, name, symbol, w.View.Catalogue().Network, func(n *bourse.Network) bool { return n.Enabled })
}

// found returns the enabled entry of a symbol; nil after an error.
func found[T any](c *v2.Call, name, symbol string, find func(bourse.Symbol) *T, enabled func(*T) bool) *T {
	if !bourse.ValidSymbol(bourse.Symbol(symbol)) {
		c.Fail(api.Invalid(name, "is no symbol"))
		return nil
	}

	is := find(bourse.Symbol(symbol))
	switch {
	case is == nil:
		c.Fail(api.Errorf(codes.NotFound, "%s: %s does not exist", name, symbol))
	case !enabled(is):
		c.Fail(api.Errorf(codes.Forbidden, "%s: %s is disabled", name, symbol))
	}
	if c.Err() != nil {
		return nil
	}
	return is
}

// routeOf returns the route of an asset on a network, even with disabled terms.
func (w *Wallet) routeOf(c *v2.Call, asset *bourse.Asset, network *bourse.Network) (teller.Route, error) {
	if err := c.Err(); err != nil {
		return teller.Route{}, err
	}
	r, carried, err := w.Route(asset, network)
	if !carried {
		return r, api.Errorf(codes.InvalidNetwork, "network: %s does not carry %s", network.Symbol, asset.Symbol)
	}
	return r, err
}

// openRoute returns the route that the path names, unless it is disabled.
func (w *Wallet) openRoute(c *v2.Call) (teller.Route, error) {
	network := w.networkOf(c, "network", c.Segment("network"))
	asset := w.assetOf(c, "asset", c.Segment("asset"))
	r, err := w.routeOf(c, asset, network)
	if err == nil && !r.Terms.Enabled {
		err = api.Errorf(codes.Forbidden, "network: %s is disabled for %s", network.Symbol, asset.Symbol)
	}
	return r, err
}

// writeNetwork writes the member network.
func (w *Wallet) writeNetwork(c *v2.Call, n *bourse.Network) {
	c.Out.Name("network")
	c.Out.Object()
	w.writeNetworkFields(c, n)
	c.Out.EndObject()
}

func (w *Wallet) writeNetworkFields(c *v2.Call, n *bourse.Network) {
	w.writeTitle(c, n.Symbol, n.Name)
	c.Out.Maybe("memoName", n.MemoName)
}

// writeTitle writes the fields by which people recognise an asset or a network.
func (w *Wallet) writeTitle(c *v2.Call, symbol bourse.Symbol, name string) {
	c.Out.Word("symbol", string(symbol))
	c.Out.Text("name", name)
	c.Out.Text("iconUrl", w.Icon(symbol))
}

// writeWarnings writes the member warnings without empty ones.
func writeWarnings(c *v2.Call, list ...string) {
	c.Out.Name("warnings")
	c.Out.Array()
	for _, s := range list {
		if s != "" {
			c.Out.String(s)
		}
	}
	c.Out.EndArray()
}
