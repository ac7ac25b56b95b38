package connect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/wallet"
)

// band is the setting of one coin, in whole coins.
type band struct {
	Low    string `yaml:"low"`
	Target string `yaml:"target"`
	High   string `yaml:"high"`
}

// hot is the setting of the hot wallet: the native coin's, and those of other coins by their symbols.
type hot struct {
	band  `yaml:",inline"`
	Coins map[bourse.Symbol]band `yaml:"coins"`
}

// finest is the number of decimals in which amounts of an unknown coin are read.
const finest = 18

// parse returns the amounts at a scale.
func (b *band) parse(scale uint8) (w wallet.Band, err error) {
	for _, f := range []struct {
		name, text string
		to         *bourse.Amount
	}{{"low", b.Low, &w.Low}, {"target", b.Target, &w.Target}, {"high", b.High, &w.High}} {
		if *f.to, err = bourse.ParseAmount(f.text, scale); err != nil {
			return w, fmt.Errorf("%s %q: %w", f.name, f.text, err)
		}
	}
	if w.Target.Less(w.Low) || w.High.Less(w.Target) {
		return w, errors.New("low is at most target, and target at most high")
	}
	return w, nil
}

// check checks what needs no catalogue.
func (h *hot) check() error {
	if h.band != (band{}) {
		if _, err := h.parse(finest); err != nil {
			return fmt.Errorf("hot: %w", err)
		}
	}
	for symbol, b := range h.Coins {
		if _, err := b.parse(finest); err != nil {
			return fmt.Errorf("hot: %s: %w", symbol, err)
		}
	}
	return nil
}

// bands returns the settings by asset. It fails if the catalogue does not list a coin on the network.
func (h *hot) bands(terms []*bourse.NetworkAsset, assets []*bourse.Asset) (map[bourse.AssetID]wallet.Band, error) {
	list, left := map[bourse.AssetID]wallet.Band{}, len(h.Coins)
	for _, t := range terms {
		a := assets[t.Asset]
		b, named := h.Coins[a.Symbol]
		if named {
			left--
		} else if t.Contract == "" {
			b = h.band
		}
		if b == (band{}) {
			continue
		}
		w, err := b.parse(a.Scale)
		if err != nil {
			return nil, fmt.Errorf("hot: %s: %w", a.Symbol, err)
		}
		list[a.ID] = w
	}
	if left > 0 {
		return nil, fmt.Errorf("hot: the catalogue does not list all of %v on the network", h.symbols())
	}
	return list, nil
}

// symbols returns the symbols of coins, in order.
func (h *hot) symbols() (list []bourse.Symbol) {
	for symbol := range h.Coins {
		list = append(list, symbol)
	}
	slices.SortFunc(list, cmp.Compare[bourse.Symbol])
	return list
}
