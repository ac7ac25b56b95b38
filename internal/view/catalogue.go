package view

import (
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// Catalogue is the list of assets, networks and markets, and the schedule of fees. It is
// immutable: a change makes a new one.
type Catalogue struct {
	Genesis *bourse.Genesis
	// Incarnation is zero before genesis.
	Incarnation bourse.Incarnation
	// Rules is the version of the rules; zero before genesis.
	Rules uint32
	// Assets, Networks and Markets are indexed by ID; index zero is nil.
	Assets        []*bourse.Asset
	Networks      []*bourse.Network
	Markets       []*bourse.Market
	NetworkAssets []*bourse.NetworkAsset
	// Fees is nil until a schedule is set.
	Fees *bourse.FeeSchedule
	// Tiers is nil until tiers are defined.
	Tiers *bourse.Tiers

	pairs    map[bourse.Pair]*bourse.Market
	symbols  map[bourse.Symbol]*bourse.Asset
	networks map[bourse.Symbol]*bourse.Network
	listed   []*bourse.Market
}

func newCatalogue() *Catalogue {
	c := &Catalogue{
		Assets: make([]*bourse.Asset, 1), Networks: make([]*bourse.Network, 1), Markets: make([]*bourse.Market, 1),
	}
	c.index()
	return c
}

// clone returns a copy to change and then index.
func (c *Catalogue) clone() *Catalogue {
	return &Catalogue{
		Genesis: c.Genesis, Incarnation: c.Incarnation, Rules: c.Rules, Assets: slices.Clone(c.Assets), Networks: slices.Clone(c.Networks),
		Markets: slices.Clone(c.Markets), NetworkAssets: slices.Clone(c.NetworkAssets), Fees: c.Fees, Tiers: c.Tiers,
	}
}

// index builds the lookup tables.
func (c *Catalogue) index() {
	c.pairs = make(map[bourse.Pair]*bourse.Market, len(c.Markets))
	c.symbols = make(map[bourse.Symbol]*bourse.Asset, len(c.Assets))
	c.networks = make(map[bourse.Symbol]*bourse.Network, len(c.Networks))
	for _, a := range c.Assets[1:] {
		c.symbols[a.Symbol] = a
	}
	for _, n := range c.Networks[1:] {
		c.networks[n.Symbol] = n
	}
	c.listed = nil
	for _, m := range c.Markets[1:] {
		c.pairs[m.Pair] = m
		if c.visible(m) {
			c.listed = append(c.listed, m)
		}
	}
	slices.SortFunc(c.listed, func(a, b *bourse.Market) int { return cmp.Compare(a.Pair, b.Pair) })
}

func (c *Catalogue) visible(m *bourse.Market) bool {
	return m.Enabled && m.State != bourse.MarketDelisted && c.Assets[m.Base].Enabled && c.Assets[m.Quote].Enabled
}

// Market returns the market of a pair, or nil. Hidden markets are included, because
// orders there may still be open.
func (c *Catalogue) Market(pair bourse.Pair) *bourse.Market { return c.pairs[pair] }

// Asset returns the asset of a symbol, or nil; disabled ones are included.
func (c *Catalogue) Asset(symbol bourse.Symbol) *bourse.Asset { return c.symbols[symbol] }

// Network returns the network of a symbol, or nil; disabled ones are included.
func (c *Catalogue) Network(symbol bourse.Symbol) *bourse.Network { return c.networks[symbol] }

// Listed returns the markets that are not hidden, by pair. The slice is shared and must
// not be changed.
func (c *Catalogue) Listed() []*bourse.Market { return c.listed }

// Carried returns a network, the terms of all assets on it, disabled ones included, and
// all assets by ID. They are shared and must not be changed.
func (c *Catalogue) Carried(id bourse.NetworkID) (*bourse.Network, []*bourse.NetworkAsset, []*bourse.Asset) {
	var terms []*bourse.NetworkAsset
	for _, t := range c.NetworkAssets {
		if t.Network == id {
			terms = append(terms, t)
		}
	}
	return c.Networks[id], terms, c.Assets
}

// Latest returns the catalogue with the changes of the open frame. It belongs to the
// goroutine that observes; the result is valid until the next Observe.
func (v *View) Latest() *Catalogue {
	if v.next != nil {
		return v.next
	}
	return v.catalogue.Load()
}

// Catalogue returns the current catalogue.
func (v *View) Catalogue() *Catalogue { return v.catalogue.Load() }

func (v *View) foldDefinition(kind bourse.EventKind, f *bourse.Fact) {
	if v.next == nil {
		v.next = v.catalogue.Load().clone()
	}
	c := v.next
	//nolint:exhaustive // foldEvent passes definitions only
	switch kind {
	case bourse.EventGenesis:
		c.Genesis, c.Incarnation, c.Rules = f.Genesis, 1, f.Genesis.Rules
	case bourse.EventRules:
		c.Rules = f.Rules
	case bourse.EventRaised:
		c.Incarnation = f.Incarnation
	case bourse.EventAsset:
		c.Assets = put(c.Assets, int(f.Asset.ID), f.Asset)
	case bourse.EventNetwork:
		c.Networks = put(c.Networks, int(f.Network.ID), f.Network)
	case bourse.EventNetworkAsset:
		c.putNetworkAsset(f.NetworkAsset)
	case bourse.EventMarket:
		c.Markets = put(c.Markets, int(f.Market.ID), f.Market)
		v.book(f.Market.ID).market = f.Market
	case bourse.EventFeeSchedule:
		c.Fees = f.Fees
	case bourse.EventTiers:
		c.Tiers = f.Tiers
	}
}

// put sets the entry at an index at most one past the end: IDs are dense.
func put[T any](list []T, at int, entry T) []T {
	if at == len(list) {
		return append(list, entry)
	}
	list[at] = entry
	return list
}

func (c *Catalogue) putNetworkAsset(n *bourse.NetworkAsset) {
	for i, old := range c.NetworkAssets {
		if old.Network == n.Network && old.Asset == n.Asset {
			c.NetworkAssets[i] = n
			return
		}
	}
	c.NetworkAssets = append(c.NetworkAssets, n)
}
