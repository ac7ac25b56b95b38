package binance

import (
	"slices"

	"github.com/bourse-exchange/bourse"
)

func exchangeInfoEndpoint() Endpoint {
	const never = "It is false for every market."
	return Endpoint{
		Method: "GET", Path: "/api/v3/exchangeInfo", WS: "exchangeInfo", Weight: fixed(20),
		Params: append(may("symbol symbols permissions showPermissionSets"), Param{
			Name: "symbolStatus", State: Differs, Note: "CANCEL_ONLY is taken as well.",
		}),
		Fields: []Field{
			{Names: "timezone serverTime"},
			{Names: "rateLimits.rateLimitType rateLimits.interval rateLimits.intervalNum rateLimits.limit"},
			{Names: "exchangeFilters", State: Differs, Note: "It is empty: no limit counts across markets."},
			{Names: "symbols.symbol symbols.baseAsset symbols.quoteAsset"},
			{Names: "symbols.status", State: Differs, Note: "It is TRADING, HALT, CANCEL_ONLY, or BREAK for a market " +
				"with an asset that is hidden."},
			{Names: "symbols.baseAssetPrecision symbols.quoteAssetPrecision symbols.quotePrecision", State: Differs,
				Note: "They are the decimals of an asset's amounts, up to 18."},
			{Names: "symbols.baseCommissionPrecision symbols.quoteCommissionPrecision", State: Differs,
				Note: "They are the decimals of an asset's amounts, up to 18."},
			{Names: "symbols.orderTypes symbols.quoteOrderQtyMarketAllowed"},
			{Names: "symbols.ocoAllowed symbols.cancelReplaceAllowed symbols.amendAllowed"},
			{Names: "symbols.icebergAllowed symbols.otoAllowed symbols.opoAllowed symbols.allowTrailingStop " +
				"symbols.pegInstructionsAllowed symbols.isMarginTradingAllowed", State: Differs, Note: never},
			{Names: "symbols.isSpotTradingAllowed symbols.permissionSets"},
			{Names: "symbols.permissions", State: Differs, Note: "It is empty, as documented for markets with permissionSets."},
			{Names: "symbols.filters", State: Differs, Note: "PRICE_FILTER, LOT_SIZE, MARKET_LOT_SIZE, NOTIONAL, " +
				"MAX_NUM_ORDERS and MAX_NUM_ALGO_ORDERS; PERCENT_PRICE_BY_SIDE if the market has a band."},
			{Names: "symbols.defaultSelfTradePreventionMode symbols.allowedSelfTradePreventionModes"},
			{Names: "sors", State: NotServed, Note: "Orders are not routed."},
		},
		Answer: (*Facade).exchangeInfo,
	}
}

// mostSymbols bounds the symbols that a request names.
const mostSymbols = 500

// exchangeInfo writes the limits of requests and the terms of markets.
func (f *Facade) exchangeInfo(r *Request) error {
	markets := r.infoMarkets()
	sets := r.Bool("showPermissionSets", true)
	if err := r.Err(); err != nil {
		return err
	}

	r.Out.Object()
	r.Out.Word("timezone", "UTC")
	r.time("serverTime", f.Now())
	f.writeLimits(r)
	r.Out.Name("exchangeFilters")
	r.Out.Array()
	r.Out.EndArray()
	r.Out.Name("symbols")
	r.Out.Array()
	for _, m := range markets {
		r.writeTerms(m, sets)
	}
	r.Out.EndArray()
	r.Out.EndObject()
	return nil
}

// infoMarkets returns the markets that a request selects.
func (r *Request) infoMarkets() []*bourse.Market {
	one, several := r.Has("symbol"), r.Has("symbols")
	if one && several || (one || several) && (r.Has("permissions") || r.Has("symbolStatus")) {
		r.Fail(Errorf(codeCombination, "Combination of optional parameters invalid."))
		return nil
	}

	list := r.selected(mostSymbols)
	if !r.isSpot() {
		return nil
	}
	return r.withStatus(list)
}

// isSpot reports whether the parameter permissions, a word or a list, admits spot trading.
func (r *Request) isSpot() bool {
	const spot = "SPOT"
	text, has := r.Raw("permissions")
	if !has || text == spot {
		return true
	}
	if len(text) > 0 && text[0] == '[' {
		const most = 32
		return slices.Contains(r.List("permissions", most), spot)
	}
	return false
}

// selected returns the markets that symbol or symbols name, at most most, or all of them.
func (r *Request) selected(most int) (list []*bourse.Market) {
	if r.Has("symbol") {
		if m := r.market(); m != nil {
			list = append(list, m)
		}
		return list
	}
	if !r.Has("symbols") {
		return r.names.listed
	}

	for _, name := range r.List("symbols", most) {
		m := r.names.byName[name]
		switch {
		case m == nil:
			r.Fail(errSymbol)
			return nil
		case slices.Contains(list, m):
			r.Fail(Errorf(codeDuplicate, "Symbol is present multiple times in the list."))
			return nil
		}
		list = append(list, m)
	}
	return list
}

// The statuses of markets.
const (
	statusTrading    = "TRADING"
	statusHalt       = "HALT"
	statusCancelOnly = "CANCEL_ONLY"
	statusBreak      = "BREAK"
)

// status returns the status of a market.
func (c *catalogue) status(m *bourse.Market) string {
	switch {
	case m.State == bourse.MarketDelisted || !m.Enabled || !c.Assets[m.Base].Enabled || !c.Assets[m.Quote].Enabled:
		return statusBreak
	case m.State == bourse.MarketHalted:
		return statusHalt
	case m.State == bourse.MarketCancelOnly:
		return statusCancelOnly
	}
	return statusTrading
}

// withStatus returns the markets with the status that symbolStatus names.
func (r *Request) withStatus(list []*bourse.Market) []*bourse.Market {
	words := []string{statusTrading, statusHalt, statusBreak, statusCancelOnly}
	at := r.One("symbolStatus", "", errStatusWord, words...)
	if at < 0 {
		return list
	}
	matching := slices.DeleteFunc(slices.Clone(list), func(m *bourse.Market) bool {
		return r.names.status(m) != words[at]
	})
	if r.Has("symbol") && len(matching) < len(list) {
		r.Fail(errStatus)
	}
	return matching
}

// writeLimits writes rateLimits.
func (f *Facade) writeLimits(r *Request) {
	r.Out.Name("rateLimits")
	r.Out.Array()
	if f.Weight > 0 {
		r.Out.Object()
		r.Out.Word("rateLimitType", "REQUEST_WEIGHT")
		r.Out.Word("interval", "MINUTE")
		r.Out.Int("intervalNum", 1)
		r.Out.Int("limit", int64(f.Weight))
		r.Out.EndObject()
	}
	f.writeOrderLimits(r, nil)
	r.Out.EndArray()
}

// writeOrderLimits writes the limits of orders, with an account's counts unless they are nil.
func (f *Facade) writeOrderLimits(r *Request, counts *[len(orderWindows)]int) {
	for i := range orderWindows {
		limit := f.limit(i)
		if limit == 0 {
			continue
		}
		r.Out.Object()
		r.Out.Word("rateLimitType", "ORDERS")
		r.Out.Word("interval", orderWindows[i].interval)
		r.Out.Int("intervalNum", int64(orderWindows[i].number))
		r.Out.Int("limit", int64(limit))
		if counts != nil {
			r.Out.Int("count", int64(counts[i]))
		}
		r.Out.EndObject()
	}
}

// writeTerms writes the terms of a market.
func (r *Request) writeTerms(m *bourse.Market, sets bool) {
	base, quote := r.names.Assets[m.Base], r.names.Assets[m.Quote]
	r.Out.Object()
	r.symbol(m)
	r.Out.Word("status", r.names.status(m))
	r.Out.Word("baseAsset", string(base.Symbol))
	r.Out.Uint("baseAssetPrecision", uint64(max(base.Scale, decimals)))
	r.Out.Word("quoteAsset", string(quote.Symbol))
	r.Out.Uint("quotePrecision", uint64(max(quote.Scale, decimals)))
	r.Out.Uint("quoteAssetPrecision", uint64(max(quote.Scale, decimals)))
	r.Out.Uint("baseCommissionPrecision", uint64(max(base.Scale, decimals)))
	r.Out.Uint("quoteCommissionPrecision", uint64(max(quote.Scale, decimals)))
	r.words("orderTypes", orderTypeWords()...)
	r.Out.Bool("icebergAllowed", false)
	r.Out.Bool("ocoAllowed", true)
	r.Out.Bool("otoAllowed", false)
	r.Out.Bool("opoAllowed", false)
	r.Out.Bool("quoteOrderQtyMarketAllowed", true)
	r.Out.Bool("allowTrailingStop", false)
	r.Out.Bool("cancelReplaceAllowed", true)
	r.Out.Bool("amendAllowed", true)
	r.Out.Bool("pegInstructionsAllowed", false)
	r.Out.Bool("isSpotTradingAllowed", true)
	r.Out.Bool("isMarginTradingAllowed", false)
	r.writeFilters(m)
	r.words("permissions")
	r.Out.Name("permissionSets")
	r.Out.Array()
	if sets {
		r.Out.Array()
		r.Out.String("SPOT")
		r.Out.EndArray()
	}
	r.Out.EndArray()
	r.Out.Word("defaultSelfTradePreventionMode", selfTradeWord(m.SelfTrade))
	r.words("allowedSelfTradePreventionModes", selfTradeWords[1:]...)
	r.Out.EndObject()
}

// words writes a list of words.
func (r *Request) words(name string, words ...string) {
	r.Out.Name(name)
	r.Out.Array()
	for _, word := range words {
		r.Out.String(word)
	}
	r.Out.EndArray()
}
