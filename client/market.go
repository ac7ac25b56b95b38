package client

import (
	"context"
	"iter"
	"time"
)

// Side is the side of an order or a trade.
type Side string

// The sides.
const (
	Buy  Side = "BUY"
	Sell Side = "SELL"
)

// Market is a market with its prices.
type Market struct {
	Pair      string `json:"pair"`
	Base      string `json:"base"`
	Quote     string `json:"quote"`
	BaseName  string `json:"base_name"`
	QuoteName string `json:"quote_name"`
	IconURL   string `json:"icon_url"`
	// AmountPrecision and PricePrecision are the decimals of amounts and of prices.
	AmountPrecision uint8 `json:"base_precision"`
	PricePrecision  uint8 `json:"quote_precision"`
	// Price is the price of the last trade, Previous the price before its last change, both
	// in the quote asset.
	Price    Decimal `json:"price"`
	Previous Decimal `json:"previous"`
	// Change is the change of the price over 24 hours, in whole percent.
	Change string `json:"change"`
	// High, Low, BaseVolume and QuoteVolume are of 24 hours.
	High        Decimal `json:"high"`
	Low         Decimal `json:"low"`
	BaseVolume  Decimal `json:"vol_base"`
	QuoteVolume Decimal `json:"vol_quote"`
	// MinOrder is the least worth of an order, in the quote asset.
	MinOrder Decimal `json:"min_order"`
}

// Select selects markets. At most one of Pair, Quote and Search may be set.
type Select struct {
	Pair   string
	Quote  string
	Search string
}

// Markets lists markets by pair.
func (c *Client) Markets(ctx context.Context, which Select) iter.Seq2[Market, error] {
	f := fields{}.text("pair", which.Pair).text("quote", which.Quote).text("search", which.Search)
	return pages(func(offset int) ([]Market, error) {
		if f["offset"] = offset; which.Pair != "" && offset > 0 {
			return nil, nil
		}
		a, err := look[struct{ Markets []Market }](ctx, c, "/spot/markets_ex", f)
		return a.Markets, err
	})
}

// Row is a level of a book. Both numbers have all decimals of the market.
type Row struct {
	// Price is in the quote asset.
	Price Decimal `json:"price"`
	// Amount is the unfilled amount of all orders at the price, in the base asset.
	Amount Decimal `json:"amount"`
}

// OrderBook is a market's book, from [Client.OrderBook] or a [Reset]. The best level comes first.
type OrderBook struct {
	Bids []Row `json:"bids"`
	Asks []Row `json:"asks"`
	// Seq is the number of the last message of BookOf that the book includes.
	Seq uint64 `json:"seq"`
}

// OrderBook returns a market's book: the best levels of each side, at most depth, or all if depth
// is zero.
func (c *Client) OrderBook(ctx context.Context, pair string, depth int) (OrderBook, error) {
	return look[OrderBook](ctx, c, "/spot/orderbook", fields{"pair": pair}.number("depth", uint64(max(depth, 0))))
}

// Trade is a trade of a market, from [Client.Trades] or the stream TradesOf.
type Trade struct {
	// TradeID counts the trades of the market.
	TradeID uint64 `json:"trade_id"`
	Pair    string `json:"pair"`
	Time    Time   `json:"time"`
	// Price and Total are in the quote asset, Amount is in the base asset.
	Price  Decimal `json:"price"`
	Amount Decimal `json:"amount"`
	Total  Decimal `json:"total"`
	// Side is the taker's side.
	Side Side `json:"side"`
}

// Trades lists a market's trades, newest first. Trades that are made meanwhile are not in it.
func (c *Client) Trades(ctx context.Context, pair string) iter.Seq2[Trade, error] {
	return begun(func() iter.Seq2[Trade, error] {
		last := ^uint64(0)
		list := pages(func(offset int) ([]Trade, error) {
			a, err := look[struct{ Trades []Trade }](ctx, c, "/spot/trades", fields{"pair": pair, "offset": offset})
			return a.Trades, err
		})
		return filtered(list, func(t *Trade) bool {
			if t.TradeID >= last { // newer trades moved it to a later page
				return false
			}
			t.Pair, last = pair, t.TradeID
			return true
		})
	})
}

// Candle is a candlestick, from [Client.Candles] or the stream CandlesOf.
type Candle struct {
	Pair string `json:"pair"`
	// Time is the candle's start.
	Time  Time    `json:"time"`
	Open  Decimal `json:"open"`
	High  Decimal `json:"high"`
	Low   Decimal `json:"low"`
	Close Decimal `json:"close"`
	// Volume is in the base asset.
	Volume Decimal `json:"volume"`
}

// Candles lists a market's candles of a resolution, such as 1, 60 or 1D, that begin between two
// times, both included, oldest first.
func (c *Client) Candles(ctx context.Context, pair, resolution string, from, to time.Time) iter.Seq2[Candle, error] {
	return func(yield func(Candle, error) bool) {
		for start := from.Unix(); start <= to.Unix(); {
			a, err := look[struct{ Candlestick []Candle }](ctx, c, "/spot/candlestick", fields{
				"pair": pair, "res": resolution, "from": start, "to": to.Unix(),
			})
			if err != nil {
				yield(Candle{}, err)
				return
			}
			for _, candle := range a.Candlestick {
				candle.Pair, start = pair, candle.Time.Unix()+1
				if !yield(candle, nil) {
					return
				}
			}
			if len(a.Candlestick) == 0 {
				return
			}
		}
	}
}

// Config has an exchange's defaults for programs that show markets.
type Config struct {
	// Quotes are the symbols of quote assets.
	Quotes []string `json:"quotes"`
	// DefaultPair is the market to show first.
	DefaultPair string `json:"default_pair"`
	// Exchange is the id of the exchange, which signed requests name.
	Exchange string `json:"exchange_id"`
}

// Config returns the exchange's defaults.
func (c *Client) Config(ctx context.Context) (Config, error) {
	return look[Config](ctx, c, "/spot/config", fields{})
}

// Time returns the exchange's time.
func (c *Client) Time(ctx context.Context) (Time, error) {
	a, err := look[struct{ Time Time }](ctx, c, "/spot/time", fields{})
	return a.Time, err
}

// ClassLimit is the limit of a class of requests.
type ClassLimit struct {
	// Class names the requests that count, such as reads, orders or cancels.
	Class string `json:"class"`
	// Scope is account or source: the client's address.
	Scope string `json:"scope"`
	Limit
}

// Limits lists the limits of requests: the account's for a client with a key, the client
// address's for one without. An exchange without limits lists none.
func (c *Client) Limits(ctx context.Context) ([]ClassLimit, error) {
	type limits struct {
		Limits []struct {
			ClassLimit
			Reset int // in seconds
		}
	}
	ask := read[limits]
	if c.o.Key == "" {
		ask = look[limits]
	}
	a, err := ask(ctx, c, "/spot/limits", fields{})
	list := make([]ClassLimit, len(a.Limits))
	for i, row := range a.Limits {
		list[i] = row.ClassLimit
		list[i].Reset = time.Duration(row.Reset) * time.Second
	}
	return list, err
}

// pageSize is the number of rows of a page that is not the last.
const pageSize = 50

// pages lists the rows of page after page, by offset.
func pages[R any](page func(offset int) ([]R, error)) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for offset := 0; ; {
			list, err := page(offset)
			if err != nil {
				yield(*new(R), err)
				return
			}
			for _, row := range list {
				if !yield(row, nil) {
					return
				}
			}
			if offset += len(list); len(list) < pageSize {
				return
			}
		}
	}
}

// filtered leaves the rows that keep accepts; it may complete them.
func filtered[R any](list iter.Seq2[R, error], keep func(*R) bool) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		for row, err := range list {
			if (err != nil || keep(&row)) && !yield(row, err) {
				return
			}
		}
	}
}

// begun makes a list anew for each loop over it.
func begun[R any](list func() iter.Seq2[R, error]) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) { list()(yield) }
}
