package teller

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/view"
)

// Sequencer sequences commands.
type Sequencer interface {
	// Do submits a command and waits for its outcome.
	Do(ctx context.Context, c *bourse.Command) (sequencer.Result, error)
}

// Networks has the connected networks. Safe for concurrent use.
type Networks interface {
	// Network returns a connected network; false if it is not connected.
	Network(id bourse.NetworkID) (Network, bool)
}

// Network is the part of a network that the interfaces use. Its methods but Operating are
// those of [chain.Codec], which need no node. Safe for concurrent use.
type Network interface {
	Destination(index uint32) chain.Destination
	Owner(address, memo string) (chain.Owner, bool)
	ParseAddress(s string) (string, error)
	ParseMemo(s string) (string, error)
	FormatHash(h bourse.TxHash) string
	PaymentURI(coin chain.CoinID, to chain.Destination) (string, bool)
	// Operating reports whether the network's node answered in time and was up to date at
	// the last check. It does not block.
	Operating() bool
}

// Teller has the services that the wallet interfaces use.
type Teller struct {
	View      *view.View
	History   *history.Reader
	Accounts  *account.Service
	Sequencer Sequencer
	Networks  Networks
	// PublicURL is the exchange's address for clients, without a trailing slash.
	PublicURL string
}

// Icon returns the URL of the icon of an asset or network.
func (t *Teller) Icon(symbol bourse.Symbol) string {
	return t.PublicURL + "/icons/" + string(symbol) + ".svg"
}

// Matches reports whether a symbol or name contains a phrase, in any case.
func Matches(phrase string, symbol bourse.Symbol, name string) bool {
	phrase = strings.ToLower(phrase)
	return strings.Contains(strings.ToLower(string(symbol)), phrase) || strings.Contains(strings.ToLower(name), phrase)
}

// Carriers returns the enabled terms of an asset on enabled networks, by network symbol.
func Carriers(c *view.Catalogue, asset bourse.AssetID) []*bourse.NetworkAsset {
	var list []*bourse.NetworkAsset
	for _, terms := range c.NetworkAssets {
		if terms.Asset == asset && terms.Enabled && c.Networks[terms.Network].Enabled {
			list = append(list, terms)
		}
	}
	slices.SortFunc(list, func(a, b *bourse.NetworkAsset) int {
		return cmp.Compare(c.Networks[a.Network].Symbol, c.Networks[b.Network].Symbol)
	})
	return list
}

// Carried returns the enabled assets that an enabled network carries, by symbol.
func Carried(c *view.Catalogue) []*bourse.Asset {
	var list []*bourse.Asset
	for _, a := range c.Assets[1:] {
		if a.Enabled && len(Carriers(c, a.ID)) > 0 {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b *bourse.Asset) int { return cmp.Compare(a.Symbol, b.Symbol) })
	return list
}

// UsualFee returns the middle of the fee's range, rounded down to the network's precision.
func UsualFee(a *bourse.Asset, terms *bourse.NetworkAsset) bourse.Amount {
	step := bourse.Pow10(a.Scale - terms.Precision)
	steps, _ := terms.FeeMax.Minus(terms.FeeMin).Div64(2 * step)
	half, _ := steps.Mul(step) // less than FeeMax
	return terms.FeeMin.Plus(half)
}

// MaxPrecision returns the greatest number of decimals with which a network moves an
// asset, enabled or not; its ledger scale if no network carries it.
func MaxPrecision(c *view.Catalogue, a *bourse.Asset) uint8 {
	carried, most := false, uint8(0)
	for _, terms := range c.NetworkAssets {
		if terms.Asset == a.ID {
			carried, most = true, max(most, terms.Precision)
		}
	}
	if !carried {
		return a.Scale
	}
	return most
}
