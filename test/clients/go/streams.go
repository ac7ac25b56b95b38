package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	binance "github.com/adshao/go-binance/v2"
	"github.com/adshao/go-binance/v2/common"
)

// patience is the time for the first message of a stream.
const patience = 20 * time.Second

// stream opens a stream and waits for its first message.
func stream[T any](name string, open func(func(T), binance.ErrHandler) (chan struct{}, chan struct{}, error), good func(T) bool) {
	first, failed := make(chan T, 1), make(chan error, 1)
	_, stop, err := open(func(m T) {
		select {
		case first <- m:
		default:
		}
	}, func(err error) {
		select {
		case failed <- err:
		default:
		}
	})
	var m T
	if err == nil {
		defer close(stop)
		select {
		case m = <-first:
		case err = <-failed:
		case <-time.After(patience):
			err = fmt.Errorf("no message came")
		}
	}
	call(name, m, err, good)
}

// streams makes the package's calls of streams and of order entry.
func streams(ctx context.Context, c *binance.Client, id, secret string) {
	host := strings.Replace(os.Getenv("BOURSE_BINANCE"), "http", "ws", 1)
	binance.BaseWsMainURL, binance.BaseCombinedMainURL = host+"/ws", host+"/stream?streams="
	binance.BaseWsApiMainURL = host + "/ws-api/v3"

	stream("WsTradeServe", func(h func(*binance.WsTradeEvent), e binance.ErrHandler) (chan struct{}, chan struct{}, error) {
		return binance.WsTradeServe(symbol, h, e)
	}, func(m *binance.WsTradeEvent) bool { return m.TradeID > 0 && m.Symbol == symbol })
	stream("WsAggTradeServe", func(h func(*binance.WsAggTradeEvent), e binance.ErrHandler) (chan struct{}, chan struct{}, error) {
		return binance.WsAggTradeServe(symbol, h, e)
	}, func(m *binance.WsAggTradeEvent) bool { return m.AggTradeID > 0 })
	stream("WsCombinedDepthServe100Ms", func(h func(*binance.WsDepthEvent), e binance.ErrHandler) (chan struct{}, chan struct{}, error) {
		return binance.WsCombinedDepthServe100Ms([]string{symbol, "ETHUSDT"}, h, e)
	}, func(m *binance.WsDepthEvent) bool { return m.FirstUpdateID <= m.LastUpdateID })
	stream("WsPartialDepthServe", func(h func(*binance.WsPartialDepthEvent), e binance.ErrHandler) (chan struct{}, chan struct{}, error) {
		return binance.WsPartialDepthServe(symbol, "5", h, e)
	}, func(m *binance.WsPartialDepthEvent) bool { return len(m.Bids) == 5 && len(m.Asks) == 5 })
	stream("WsKlineServe", func(h func(*binance.WsKlineEvent), e binance.ErrHandler) (chan struct{}, chan struct{}, error) {
		return binance.WsKlineServe(symbol, "1m", h, e)
	}, func(m *binance.WsKlineEvent) bool { return m.Kline.Interval == "1m" })
	stream("WsMarketStatServe", func(h func(*binance.WsMarketStatEvent), e binance.ErrHandler) (chan struct{}, chan struct{}, error) {
		return binance.WsMarketStatServe(symbol, h, e)
	}, func(m *binance.WsMarketStatEvent) bool { return m.LastPrice != "" })
	stream("WsAllMiniMarketsStatServe",
		func(h func(binance.WsAllMiniMarketsStatEvent), e binance.ErrHandler) (chan struct{}, chan struct{}, error) {
			return binance.WsAllMiniMarketsStatServe(h, e)
		}, func(m binance.WsAllMiniMarketsStatEvent) bool { return len(m) > 0 })
	stream("WsBookTickerServe", func(h func(*binance.WsBookTickerEvent), e binance.ErrHandler) (chan struct{}, chan struct{}, error) {
		return binance.WsBookTickerServe(symbol, h, e)
	}, func(m *binance.WsBookTickerEvent) bool { return m.BestBidPrice != "" })

	userData(ctx, c, "listen key", func(h func(*binance.WsUserDataEvent), e binance.ErrHandler) (chan struct{}, chan struct{}, error) {
		key, err := c.NewStartUserStreamService().Do(ctx)
		call("NewStartUserStreamService", key, err, func(k string) bool { return len(k) == 64 })
		err = c.NewKeepaliveUserStreamService().ListenKey(key).Do(ctx)
		call("NewKeepaliveUserStreamService", key, err, nil)
		spare, err := c.NewStartUserStreamService().Do(ctx)
		call("NewStartUserStreamService again", spare, err, func(k string) bool { return k == key })
		return binance.WsUserDataServe(key, h, e)
	})
	key, err := c.NewStartUserStreamService().Do(ctx)
	call("NewStartUserStreamService, to close it", key, err, nil)
	call("NewCloseUserStreamService", key, c.NewCloseUserStreamService().ListenKey(key).Do(ctx), nil)
	userData(ctx, c, "hmac", func(h func(*binance.WsUserDataEvent), e binance.ErrHandler) (chan struct{}, chan struct{}, error) {
		return binance.WsUserDataServeSignature(id, secret, common.KeyTypeHmac, 0, h, e)
	})
}

// entry enters orders over WebSocket, as far as the package has a call for them, and reads a list
// over HTTP.
func entry(ctx context.Context, c *binance.Client, price string) {
	orders, err := c.NewOrderCreateWsService()
	call("NewOrderCreateWsService", 0, err, nil)
	o, err := orders.SyncDo("1", binance.NewOrderCreateWsRequest().Symbol(symbol).Side(binance.SideTypeBuy).
		Type(binance.OrderTypeLimit).TimeInForce(binance.TimeInForceTypeGTC).Quantity("0.01").Price(price).
		NewOrderRespType(binance.NewOrderRespTypeRESULT))
	call("order.place", o, err, func(o *binance.CreateOrderWsResponse) bool { return o.Status == 200 && o.Result.OrderID > 0 })

	lists, err := c.NewOrderListCreateWsService()
	call("NewOrderListCreateWsService", 0, err, nil)
	place := func(id string) int64 {
		l, err := lists.SyncDo(id, binance.NewOrderListCreateWsRequest().Symbol(symbol).Side(binance.SideTypeSell).
			Quantity("0.01").AboveType(binance.OrderTypeLimitMaker).AbovePrice("1000000").BelowType(binance.OrderTypeStopLoss).
			BelowStopPrice(price).NewOrderRespType(binance.NewOrderRespTypeRESULT))
		call("orderList.place.oco", l, err, func(l *binance.CreateOrderListWsResponse) bool {
			return l.Status == 200 && l.Result.ListOrderStatus == "EXECUTING"
		})
		return l.Result.OrderListId
	}
	id := place("2")
	open, err := c.NewListOpenOcoService().Do(ctx)
	call("openOrderList", open, err, func(l []*binance.Oco) bool { return len(l) == 1 && l[0].OrderListId == id })
	gone, err := c.NewCancelOCOService().Symbol(symbol).OrderListID(id).Do(ctx)
	call("DELETE orderList", gone, err, func(l *binance.CancelOCOResponse) bool { return l.ListOrderStatus == "ALL_DONE" })
	id = place("3")
	cancels, err := c.NewOrderListCancelWsService()
	call("NewOrderListCancelWsService", 0, err, nil)
	end, err := cancels.SyncDo("4", binance.NewOrderListCancelWsRequest().Symbol(symbol).OrderListID(id))
	call("orderList.cancel", end, err, func(l *binance.CancelOrderListWsResponse) bool { return l.Status == 200 })
	_, err = c.NewCancelOpenOrdersService().Symbol(symbol).Do(ctx)
	call("DELETE openOrders", 0, err, nil)
}

// userData listens to user data while an order is placed and canceled.
func userData(
	ctx context.Context, c *binance.Client, kind string,
	open func(func(*binance.WsUserDataEvent), binance.ErrHandler) (chan struct{}, chan struct{}, error),
) {
	reports := make(chan string, 100)
	_, stop, err := open(func(m *binance.WsUserDataEvent) {
		if m.Event == binance.UserDataEventTypeExecutionReport {
			reports <- m.OrderUpdate.ExecutionType
		}
	}, func(err error) { fmt.Println(err) })
	call("user data, "+kind, 0, err, nil)
	if err != nil {
		return
	}
	defer close(stop)

	// The package does not tell when it has subscribed: orders come and go until all of one is told.
	const all = "NEW CANCELED"
	var got []string
	for began := time.Now(); err == nil && strings.Join(got, " ") != all; {
		if err = comeAndGo(ctx, c); err == nil && time.Since(began) > patience {
			err = fmt.Errorf("no report came")
		}
		got = told(reports)
	}
	call("reports, "+kind, strings.Join(got, " "), err, func(s string) bool { return s == all })
}

// comeAndGo places an order and cancels it.
func comeAndGo(ctx context.Context, c *binance.Client) error {
	o, err := c.NewCreateOrderService().Symbol(symbol).Side(binance.SideTypeBuy).Type(binance.OrderTypeLimit).
		TimeInForce(binance.TimeInForceTypeGTC).Quantity("0.01").Price("40000").Do(ctx)
	if err != nil {
		return err
	}
	_, err = c.NewCancelOrderService().Symbol(symbol).OrderID(o.OrderID).Do(ctx)
	return err
}

// told returns the reports on an order up to its end. The next report comes within a second.
func told(reports <-chan string) (list []string) {
	for {
		select {
		case r := <-reports:
			if list = append(list, r); r == "CANCELED" {
				return list
			}
		case <-time.After(time.Second):
			return list
		}
	}
}
