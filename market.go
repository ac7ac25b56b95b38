package bourse

import "math/bits"

// Asset is something that can be owned, counted in units of 10^-Scale.
type Asset struct {
	ID     AssetID
	Symbol Symbol
	Name   string
	// Scale is the ledger scale in decimals, at most MaxScale. It never changes.
	Scale uint8
	// Enabled is false for an asset that is hidden and takes no new business.
	Enabled bool
	// Experimental marks an asset that is listed for tests.
	Experimental bool
}

// Network moves assets between the exchange and the outside.
type Network struct {
	ID     NetworkID
	Symbol Symbol
	// Name describes the network to people.
	Name string
	// MemoName is what the network calls the number that tells accounts behind
	// one address apart; empty where every account has its own address.
	MemoName string
	Enabled  bool
	// Experimental marks a network that exists for tests.
	Experimental bool
}

// NetworkAsset is an asset on a network, with the terms of moving it there.
type NetworkAsset struct {
	Asset   AssetID
	Network NetworkID
	// Precision is the number of decimals the network can move, at most the
	// asset's scale.
	Precision uint8
	// Confirms is how deep a deposit's block must lie before it is credited.
	Confirms uint32
	// Contract names the token on networks that carry several; empty for coins.
	Contract      string
	MinDeposit    Amount
	MinWithdrawal Amount
	FeeMin        Amount
	FeeMax        Amount
	Enabled       bool
}

// MarketState says what a market takes.
type MarketState uint8

// The states of a market.
const (
	// MarketOpen takes orders and cancels.
	MarketOpen MarketState = iota + 1
	// MarketCancelOnly takes cancels alone.
	MarketCancelOnly
	// MarketHalted takes nothing; its book stands still.
	MarketHalted
	// MarketDelisted takes nothing, is hidden, and its orders are killed.
	MarketDelisted
)

// Market is where one asset is traded for another.
type Market struct {
	ID    MarketID
	Base  AssetID
	Quote AssetID
	Pair  Pair
	// BasePrecision is the decimals of an order's amount: a lot is
	// 10^-BasePrecision of the base asset. It never changes.
	BasePrecision uint8
	// QuotePrecision is the decimals of a price: a tick is 10^-QuotePrecision
	// of the quote asset. It never changes.
	QuotePrecision uint8
	State          MarketState
	Enabled        bool
	// SelfTrade is used by orders that name no mode of their own.
	SelfTrade SelfTradeMode
	// LotUnit is the base asset's ledger units in a lot. Derived.
	LotUnit uint64
	// TotalUnit is the quote asset's ledger units in a tick times a lot. Derived.
	TotalUnit uint64
	// MinOrder is the least value of an order, in the quote asset's ledger units. A
	// price counts at most as the last one there.
	MinOrder Amount
	// InitialPrice stands in for the last price until the first trade.
	InitialPrice Price
	// MaxPrice is the highest price and stop that an order may name.
	MaxPrice Price
	// Maker and Taker are the fee rates, below RateOne.
	Maker, Taker Rate
	// Collar is how far from the last price MARKET orders and triggered stops
	// may trade, as a share of it; zero is any distance.
	Collar Rate
	// Band is how many times the last price, and how many times less than it, the
	// price and stop of an order may be. It is above RateOne; zero is any.
	Band Rate
}

// InBand reports whether an order may name a price, the last one being another.
func (m *Market) InBand(price, last Price) bool {
	return m.Band == 0 || m.isWithin(price, last) && m.isWithin(last, price)
}

// isWithin reports whether a price is at most Band times another one.
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
