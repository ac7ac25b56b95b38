package walletv1

import (
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/view"
)

// pageSize is how many rows a page of a list holds.
const pageSize = 50

// Sequencer carries commands.
type Sequencer interface {
	// Do submits a command and waits for what became of it.
	Do(ctx context.Context, c *bourse.Command) (sequencer.Result, error)
}

// Networks knows the networks that are connected. Any goroutine may call it.
type Networks interface {
	// Network returns a network; false if it is not connected.
	Network(id bourse.NetworkID) (Network, bool)
}

// Network is what the interface asks of a network. The methods are those of
// [chain.Codec], and need no node; any goroutine may call them.
type Network interface {
	Destination(index uint32) chain.Destination
	Owner(address, memo string) (chain.Owner, bool)
	ParseAddress(s string) (string, error)
	ParseMemo(s string) (string, error)
	FormatHash(h bourse.TxHash) string
	PaymentURI(coin chain.CoinID, to chain.Destination) (string, bool)
	// Operating reports whether the network's node answered in time and was up to
	// date when it was asked last. It does not wait.
	Operating() bool
}

// Wallet is the interface.
type Wallet struct {
	View      *view.View
	History   *history.Reader
	Accounts  *account.Service
	Sequencer Sequencer
	Networks  Networks
	// PublicURL is where clients reach the exchange, without a slash at its end.
	PublicURL string
}

// Endpoints lists the interface.
func (w *Wallet) Endpoints() []api.Endpoint {
	read, withdraw := account.ScopeRead, account.ScopeWithdraw
	return []api.Endpoint{
		{Path: "/assets", Fields: assetsFields, Answer: w.assets},
		{Path: "/networks", Fields: networksFields, Answer: w.networks},
		{Path: "/balances", Scope: read, Fields: balancesFields, Answer: w.balances},
		{Path: "/balances_ex", Scope: read, Fields: balancesFields, Answer: w.balancesEx},
		{Path: "/transactions", Scope: read, Fields: transactionsFields, Answer: w.transactions},
		{Path: "/deposit", Scope: read, Fields: routeFields, Answer: w.deposit},
		{Path: "/withdraw/info", Scope: read, Fields: routeFields, Answer: w.withdrawInfo},
		{Path: "/withdraw/validate", Scope: read, Fields: validateFields, Answer: w.validate},
		{Path: "/withdraw", Scope: withdraw, Class: api.Orders, Fields: withdrawFields, Answer: w.withdraw},
		{Path: "/withdraw/cancel", Scope: withdraw, Class: api.Cancels, Fields: cancelFields, Answer: w.cancel},
		{Path: "/addressbook", Scope: read, Fields: addressbookFields, Answer: w.addressbook},
		{Path: "/addressbook/rename", Scope: withdraw, Class: api.Orders, Fields: renameFields, Answer: w.rename},
		{Path: "/addressbook/delete", Scope: withdraw, Class: api.Orders, Fields: deleteFields, Answer: w.delete},
	}
}

// routeFields are those of the endpoints that are about an asset on a network.
var routeFields = api.Fields{"asset", "network"}

// route is an asset on a network that is connected.
type route struct {
	asset   *bourse.Asset
	network *bourse.Network
	terms   *bourse.NetworkAsset
	Network
}

// route finds what the fields asset and network name, also where it is disabled.
func (w *Wallet) route(c *api.Call) (r route, err error) {
	if err := c.Require(routeFields...); err != nil {
		return r, err
	}
	catalogue := w.View.Catalogue()
	if r.asset, err = api.Named(c, "asset", catalogue.Asset); err != nil {
		return r, err
	}
	if r.network, err = api.Named(c, "network", catalogue.Network); err != nil {
		return r, err
	}
	if r.terms = catalogue.NetworkAsset(r.network.ID, r.asset.ID); r.terms == nil {
		return r, api.Invalid("network", string(r.network.Symbol)+" does not carry "+string(r.asset.Symbol))
	}
	var connected bool
	if r.Network, connected = w.Networks.Network(r.network.ID); !connected {
		return r, bourse.Errorf(bourse.CodeUnavailable, "network: %s is not connected", r.network.Symbol)
	}
	return r, nil
}

// openRoute finds what the fields asset and network name, if it is not disabled.
func (w *Wallet) openRoute(c *api.Call) (route, error) {
	r, err := w.route(c)
	switch {
	case err != nil:
		return r, err
	case !r.asset.Enabled:
		return r, api.Unknown("asset", "asset", string(r.asset.Symbol))
	case !r.network.Enabled:
		return r, api.Unknown("network", "network", string(r.network.Symbol))
	case !r.terms.Enabled:
		return r, api.Invalid("network", string(r.network.Symbol)+" does not carry "+string(r.asset.Symbol))
	}
	return r, nil
}

// icon returns where the picture of an asset or a network is.
func (w *Wallet) icon(symbol bourse.Symbol) string {
	return w.PublicURL + "/icons/" + string(symbol) + ".svg"
}

// destination returns where an account receives deposits on a network.
func destination(n Network, id bourse.AccountID) chain.Destination { return n.Destination(uint32(id)) }
