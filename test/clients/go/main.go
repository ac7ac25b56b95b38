// Command go-binance makes each call of the package github.com/adshao/go-binance, changed in
// nothing but its address and its key. It is a module of its own, so that the exchange does not
// depend on the package.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	binance "github.com/adshao/go-binance/v2"
	"github.com/adshao/go-binance/v2/common"
)

const symbol = "BTCUSDT"

var failed bool

// call prints the outcome of a call whose answer is good.
func call[T any](name string, answer T, err error, good func(T) bool) T {
	if err == nil && good != nil && !good(answer) {
		err = fmt.Errorf("the answer is %+v", answer)
	}
	if err != nil {
		failed = true
		fmt.Printf("FAIL  %s: %v\n", name, err)
		return answer
	}
	fmt.Printf("ok    %s\n", name)
	return answer
}

func main() {
	var key struct {
		ID     string `json:"api_key"`
		Secret string `json:"secret"`
	}
	if err := json.Unmarshal([]byte(os.Getenv("BOURSE_HMAC")), &key); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	c := binance.NewClient(key.ID, key.Secret)
	c.BaseURL = os.Getenv("BOURSE_BINANCE")
	ctx := context.Background()

	price := marketData(ctx, c)
	trading(ctx, c, price)
	wallet(ctx, c)
	streams(ctx, c, key.ID, key.Secret)
	entry(ctx, c, price)

	if err := json.Unmarshal([]byte(os.Getenv("BOURSE_ED25519")), &key); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	signing := binance.NewClient(key.ID, os.Getenv("BOURSE_PEM"))
	signing.BaseURL, signing.KeyType = c.BaseURL, common.KeyTypeEd25519
	account, err := signing.NewGetAccountService().Do(ctx)
	call("account with an Ed25519 key", account, err, nil)
	if failed {
		os.Exit(1)
	}
}

// marketData returns a price far below the market.
func marketData(ctx context.Context, c *binance.Client) string {
	call("ping", 0, c.NewPingService().Do(ctx), nil)
	now, err := c.NewServerTimeService().Do(ctx)
	call("time", now, err, func(t int64) bool { return t > 0 })
	info, err := c.NewExchangeInfoService().Symbol(symbol).Do(ctx)
	call("exchangeInfo", info, err, func(i *binance.ExchangeInfo) bool {
		return len(i.Symbols) == 1 && i.Symbols[0].LotSizeFilter() != nil && i.Symbols[0].PriceFilter() != nil
	})
	book, err := c.NewDepthService().Symbol(symbol).Limit(5).Do(ctx)
	call("depth", book, err, func(b *binance.DepthResponse) bool { return len(b.Bids) == 5 && b.LastUpdateID > 0 })
	trades, err := c.NewRecentTradesService().Symbol(symbol).Limit(3).Do(ctx)
	call("trades", trades, err, func(l []*binance.Trade) bool { return len(l) == 3 })
	old, err := c.NewHistoricalTradesService().Symbol(symbol).FromID(2).Limit(3).Do(ctx)
	call("historicalTrades", old, err, func(l []*binance.Trade) bool { return len(l) == 3 && l[0].ID == 2 })
	aggregates, err := c.NewAggTradesService().Symbol(symbol).Limit(3).Do(ctx)
	call("aggTrades", aggregates, err, func(l []*binance.AggTrade) bool { return len(l) == 3 })
	klines, err := c.NewKlinesService().Symbol(symbol).Interval("1h").Limit(3).Do(ctx)
	call("klines", klines, err, func(l []*binance.Kline) bool { return len(l) == 3 && l[0].TradeNum >= 0 })
	for_, err := c.NewUiKlinesService().Symbol(symbol).Interval("1d").Limit(1).Do(ctx)
	call("uiKlines", for_, err, nil)
	average, err := c.NewAveragePriceService().Symbol(symbol).Do(ctx)
	call("avgPrice", average, err, nil)
	day, err := c.NewListPriceChangeStatsService().Symbol(symbol).Do(ctx)
	call("ticker/24hr", day, err, func(l []*binance.PriceChangeStats) bool { return len(l) == 1 })
	today, err := c.NewTradingDayTickerService().Symbol(symbol).Do(ctx)
	call("ticker/tradingDay", today, err, nil)
	prices, err := c.NewListPricesService().Do(ctx)
	call("ticker/price", prices, err, func(l []*binance.SymbolPrice) bool { return len(l) > 2 })
	best, err := c.NewListBookTickersService().Symbol(symbol).Do(ctx)
	call("ticker/bookTicker", best, err, func(l []*binance.BookTicker) bool { return len(l) == 1 })
	window, err := c.NewListSymbolTickerService().Symbol(symbol).WindowSize("1h").Do(ctx)
	call("ticker", window, err, func(l []*binance.SymbolTicker) bool { return len(l) == 1 })

	bid, err := strconv.ParseFloat(book.Bids[0].Price, 64)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return strconv.Itoa(int(bid * 0.8))
}

func trading(ctx context.Context, c *binance.Client, price string) {
	limit := func() *binance.CreateOrderService {
		return c.NewCreateOrderService().Symbol(symbol).Side(binance.SideTypeBuy).Type(binance.OrderTypeLimit).
			TimeInForce(binance.TimeInForceTypeGTC).Quantity("0.01").Price(price)
	}
	call("order/test", 0, limit().Test(ctx), nil)
	o, err := limit().NewClientOrderID("go-1").Do(ctx)
	call("order", o, err, func(o *binance.CreateOrderResponse) bool { return o.Status == binance.OrderStatusTypeNew })
	again, err := limit().NewClientOrderID("go-1").Do(ctx)
	call("order again", again, err, func(a *binance.CreateOrderResponse) bool { return a.OrderID == o.OrderID })
	read, err := c.NewGetOrderService().Symbol(symbol).OrderID(o.OrderID).Do(ctx)
	call("GET order", read, err, func(o *binance.Order) bool { return o.ClientOrderID == "go-1" })
	open, err := c.NewListOpenOrdersService().Symbol(symbol).Do(ctx)
	call("openOrders", open, err, func(l []*binance.Order) bool { return len(l) == 1 })
	canceled, err := c.NewCancelOrderService().Symbol(symbol).OrigClientOrderID("go-1").Do(ctx)
	call("DELETE order", canceled, err, func(o *binance.CancelOrderResponse) bool {
		return o.Status == binance.OrderStatusTypeCanceled
	})
	filled, err := c.NewCreateOrderService().Symbol(symbol).Side(binance.SideTypeBuy).Type(binance.OrderTypeMarket).
		QuoteOrderQty("100").Do(ctx)
	call("order at the market", filled, err, func(o *binance.CreateOrderResponse) bool { return len(o.Fills) > 0 })
	_, err = limit().Do(ctx)
	call("order to cancel", 0, err, nil)
	gone, err := c.NewCancelOpenOrdersService().Symbol(symbol).Do(ctx)
	call("DELETE openOrders", gone, err, func(r *binance.CancelOpenOrdersResponse) bool { return len(r.Orders) == 1 })
	replaced, err := c.NewCancelReplaceOrderService().Symbol(symbol).Side(binance.SideTypeBuy).Type(binance.OrderTypeLimit).
		TimeInForce(binance.TimeInForceTypeGTC).Quantity("0.01").Price(price).CancelOrderID(o.OrderID).
		CancelReplaceMode(binance.CancelReplaceModeAllowFailure).Do(ctx)
	if e, known := err.(*common.APIError); !known || e.Code != -2021 {
		call("order/cancelReplace of what is gone", replaced, fmt.Errorf("want -2021, got %v", err), nil)
	}
	open, err = c.NewListOpenOrdersService().Symbol(symbol).Do(ctx)
	call("openOrders, the replacement", open, err, func(l []*binance.Order) bool { return len(l) == 1 })
	replaced, err = c.NewCancelReplaceOrderService().Symbol(symbol).Side(binance.SideTypeBuy).Type(binance.OrderTypeLimit).
		TimeInForce(binance.TimeInForceTypeGTC).Quantity("0.01").Price(price).CancelOrderID(open[0].OrderID).
		CancelReplaceMode(binance.CancelReplaceModeStopOnFailure).Do(ctx)
	call("order/cancelReplace", replaced, err, func(r *binance.CancelReplaceOrderResponse) bool {
		return r.CancelResult == "SUCCESS" && r.NewOrderResult == "SUCCESS"
	})
	_, err = c.NewCancelOrderService().Symbol(symbol).OrderID(replaced.NewOrderResponse.OrderID).Do(ctx)
	call("DELETE order, the new one", 0, err, nil)
	all, err := c.NewListOrdersService().Symbol(symbol).Do(ctx)
	call("allOrders", all, err, func(l []*binance.Order) bool { return len(l) == 5 })
	mine, err := c.NewListTradesService().Symbol(symbol).Do(ctx)
	call("myTrades", mine, err, func(l []*binance.TradeV3) bool { return len(l) >= 1 && l[0].IsBuyer })
	account, err := c.NewGetAccountService().Do(ctx)
	call("account", account, err, func(a *binance.Account) bool { return a.CanTrade && len(a.Balances) > 2 })
	rates, err := c.NewGetCommissionRatesService().Symbol(symbol).Do(ctx)
	call("account/commission", rates, err, nil)
	limits, err := c.NewRateLimitService().Do(ctx)
	call("rateLimit/order", limits, err, func(l []*binance.RateLimitFull) bool { return len(l) == 2 })
	_, err = c.NewGetOrderService().Symbol(symbol).OrderID(1).Do(ctx)
	if e, known := err.(*common.APIError); !known || e.Code != -2013 {
		call("an unknown order", 0, fmt.Errorf("want -2013, got %v", err), nil)
	}
}

func wallet(ctx context.Context, c *binance.Client) {
	coins, err := c.NewGetAllCoinsInfoService().Do(ctx)
	call("capital/config/getall", coins, err, func(l []*binance.CoinInfo) bool { return len(l) > 2 })
	address, err := c.NewGetDepositAddressService().Coin("BTC").Do(ctx)
	call("capital/deposit/address", address, err, func(a *binance.GetDepositAddressResponse) bool { return a.Address != "" })
	deposits, err := c.NewListDepositsService().Coin("BTC").Do(ctx)
	call("capital/deposit/hisrec", deposits, err, nil)
	sent, err := c.NewCreateWithdrawService().Coin("BTC").Address(os.Getenv("BOURSE_ADDRESS")).Amount("0.01").Do(ctx)
	call("capital/withdraw/apply", sent, err, func(r *binance.CreateWithdrawResponse) bool { return r.ID != "" })
	withdrawals, err := c.NewListWithdrawsService().Coin("BTC").Do(ctx)
	call("capital/withdraw/history", withdrawals, err, func(l []*binance.Withdraw) bool { return len(l) == 1 })
	fees, err := c.NewTradeFeeService().Symbol(symbol).Do(ctx)
	call("asset/tradeFee", fees, err, func(l []*binance.TradeFeeDetails) bool { return len(l) == 1 })
	permissions, err := c.NewGetAPIKeyPermission().Do(ctx)
	call("account/apiRestrictions", permissions, err, func(p *binance.APIKeyPermission) bool { return p.EnableReading })
}
