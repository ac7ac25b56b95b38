package wallet

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// coin is an asset as a network moves it.
type coin struct {
	chain.Coin
	asset *bourse.Asset
	terms *bourse.NetworkAsset
	// unit is the ledger units in the network's smallest one.
	unit uint64
}

// coins are those of a network that the catalogue lists, by both names.
type coins struct {
	byID    map[chain.CoinID]*coin
	byAsset map[bourse.AssetID]*coin
	native  *coin
}

// Lister says what is listed.
type Lister interface {
	// Listed returns a network, its assets' terms, and assets by id.
	Listed(id bourse.NetworkID) (*bourse.Network, []*bourse.NetworkAsset, []*bourse.Asset)
}

// newCoins joins what a network moves with what is listed there.
func newCoins(shape *chain.Shape, terms []*bourse.NetworkAsset, assets []*bourse.Asset) *coins {
	c := &coins{byID: map[chain.CoinID]*coin{}, byAsset: map[bourse.AssetID]*coin{}}
	for _, t := range terms {
		a := assets[t.Asset]
		moved, ok := shape.Coin(chain.CoinOf(a.Symbol, t.Contract))
		if !ok || moved.Decimals > a.Scale {
			continue // the network does not move it, or finer than the ledger counts
		}
		k := &coin{Coin: moved, asset: a, terms: t, unit: bourse.Pow10(a.Scale - moved.Decimals)}
		c.byID[moved.ID], c.byAsset[a.ID] = k, k
		if moved.ID == shape.Native {
			c.native = k
		}
	}
	return c
}

// ledger returns a number of the network's units in ledger units; false if it
// does not fit.
func (c *coin) ledger(units bourse.Amount) (bourse.Amount, bool) { return units.Mul(c.unit) }

// units returns ledger units in the network's units; false if that is not exact.
func (c *coin) units(ledger bourse.Amount) (bourse.Amount, bool) {
	n, rest := ledger.Div(bourse.Units(c.unit))
	return n, rest.IsZero()
}
