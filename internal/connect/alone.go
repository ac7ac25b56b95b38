package connect

import (
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/bourse-exchange/bourse"
)

// alone is the setting of what one node alone credits in a day, in whole coins by symbol. Nil is no bound.
type alone map[bourse.Symbol]string

// readAlone reads the setting; nil if it is not there.
func readAlone(n *yaml.Node) (alone, error) {
	switch {
	case n.IsZero():
		return nil, nil //nolint:nilnil // no bound
	case n.ShortTag() == "!!null":
		return nil, errors.New("credit-alone names no coin: write {} to credit nothing, or leave it out for no bound")
	}
	l := alone{}
	if err := n.Decode(&l); err != nil {
		return nil, fmt.Errorf("credit-alone: %w", err)
	}
	return l, nil
}

// check checks what needs no catalogue.
func (l alone) check(nodes int) error {
	if l != nil && nodes > 1 {
		return errors.New("credit-alone is for a network of one node: of several, more than half agree on each deposit")
	}
	for symbol, text := range l {
		if _, err := bourse.ParseAmount(text, finest); err != nil {
			return fmt.Errorf("credit-alone: %s %q: %w", symbol, text, err)
		}
	}
	return nil
}

// amounts returns the setting by asset. It fails if the catalogue does not list a coin on the network.
func (l alone) amounts(terms []*bourse.NetworkAsset, assets []*bourse.Asset) (map[bourse.AssetID]bourse.Amount, error) {
	if l == nil {
		return nil, nil //nolint:nilnil // no bound
	}
	list := map[bourse.AssetID]bourse.Amount{}
	for _, t := range terms {
		a := assets[t.Asset]
		text, named := l[a.Symbol]
		if !named {
			continue
		}
		amount, err := bourse.ParseAmount(text, a.Scale)
		if err != nil {
			return nil, fmt.Errorf("credit-alone: %s %q: %w", a.Symbol, text, err)
		}
		list[a.ID] = amount
	}
	if len(list) < len(l) {
		return nil, fmt.Errorf("credit-alone: the catalogue does not list all of its %d coins on the network", len(l))
	}
	return list, nil
}
