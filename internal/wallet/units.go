package wallet

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// coin joins an asset of the ledger with a network's coin.
type coin struct {
	chain.Coin
	asset *bourse.Asset
	terms *bourse.NetworkAsset
	// unit is the number of ledger units in the network's smallest unit.
	unit uint64
}

// coins are a network's listed coins, by both names.
type coins struct {
	byID    map[chain.CoinID]*coin
	byAsset map[bourse.AssetID]*coin
	native  *coin
}

// Lister reads the catalogue.
type Lister interface {
	// Listed returns a network, its assets' terms, and assets by id.
	Listed(id bourse.NetworkID) (*bourse.Network, []*bourse.NetworkAsset, []*bourse.Asset)
}

// newCoins joins a network's coins with the catalogue.
func newCoins(shape *chain.Shape, terms []*bourse.NetworkAsset, assets []*bourse.Asset) *coins {
	c := &coins{byID: map[chain.CoinID]*coin{}, byAsset: map[bourse.AssetID]*coin{}}
	for _, t := range terms {
		a := assets[t.Asset]
		moved, ok := shape.Coin(chain.CoinOf(a.Symbol, t.Contract))
		if !ok || moved.Decimals > a.Scale {
			continue // the network does not move it, or its units are finer than the ledger's
		}
		k := &coin{Coin: moved, asset: a, terms: t, unit: bourse.Pow10(a.Scale - moved.Decimals)}
		c.byID[moved.ID], c.byAsset[a.ID] = k, k
		if moved.ID == shape.Native {
			c.native = k
		}
	}
	return c
}

// mostHi bounds amounts to 2^112 units, so that neither their sums with costs nor those of a block overflow.
const mostHi = 1 << 48

// ledger converts network units to ledger units; false from the bound on.
func (c *coin) ledger(units bourse.Amount) (bourse.Amount, bool) {
	a, fits := units.Mul(c.unit)
	return a, fits && a.Hi < mostHi
}

// units converts ledger units to network units; false if the result is not exact.
func (c *coin) units(ledger bourse.Amount) (bourse.Amount, bool) {
	n, rest := ledger.Div(bourse.Units(c.unit))
	return n, rest.IsZero()
}
