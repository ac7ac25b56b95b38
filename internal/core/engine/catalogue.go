package engine

import (
	"math"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
)

// decideCatalogue carries out the commands about assets, networks and markets, and the schedules of
// fees and tiers.
func (e *Engine) decideCatalogue(cmd *bourse.Command, ev *bourse.Events) {
	switch cmd.Kind {
	case bourse.CommandDefineAsset:
		e.defineAsset(cmd.Asset, ev)
	case bourse.CommandDefineNetwork:
		e.defineNetwork(cmd.Network, ev)
	case bourse.CommandDefineNetworkAsset:
		e.defineNetworkAsset(cmd.NetworkAsset, ev)
	case bourse.CommandDefineMarket:
		e.defineMarket(cmd.Market, ev)
	case bourse.CommandSetMarketState:
		e.setMarketState(cmd, ev)
	case bourse.CommandDefineFees:
		e.defineFees(cmd.Fees, ev)
	case bourse.CommandDefineTiers:
		e.defineTiers(cmd.Tiers, ev)
	default:
		e.decideAccount(cmd, ev)
	}
}

func (e *Engine) found(g *bourse.Genesis, ev *bourse.Events) {
	e.genesis, e.rules, e.incarnation = g, g.Rules, 1
	ev.AddFact(bourse.EventGenesis, bourse.Fact{Genesis: g})
}

// defineAsset adds an asset, or changes the asset of the same symbol. A definition is
// never changed in place: events that refer to it stay valid.
func (e *Engine) defineAsset(def *bourse.Asset, ev *bourse.Events) {
	a := *def
	at := indexOf(e.assets, func(old *bourse.Asset) bool { return old.Symbol == a.Symbol })
	a.ID = bourse.AssetID(at)
	list, reason := put(e.assets, at, &a, func(old *bourse.Asset) bool { return old.Scale == a.Scale })
	if reason != 0 {
		ev.Refuse(reason)
		return
	}

	e.assets = list
	e.reopen()
	ev.AddFact(bourse.EventAsset, bourse.Fact{Asset: &a})
	ev.Outcome.ID = uint64(a.ID)
}

func (e *Engine) defineNetwork(def *bourse.Network, ev *bourse.Events) {
	n := *def
	at := indexOf(e.networks, func(old *bourse.Network) bool { return old.Symbol == n.Symbol })
	n.ID = bourse.NetworkID(at)
	list, reason := put(e.networks, at, &n, func(old *bourse.Network) bool {
		return (old.MemoName == "") == (n.MemoName == "")
	})
	if reason != 0 {
		ev.Refuse(reason)
		return
	}

	e.networks = list
	ev.AddFact(bourse.EventNetwork, bourse.Fact{Network: &n})
	ev.Outcome.ID = uint64(n.ID)
}

// indexOf returns the index of the definition that match finds, or the list's length if
// there is none. Index zero is unused.
func indexOf[T any](list []*T, match func(*T) bool) int {
	if at := slices.IndexFunc(list[1:], match); at >= 0 {
		return at + 1
	}
	return len(list)
}

// put returns the list with def at an index of indexOf, or the reason to refuse it. alike
// compares the fixed fields of def with those of the definition that it replaces.
func put[T any](list []*T, at int, def *T, alike func(old *T) bool) ([]*T, bourse.Reason) {
	switch {
	case at > math.MaxUint16:
		return list, bourse.TooMany
	case at == len(list):
		return append(list, def), 0
	case !alike(list[at]):
		return list, bourse.FixedField
	}
	list[at] = def
	return list, 0
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

// fitsNetwork reports whether the network can move the amounts of the terms.
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

// defineMarket adds a market, or changes the market of the same pair.
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

// setMarketState changes a market's state. Delisting kills its orders within the step
// budget; a Continue kills the rest.
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

// derive sets a market's derived fields, and reports whether its precisions keep all
// arithmetic exact: price × amount fits the quote asset's scale, and a lot has three more
// decimals for its fee.
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
