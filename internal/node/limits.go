package node

import (
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// SignerScale is the number of decimals in the amounts of a [SignerLimit].
const SignerScale = 18

// SignerLimit bounds the amount of an asset that the signer sends in one withdrawal, in an
// hour and in a day, on each network by itself. Zero lets nothing leave.
type SignerLimit struct {
	Asset              bourse.Symbol
	Payment, Hour, Day bourse.Amount
}

// checkSignerLimits refuses a limit of an asset that no connected network moves, because
// it would bound nothing, and a second limit of one asset.
func (n *Node) checkSignerLimits() error {
	seen := map[bourse.Symbol]bool{}
	for i := range n.SignerLimits {
		symbol := n.SignerLimits[i].Asset
		moves := func(a *attached) bool { return n.coinOf(a.id, symbol) != "" }
		switch {
		case seen[symbol]:
			return fmt.Errorf("signer-limits: %s has two limits", symbol)
		case !slices.ContainsFunc(n.networks, moves):
			return fmt.Errorf("signer-limits: no connected network moves %s", symbol)
		}
		seen[symbol] = true
	}
	return nil
}

// coinOf returns the coin of an asset on a network; empty if it is not listed there.
func (n *Node) coinOf(id bourse.NetworkID, symbol bourse.Symbol) chain.CoinID {
	_, terms, assets := n.Listed(id)
	for _, t := range terms {
		if assets[t.Asset].Symbol == symbol {
			return chain.CoinOf(symbol, t.Contract)
		}
	}
	return ""
}

// signerLimit returns the limits of a network's coins. It reads the catalogue at each
// call: a coin that is listed later has the limit of its asset at once. An asset without a
// limit does not leave, except from a sandbox, whose money is not real.
func (n *Node) signerLimit(id bourse.NetworkID, shape *chain.Shape) func(chain.CoinID) signer.Limit {
	return func(coin chain.CoinID) signer.Limit {
		moved, known := shape.Coin(coin)
		for _, l := range n.SignerLimits {
			if known && n.coinOf(id, l.Asset) == coin {
				most := units(l.Payment, moved.Decimals)
				return signer.Limit{
					Payment: most, Hour: units(l.Hour, moved.Decimals), Day: units(l.Day, moved.Decimals), Free: most,
				}
			}
		}
		if n.Sandbox != nil {
			return signer.Unlimited(coin)
		}
		return signer.Limit{}
	}
}

// units converts an amount at SignerScale to a coin's smallest units. A bound below one
// unit becomes one unit.
func units(a bourse.Amount, decimals uint8) bourse.Amount {
	whole, _ := a.Div(bourse.Units(bourse.Pow10(SignerScale - decimals)))
	if whole.IsZero() && !a.IsZero() {
		return bourse.Units(1)
	}
	return whole
}
