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

// Network is what the interfaces ask of a network. The methods are those of
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

// Teller is put together by node.
type Teller struct {
	View      *view.View
	History   *history.Reader
	Accounts  *account.Service
	Sequencer Sequencer
	Networks  Networks
	// PublicURL is where clients reach the exchange, without a slash at its end.
	PublicURL string
}

// Icon returns where the picture of an asset or a network is.
func (t *Teller) Icon(symbol bourse.Symbol) string {
	return t.PublicURL + "/icons/" + string(symbol) + ".svg"
}

// Matches reports whether a phrase is in a symbol or a name, whatever its case.
func Matches(phrase string, symbol bourse.Symbol, name string) bool {
	phrase = strings.ToLower(phrase)
	return strings.Contains(strings.ToLower(string(symbol)), phrase) || strings.Contains(strings.ToLower(name), phrase)
}

// Carriers returns the networks that carry an asset, by symbol, unless they are
// disabled.
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
