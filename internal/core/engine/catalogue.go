package engine

import (
	"math"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
)

func (e *Engine) found(g *bourse.Genesis, ev *bourse.Events) {
	e.genesis, e.rules = g, g.Rules
	ev.AddFact(bourse.EventGenesis, bourse.Fact{Genesis: g})
}

// defineAsset adds an asset, or changes the one of that symbol. Definitions are
// never changed in place: events that were handed out keep theirs.
func (e *Engine) defineAsset(def *bourse.Asset, ev *bourse.Events) {
	a := *def
	a.ID = bourse.AssetID(len(e.assets))
	for _, old := range e.assets[1:] {
		if old.Symbol == a.Symbol {
			a.ID = old.ID
		}
	}
	switch {
	case int(a.ID) == len(e.assets):
		if len(e.assets) > math.MaxUint16 {
			ev.Refuse(bourse.TooMany)
			return
		}
		e.assets = append(e.assets, nil)
	case e.assets[a.ID].Scale != a.Scale:
		ev.Refuse(bourse.FixedField)
		return
	}
	e.assets[a.ID] = &a
	e.reopen()
	ev.AddFact(bourse.EventAsset, bourse.Fact{Asset: &a})
	ev.Outcome.ID = uint64(a.ID)
}

func (e *Engine) defineNetwork(def *bourse.Network, ev *bourse.Events) {
	n := *def
	n.ID = bourse.NetworkID(len(e.networks))
	for _, old := range e.networks[1:] {
		if old.Symbol == n.Symbol {
			n.ID = old.ID
		}
	}
	switch {
	case int(n.ID) == len(e.networks):
		if len(e.networks) > math.MaxUint16 {
			ev.Refuse(bourse.TooMany)
			return
		}
		e.networks = append(e.networks, nil)
	case e.networks[n.ID].MemoName == "" != (n.MemoName == ""):
		ev.Refuse(bourse.FixedField)
		return
	}
	e.networks[n.ID] = &n
	ev.AddFact(bourse.EventNetwork, bourse.Fact{Network: &n})
	ev.Outcome.ID = uint64(n.ID)
}

func (e *Engine) defineNetworkAsset(def *bourse.NetworkAsset, ev *bourse.Events) {
	switch {
	case int(def.Asset) >= len(e.assets):
		ev.Refuse(bourse.UnknownAsset)
		return
	case int(def.Network) >= len(e.networks):
		ev.Refuse(bourse.UnknownNetwork)
		return
	case !fitsNetwork(def, e.assets[def.Asset].Scale):
		ev.Refuse(bourse.BadDefinition)
		return
	}
	at, found := slices.BinarySearchFunc(e.networkAssets, def, compareTerms)
	n := *def
	switch {
	case !found:
		e.networkAssets = slices.Insert(e.networkAssets, at, &n)
	case e.networkAssets[at].Precision != n.Precision || e.networkAssets[at].Contract != n.Contract:
		ev.Refuse(bourse.FixedField)
		return
	}
	e.networkAssets[at] = &n
	ev.AddFact(bourse.EventNetworkAsset, bourse.Fact{NetworkAsset: &n})
}

// compareTerms orders terms by network, then asset.
func compareTerms(a, b *bourse.NetworkAsset) int {
	if a.Network != b.Network {
		return int(a.Network) - int(b.Network)
	}
	return int(a.Asset) - int(b.Asset)
}

// fitsNetwork reports whether the terms name amounts that the network can move.
func fitsNetwork(n *bourse.NetworkAsset, scale uint8) bool {
	if n.Precision > scale {
		return false
	}
	step := bourse.Pow10(scale - n.Precision)
	for _, a := range [...]bourse.Amount{n.MinDeposit, n.MinWithdrawal, n.FeeMin, n.FeeMax} {
		if _, rest := a.Div64(step); rest != 0 {
			return false
		}
	}
	return true
}

// defineMarket adds a market, or changes the one of these assets.
func (e *Engine) defineMarket(def *bourse.Market, ev *bourse.Events) {
	if int(def.Base) >= len(e.assets) || int(def.Quote) >= len(e.assets) {
		ev.Refuse(bourse.UnknownAsset)
		return
	}
	m := *def
	m.ID, m.State = bourse.MarketID(len(e.markets)), bourse.MarketOpen
	if !e.derive(&m) {
		ev.Refuse(bourse.BadDefinition)
		return
	}
	for _, old := range e.markets[1:] {
		if old.Pair != m.Pair {
			continue
		}
		if old.BasePrecision != m.BasePrecision || old.QuotePrecision != m.QuotePrecision {
			ev.Refuse(bourse.FixedField)
			return
		}
		m.ID, m.State = old.ID, old.State
	}
	if len(e.markets) > math.MaxUint16 {
		ev.Refuse(bourse.TooMany)
		return
	}
	if int(m.ID) == len(e.markets) {
		e.markets = append(e.markets, &market{book: book.New()})
	}
	e.redefine(&m, ev)
}

func (e *Engine) redefine(m *bourse.Market, ev *bourse.Events) {
	e.markets[m.ID].Market = m
	e.reopen()
	ev.AddFact(bourse.EventMarket, bourse.Fact{Market: m})
	ev.Outcome.ID = uint64(m.ID)
}

// setMarketState opens or closes a market. Delisting kills its orders, as far
// as the steps allow; a Continue does the rest.
func (e *Engine) setMarketState(cmd *bourse.Command, ev *bourse.Events) {
	m := e.market(cmd.MarketID)
	if m == nil {
		ev.Refuse(bourse.UnknownMarket)
		return
	}
	def := *m.Market
	def.State = cmd.State
	e.redefine(&def, ev)
	e.around = m.price()
	if def.State == bourse.MarketDelisted {
		e.killAll(m, ev)
	} else {
		e.drainQueue(m, ev)
	}
}

// derive fills what follows from a market's assets, and reports whether its
// precisions keep all arithmetic exact: price × amount within the quote asset's
// scale, and three decimals left below a lot for its fee.
func (e *Engine) derive(m *bourse.Market) bool {
	if m.Base == 0 || m.Quote == 0 || int(m.Base) >= len(e.assets) || int(m.Quote) >= len(e.assets) {
		return false
	}
	base, quote := e.assets[m.Base], e.assets[m.Quote]
	if int(m.BasePrecision)+int(m.QuotePrecision) > int(quote.Scale) || int(m.BasePrecision)+3 > int(base.Scale) {
		return false
	}
	m.Pair = bourse.MakePair(base.Symbol, quote.Symbol)
	m.LotUnit = bourse.Pow10(base.Scale - m.BasePrecision)
	m.TotalUnit = bourse.Pow10(quote.Scale - m.BasePrecision - m.QuotePrecision)
	return true
}
