package binance_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/binance"
)

// TestFields asks each endpoint that is served, in all its forms, and compares the names in
// its answers with those of the table.
func TestFields(t *testing.T) {
	d := open(t, api.Limits{Account: api.Rates{Orders: api.Rate{PerSecond: 100, Burst: 500}}, Weight: 6000})
	d.trade("0.1", "50000")
	d.trade("0.2", "50010")
	id := d.order(d.alice, limit("BUY", "0.1", "40000"))
	const stop = "side=SELL&type=STOP_LOSS_LIMIT&timeInForce=GTC&quantity=0.1&price=40000&stopPrice=41000"
	d.order(d.alice, stop)
	const oco = "symbol=BTCUSDT&side=SELL&quantity=0.1&aboveType=LIMIT_MAKER&abovePrice=60000&belowType=STOP_LOSS_LIMIT" +
		"&belowStopPrice=41000&belowPrice=40000&belowTimeInForce=GTC"
	var list struct{ OrderListID uint64 }
	d.sign(d.alice, http.MethodPost, "/api/v3/orderList/oco", oco).into(d, &list)
	again := d.order(d.alice, stop)
	second := d.order(d.alice, limit("BUY", "0.1", "40000"))
	third := d.order(d.alice, limit("BUY", "0.1", "39000"))
	const decrement = "&selfTradePreventionMode=DECREMENT"
	d.order(d.alice, limit("SELL", "0.01", "40000")+decrement)
	d.order(d.alice, limit("BUY", "0.5", "48000"))
	own := limit("SELL", "0.01", "48000") + decrement
	pay := query("coin", "BTC", "address", d.Own("BTC", 2).Address, "amount", "0.1")
	d.Mine("BTC", d.Tx("BTC", 1, 1, "1", ""))
	for range 6 {
		d.Mine("BTC")
	}

	var listens struct {
		ListenKey string `json:"listenKey"`
	}
	d.send(http.MethodPost, "/api/v3/userDataStream", "", d.alice.header()).into(d, &listens)
	asked := map[string][]string{
		"POST /api/v3/userDataStream":   {""},
		"PUT /api/v3/userDataStream":    {"listenKey=" + listens.ListenKey},
		"DELETE /api/v3/userDataStream": {"listenKey=" + listens.ListenKey},
		"GET /api/v3/exchangeInfo":      {"symbol=BTCUSDT"},
		"GET /api/v3/klines":            {"symbol=BTCUSDT&interval=1m"},
		"GET /api/v3/uiKlines":          {"symbol=BTCUSDT&interval=1d"},
		"GET /api/v3/ticker":            {"symbol=BTCUSDT", `symbols=["BTCUSDT"]&type=MINI`},
		"GET /api/v3/ticker/tradingDay": {"symbol=BTCUSDT"},
		"GET /api/v3/ticker/24hr":       {"symbol=BTCUSDT", "type=MINI"},
		"GET /api/v3/ticker/price":      {""},
		"GET /api/v3/ticker/bookTicker": {""},
		"POST /api/v3/order": {"symbol=BTCUSDT&newOrderRespType=FULL&" + limit("BUY", "0.1", "50020"), "symbol=BTCUSDT&newOrderRespType=RESULT&" + stop,
			"symbol=BTCUSDT&newOrderRespType=RESULT&" + own},
		"POST /api/v3/order/test": {"symbol=BTCUSDT&computeCommissionRates=true&" + limit("BUY", "0.1", "1")},
		"GET /api/v3/order":       {"symbol=BTCUSDT&orderId=" + number(id)},
		"DELETE /api/v3/order":    {"symbol=BTCUSDT&orderId=" + number(id), "symbol=BTCUSDT&orderId=" + number(again)},
		"GET /api/v3/openOrders":  {""},
		"POST /api/v3/order/cancelReplace": {
			"symbol=BTCUSDT&cancelReplaceMode=STOP_ON_FAILURE&newOrderRespType=FULL&cancelOrderId=" + number(second) + "&" + limit("BUY", "0.01", "50020"),
			"symbol=BTCUSDT&cancelReplaceMode=STOP_ON_FAILURE&newOrderRespType=RESULT&cancelOrderId=" + number(id+1) + "&" + stop,
			"symbol=BTCUSDT&cancelReplaceMode=STOP_ON_FAILURE&newOrderRespType=RESULT&cancelOrderId=" + number(third) + "&" + own,
		},
		"PUT /api/v3/order/amend/keepPriority":  {"symbol=BTCUSDT&newQty=0.05&orderId=" + number(id)},
		"GET /api/v3/order/amendments":          {"symbol=BTCUSDT&orderId=" + number(id)},
		"POST /api/v3/orderList/oco":            {oco + "&newOrderRespType=FULL", strings.Replace(oco, "41000", "55000", 1) + "&newOrderRespType=FULL" + decrement},
		"GET /api/v3/orderList":                 {"orderListId=" + number(list.OrderListID)},
		"DELETE /api/v3/orderList":              {"symbol=BTCUSDT&orderListId=" + number(list.OrderListID)},
		"GET /api/v3/openOrderList":             {""},
		"GET /sapi/v1/capital/deposit/address":  {"coin=BTC"},
		"POST /sapi/v1/capital/withdraw/apply":  {pay},
		"GET /sapi/v1/asset/tradeFee":           {""},
		"GET /sapi/v1/capital/config/getall":    {""},
		"GET /sapi/v1/capital/deposit/hisrec":   {""},
		"GET /sapi/v1/capital/withdraw/history": {""},
		"GET /sapi/v1/account/apiRestrictions":  {""},
		"GET /sapi/v1/system/status":            {""},
		"GET /api/v3/account":                   {""},
		"GET /api/v3/rateLimit/order":           {""},
		"GET /api/v3/ping":                      {""},
		"GET /api/v3/time":                      {""},
	}
	table := binance.Endpoints()
	// An order to cancel comes before those that read it; all are canceled last.
	slices.SortStableFunc(table, func(a, b binance.Endpoint) int { return last(&a) - last(&b) })
	for i := range table {
		e := &table[i]
		if e.State == binance.NotServed {
			continue
		}
		name := e.Method + " " + e.Path
		forms, ok := asked[name]
		if !ok {
			forms = []string{"symbol=BTCUSDT"}
		}
		got := map[string]bool{}
		for _, params := range forms {
			switch name {
			case "POST /api/v3/order", "POST /api/v3/order/cancelReplace":
				d.order(d.bob, limit("SELL", "0.05", "50020"))
			case "DELETE /api/v3/openOrders":
				d.order(d.alice, stop)
			}
			collectNames(t, d.ask(e, params), got)
		}
		want := map[string]bool{}
		for _, f := range e.Fields {
			for _, field := range strings.Fields(f.Names) {
				if f.State != binance.NotServed {
					want[field] = true
				}
			}
		}
		if a, b := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)); !slices.Equal(a, b) {
			t.Errorf("%s has\n%q, and the table\n%q", name, a, b)
		}
	}
	if d.logged.Len() > 0 {
		t.Error(d.logged.String())
	}
}

// last returns the place of an endpoint in TestFields.
func last(e *binance.Endpoint) int {
	switch {
	case e.Method == http.MethodDelete && strings.HasSuffix(e.Path, "openOrders"):
		return 3
	case e.Method == http.MethodDelete:
		return 2
	case strings.Contains(e.Path, "history"):
		return 1
	}
	return 0
}

// ask sends a request to an endpoint.
func (d *desk) ask(e *binance.Endpoint, params string) *answer {
	d.Helper()
	params = strings.NewReplacer(`"`, "%22", "[", "%5B", "]", "%5D").Replace(params)
	if e.Security == binance.None {
		return d.send(e.Method, e.Path, params, nil)
	}
	if e.Security == binance.UserStream {
		return d.send(e.Method, e.Path, params, d.alice.header())
	}
	return d.sign(d.alice, e.Method, e.Path, params)
}

// collectNames adds the names of an answer's fields.
func collectNames(t *testing.T, a *answer, names map[string]bool) {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(a.body), &v); err != nil || a.status != http.StatusOK {
		t.Errorf("status %d: %s", a.status, a.body)
		return
	}
	var walk func(prefix string, v any)
	walk = func(prefix string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				if _, nested := inner.(map[string]any); !nested && !isObjects(inner) {
					names[prefix+name] = true
				}
				if prefix+name != "symbols.filters" {
					walk(prefix+name+".", inner)
				} else {
					names[prefix+name] = true
				}
			}
		case []any:
			for i, inner := range v {
				if _, list := inner.([]any); list && prefix == "" { // klines
					for at := range inner.([]any) {
						names[number(uint64(at))] = true
					}
				}
				_ = i
				walk(prefix, inner)
			}
		}
	}
	walk("", v)
}

// isObjects reports whether a value is a list of objects.
func isObjects(v any) bool {
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return false
	}
	_, ok = list[0].(map[string]any)
	return ok
}
