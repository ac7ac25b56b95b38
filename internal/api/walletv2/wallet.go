package walletv2

import (
	"net/http"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/api/v2"
)

// Wallet is the interface.
type Wallet struct{ teller.Teller }

// Endpoints lists the interface.
func (w *Wallet) Endpoints() []v2.Endpoint {
	const get, post, patch, remove = http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete
	read, withdraw := account.ScopeRead, account.ScopeWithdraw
	return []v2.Endpoint{
		{Method: get, Path: "/assets", Fields: assetsFields, Answer: w.assets},
		{Method: get, Path: "/assets/{symbol}", Answer: w.asset},
		{Method: get, Path: "/balances", Scope: read, Fields: balancesFields, Answer: w.balances},
		{Method: get, Path: "/balances/{symbol}", Scope: read, Answer: w.balance},
		{Method: get, Path: "/ledger", Scope: read, Fields: ledgerFields, Answer: w.ledger},
		{Method: get, Path: "/io/networks", Fields: networksFields, Answer: w.networks},
		{Method: get, Path: "/io/networks/{symbol}", Answer: w.network},
		{Method: get, Path: "/io/deposit/{network}/{asset}", Scope: read, Answer: w.deposit},
		{Method: get, Path: "/io/withdrawal/{network}/info/{asset}", Scope: read, Answer: w.withdrawalInfo},
		{Method: get, Path: "/io/withdrawal/{network}/validation", Scope: read, Fields: validationFields, Answer: w.validation},
		{Method: post, Path: "/io/withdrawal/{network}/validation", Scope: read, Fields: validationFields, Answer: w.validation},
		{Method: get, Path: "/io/transactions", Scope: read, Fields: transactionsFields, Answer: w.transactions},
		{Method: post, Path: "/io/transactions", Scope: withdraw, Class: api.Orders, Fields: newFields, Answer: w.newTransaction},
		{Method: get, Path: "/io/transactions/{xid}", Scope: read, Answer: w.transaction},
		{Method: remove, Path: "/io/transactions/{xid}", Scope: withdraw, Class: api.Cancels, Answer: w.cancel},
		{Method: get, Path: "/io/fees", Fields: v2.PageFields, Answer: w.fees},
		{Method: get, Path: "/io/fees/{asset}", Answer: w.fee},
		{Method: get, Path: "/addressbook", Scope: read, Fields: addressbookFields, Answer: w.addressbook},
		{Method: get, Path: "/addressbook/{adbkid}", Scope: read, Answer: w.address},
		{Method: patch, Path: "/addressbook/{adbkid}", Scope: withdraw, Class: api.Orders, Fields: renameFields, Answer: w.rename},
		{Method: remove, Path: "/addressbook/{adbkid}", Scope: withdraw, Class: api.Orders, Answer: w.forget},
	}
}

// fields puts lists of fields together.
func fields(lists ...api.Fields) api.Fields { return slices.Concat(lists...) }

// assetOf returns the asset of a symbol, which a segment or a field named so gave.
func (w *Wallet) assetOf(name, symbol string) (*bourse.Asset, error) {
	return found(name, symbol, w.View.Catalogue().Asset, func(a *bourse.Asset) bool { return a.Enabled })
}

// networkOf returns the network of a symbol.
func (w *Wallet) networkOf(name, symbol string) (*bourse.Network, error) {
	return found(name, symbol, w.View.Catalogue().Network, func(n *bourse.Network) bool { return n.Enabled })
}

// found returns what a symbol names, unless an operator has disabled it.
func found[T any](name, symbol string, find func(bourse.Symbol) *T, enabled func(*T) bool) (*T, error) {
	if !bourse.ValidSymbol(bourse.Symbol(symbol)) {
		return nil, api.Invalid(name, "is no symbol")
	}
	switch is := find(bourse.Symbol(symbol)); {
	case is == nil:
		return nil, v2.Errorf(v2.NotFound, "%s: %s does not exist", name, symbol)
	case !enabled(is):
		return nil, v2.Errorf(v2.Forbidden, "%s: %s is disabled", name, symbol)
	default:
		return is, nil
	}
}

// routeOf returns the route of an asset on a network, also where its terms are
// disabled.
func (w *Wallet) routeOf(asset *bourse.Asset, network *bourse.Network) (teller.Route, error) {
	r, carried, err := w.Route(asset, network)
	if !carried {
		return r, v2.Errorf(v2.InvalidNetwork, "network: %s does not carry %s", network.Symbol, asset.Symbol)
	}
	return r, err
}

// openRoute returns the route that the path names, if it is open.
func (w *Wallet) openRoute(c *v2.Call) (r teller.Route, err error) {
	network, err := w.networkOf("network", c.Segment("network"))
	if err != nil {
		return r, err
	}
	asset, err := w.assetOf("asset", c.Segment("asset"))
	if err != nil {
		return r, err
	}
	if r, err = w.routeOf(asset, network); err == nil && !r.Terms.Enabled {
		err = v2.Errorf(v2.Forbidden, "network: %s is disabled for %s", network.Symbol, asset.Symbol)
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
	c.Out.Word("symbol", string(n.Symbol))
	c.Out.Text("name", n.Name)
	c.Out.Text("iconUrl", w.Icon(n.Symbol))
	c.Out.Maybe("memoName", n.MemoName)
}

// writeWarnings writes the member warnings, without those that are empty.
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
