package bourse

import (
	"math/bits"
	"strings"
)

// Pair is the name of a market, BASE/QUOTE.
type Pair string

// MakePair returns base/quote.
func MakePair(base, quote Symbol) Pair { return Pair(base) + "/" + Pair(quote) }

// Joined returns the pair without its slash, as bots of other exchanges write it. Two markets
// of a catalogue have different ones.
func (p Pair) Joined() string { return strings.Replace(string(p), "/", "", 1) }

// MarketState determines which commands a market takes.
type MarketState uint8

// The states of a market.
const (
	// MarketOpen takes orders and cancels.
	MarketOpen MarketState = iota + 1
	// MarketCancelOnly takes cancels only.
	MarketCancelOnly
	// MarketHalted takes nothing; its book is frozen.
	MarketHalted
	// MarketDelisted takes nothing and is hidden; its orders are killed.
	MarketDelisted
)

var stateWords = [...]string{"", "open", "cancel_only", "halted", "delisted"}

// String returns open, cancel_only, halted or delisted.
func (s MarketState) String() string { return word(stateWords[:], s) }

// ParseMarketState reads open, cancel_only, halted or delisted.
func ParseMarketState(s string) (MarketState, bool) { return parseWord[MarketState](stateWords[:], s) }

// Market trades a base asset for a quote asset.
type Market struct {
	ID    MarketID
	Base  AssetID
	Quote AssetID
	Pair  Pair
	// BasePrecision is the number of decimals of an order's amount: a lot is
	// 10^-BasePrecision of the base asset. It never changes.
	BasePrecision uint8
	// QuotePrecision is the number of decimals of a price: a tick is 10^-QuotePrecision
	// of the quote asset. It never changes.
	QuotePrecision uint8
	State          MarketState
	Enabled        bool
	// SelfTrade applies to orders that name no mode.
	SelfTrade SelfTradeMode
	// LotUnit is the base asset's ledger units in a lot. Derived.
	LotUnit uint64
	// TotalUnit is the quote asset's ledger units in a tick times a lot. Derived.
	TotalUnit uint64
	// MinOrder is the minimum value of an order, in the quote asset's ledger units.
	// A price above the last one counts as the last one.
	MinOrder Amount
	// InitialPrice replaces the last price before the first trade.
	InitialPrice Price
	// MaxPrice bounds the price and the stop of an order.
	MaxPrice Price
	// Maker and Taker are the fee rates, below RateOne.
	Maker, Taker Rate
	// Collar bounds the distance from the last price at which MARKET orders and triggered
	// orders may trade, as a share of that price; zero is no bound. It also fixes the cap of
	// orders that wait to buy by amount without a price.
	Collar Rate
	// Band bounds the price and the stop of an order: at most Band times the greater, and
	// at least 1/Band of the lesser, of the last price and InitialPrice. It is above
	// RateOne; zero is no bound.
	Band Rate
}

// InBand reports whether an order may name price when last is the last trade's.
func (m *Market) InBand(price, last Price) bool {
	return m.isWithin(price, max(last, m.InitialPrice)) && m.isWithin(min(last, m.InitialPrice), price)
}

// isWithin reports whether price is at most Band times other.
func (m *Market) isWithin(price, other Price) bool {
	high, low := bits.Mul64(uint64(price), RateOne)
	mostHigh, mostLow := bits.Mul64(uint64(other), uint64(m.Band))
	return !Amount{mostHigh, mostLow}.Less(Amount{high, low})
}

// Total returns price × lots in the quote asset's ledger units, and false if
// it does not fit.
func (m *Market) Total(price Price, lots Lots) (Amount, bool) {
	hi, lo := bits.Mul64(uint64(price), uint64(lots))
	return Amount{hi, lo}.Mul(m.TotalUnit)
}

// BaseAmount returns lots in the base asset's ledger units, and false if it
// does not fit.
func (m *Market) BaseAmount(lots Lots) (Amount, bool) {
	hi, lo := bits.Mul64(uint64(lots), m.LotUnit)
	return Amount{hi, lo}, true
}

// Held returns the asset that an order of this side holds.
func (m *Market) Held(side Side) AssetID {
	if side == Buy {
		return m.Quote
	}
	return m.Base
}

// Received returns the asset that an order of this side receives.
func (m *Market) Received(side Side) AssetID {
	if side == Buy {
		return m.Base
	}
	return m.Quote
}
