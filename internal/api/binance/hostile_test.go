package binance_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/binance"
)

// hostile are values that no parameter has.
var hostile = []string{
	"", "0", "-0", "-1", "+1", "1.", ".", "..", "1.1.1", "0x10", "1e5", "1e400", "NaN", "Infinity", "null", "true", "[]", "{}",
	`["BTCUSDT"`, `["BTCUSDT","BTCUSDT"]`, `[1]`, `[""]`, `[null]`, "9223372036854775807", "9223372036854775808",
	"-9223372036854775808", "18446744073709551616", strings.Repeat("9", 40), "0." + strings.Repeat("0", 30) + "1",
	strings.Repeat("x", 5000), "BTC/USDT", "btcusdt", "BTCUSDT ", " BTCUSDT", "BTC%00USDT", "%00", "%FF", "%F0%9F%92%A9",
	"..%2F..%2Fetc", "%27+OR+1%3D1", "%3Cscript%3E", "%E2%80%AE", "%0D%0AX:1", "1,000", "１", "SPOT", "24:00", "-13", "15", "05:30",
	"8w", "0m", "1d2h", "m", "d",
}

// TestHostileParameters gives each parameter of each endpoint values that make no sense,
// alone and beside good ones, and wants a refusal with a code, or an answer, and no defect.
func TestHostileParameters(t *testing.T) {
	d := open(t, api.Limits{})
	d.trade("0.1", "50000")
	good := map[string]string{
		"symbol": "BTCUSDT", "interval": "1m", "side": "BUY", "type": "LIMIT", "timeInForce": "GTC", "quantity": "0.1",
		"aboveType": "STOP_LOSS", "aboveStopPrice": "60000", "belowType": "LIMIT_MAKER", "belowPrice": "40000",
		"price": "40000", "coin": "BTC", "address": "x", "amount": "0.1", "cancelReplaceMode": "ALLOW_FAILURE", "cancelOrderId": "999",
	}
	requests := 0
	for _, e := range binance.Endpoints() {
		if e.State == binance.NotServed {
			continue
		}
		names := []string{"unknown"}
		for _, p := range e.Params {
			names = append(names, p.Name)
		}
		for _, name := range names {
			for _, value := range hostile {
				var params []string
				for _, p := range e.Params {
					if of, ok := good[p.Name]; ok && p.Name != name && (p.Required || e.Method == http.MethodPost) {
						params = append(params, p.Name+"="+of)
					}
				}
				params = append(params, name+"="+strings.NewReplacer(`"`, "%22", "[", "%5B", "]", "%5D", "{", "%7B", "}", "%7D", " ", "%20").Replace(value))
				var a *answer
				if e.Security == binance.None {
					a = d.send(e.Method, e.Path, strings.Join(params, "&"), nil)
				} else {
					a = d.sign(d.alice, e.Method, e.Path, strings.Join(params, "&"))
				}
				requests++
				if refused := a.code() != 0; refused != (a.status != http.StatusOK) || a.status >= http.StatusInternalServerError {
					t.Errorf("%s %s with %s=%.40q: %d %.200s", e.Method, e.Path, name, value, a.status, a.body)
				}
			}
		}
	}
	if d.logged.Len() > 0 {
		t.Error(d.logged.String())
	}
	if requests < 1000 {
		t.Errorf("%d requests", requests)
	}
}

// TestRefusedParameters checks the codes of requests that bots may make by mistake.
func TestRefusedParameters(t *testing.T) {
	d := open(t, api.Limits{})
	d.trade("0.1", "50000")
	far := limit("BUY", "0.1", "40000")
	for _, c := range []struct {
		method, path, params string
		code                 int
	}{
		{"GET", "/api/v3/depth", "", -1102},
		{"GET", "/api/v3/depth", "symbol=", -1102},
		{"GET", "/api/v3/depth", "symbol=BTC/USDT", -1121},
		{"GET", "/api/v3/depth", "symbol=btcusdt", -1121},
		{"GET", "/api/v3/depth", "symbol=BTCUSDT&limit=", -1105},
		{"GET", "/api/v3/depth", "symbol=BTCUSDT&limit=0", -1130},
		{"GET", "/api/v3/depth", "symbol=BTCUSDT&limit=-1", -1100},
		{"GET", "/api/v3/depth", "symbol=BTCUSDT&limit=99999999999999999999", -1108},
		{"GET", "/api/v3/depth", "symbol=BTCUSDT&symbol=BTCUSDT", -1101},
		{"GET", "/api/v3/depth", "symbol=BTCUSDT&x=1", -1104},
		{"GET", "/api/v3/depth", "symbol=BTCUSDT&symbolStatus=HALT", -1220},
		{"GET", "/api/v3/depth", "symbol=BTCUSDT&symbolStatus=OPEN", -1122},
		{"GET", "/api/v3/depth", "symbol=%zz", -1100},
		{"GET", "/api/v3/klines", "symbol=BTCUSDT&interval=1s", -1120},
		{"GET", "/api/v3/klines", "symbol=BTCUSDT&interval=1H", -1120},
		{"GET", "/api/v3/klines", "symbol=BTCUSDT&interval=1h&timeZone=15", -1130},
		{"GET", "/api/v3/ticker", "", -1102},
		{"GET", "/api/v3/ticker", "symbol=BTCUSDT&windowSize=60m", -1130},
		{"GET", "/api/v3/ticker/24hr", "symbol=BTCUSDT&symbols=%5B%22BTCUSDT%22%5D", -1128},
		{"GET", "/api/v3/ticker/24hr", "type=SMALL", -1139},
		{"GET", "/api/v3/ticker/price", "symbols=BTCUSDT", -1100},
		{"GET", "/api/v3/ticker/price", "symbols=%5B%22BTCUSDT%22,%22BTCUSDT%22%5D", -1151},
		{"GET", "/api/v3/aggTrades", "symbol=BTCUSDT&fromId=1&startTime=1", -1128},
		{"GET", "/api/v3/nothing", "", -1020},
		{"POST", "/api/v3/depth", "", -1020},
		{"POST", "/api/v3/orderList/oto", "", -1020},
		{"POST", "/api/v3/order/cancelReplace", "symbol=BTCUSDT&cancelReplaceMode=STOP_ON_FAILURE&" + far, -1102},
		{"POST", "/api/v3/order/cancelReplace", "symbol=BTCUSDT&cancelReplaceMode=ALWAYS&cancelOrderId=1&" + far, -1130},
		{"POST", "/api/v3/order/cancelReplace", "symbol=BTCUSDT&cancelReplaceMode=STOP_ON_FAILURE&cancelOrderId=999&" + far, -2022},
		{"POST", "/api/v3/order/cancelReplace", "symbol=BTCUSDT&cancelReplaceMode=ALLOW_FAILURE&cancelOrderId=999&" + far, -2021},
		{"PUT", "/api/v3/order/amend/keepPriority", "symbol=BTCUSDT&orderId=999&newQty=1", -2038},
		{"PUT", "/api/v3/order/amend/keepPriority", "symbol=BTCUSDT&newQty=1", -1102},
		{"PUT", "/api/v3/order/amend/keepPriority", "symbol=BTCUSDT&orderId=999&newQty=0", -1013},
		{"GET", "/api/v3/order/amendments", "symbol=BTCUSDT&orderId=999", -2013},
		{"POST", "/api/v3/order", far + "&symbol=BTCUSDT&icebergQty=0.01", -1020},
		{"POST", "/api/v3/order", far, -1102},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&side=HOLD&type=MARKET&quantity=1", -1117},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&side=BUY&type=BEST&quantity=1", -1116},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&side=BUY&type=TAKE_PROFIT&quantity=1", -1102},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&side=BUY&type=TAKE_PROFIT&quantity=1&stopPrice=1&price=1", -1106},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&side=BUY&type=TAKE_PROFIT&quoteOrderQty=1&stopPrice=1", -1106},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&side=BUY&type=TAKE_PROFIT_LIMIT&quantity=1&stopPrice=1&price=1", -1102},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&side=BUY&type=LIMIT&quantity=1&price=1", -1102},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&side=BUY&type=LIMIT&timeInForce=DAY&quantity=1&price=1", -1115},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&side=BUY&type=MARKET", -1102},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&side=BUY&type=MARKET&quantity=1&quoteOrderQty=1", -1106},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&side=BUY&type=MARKET&quantity=1&price=1", -1106},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&" + limit("BUY", "0", "40000"), -1013},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&" + limit("BUY", "0.1", "0"), -1013},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&" + limit("BUY", "-1", "40000"), -1100},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&" + limit("BUY", "1e-3", "40000"), -1100},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&" + limit("BUY", "0.0000001", "40000"), -1013},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&" + limit("BUY", "0.0000000000001", "40000"), -1111},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&" + limit("BUY", "0.1", "40000.001"), -1013},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&" + limit("BUY", "0.00001", "40000"), -1013},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&" + limit("BUY", "1000", "40000"), -2010},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&newClientOrderId=a%2Fb&" + far, -1100},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&newOrderRespType=ALL&" + far, -1130},
		{"POST", "/api/v3/order", "symbol=BTCUSDT&selfTradePreventionMode=ALL&" + far, -1130},
		{"POST", "/api/v3/orderList/oco", oco("SELL", "LIMIT_MAKER", "STOP_LOSS"), 0},
		{"POST", "/api/v3/orderList/oco", oco("BUY", "STOP_LOSS", "LIMIT_MAKER"), 0},
		{"POST", "/api/v3/orderList/oco", oco("SELL", "TAKE_PROFIT", "STOP_LOSS"), 0},
		{"POST", "/api/v3/orderList/oco", oco("SELL", "MARKET", "STOP_LOSS"), -1158},
		{"POST", "/api/v3/orderList/oco", oco("SELL", "STOP_LOSS", "LIMIT_MAKER"), -1197},
		{"POST", "/api/v3/orderList/oco", oco("SELL", "LIMIT_MAKER", "LIMIT_MAKER"), -1166},
		{"POST", "/api/v3/orderList/oco", oco("SELL", "LIMIT_MAKER", "TAKE_PROFIT"), -1199},
		{"POST", "/api/v3/orderList/oco", oco("BUY", "LIMIT_MAKER", "STOP_LOSS"), -1196},
		{"POST", "/api/v3/orderList/oco", oco("BUY", "LIMIT_MAKER", "LIMIT_MAKER"), -1165},
		{"POST", "/api/v3/orderList/oco", oco("BUY", "TAKE_PROFIT", "TAKE_PROFIT"), -1198},
		{"POST", "/api/v3/orderList/oco", oco("SELL", "LIMIT_MAKER", "STOP_LOSS") + "&aboveIcebergQty=1", -1020},
		{"GET", "/api/v3/orderList", "", -1102},
		{"GET", "/api/v3/orderList", "orderListId=999", -2013},
		{"GET", "/api/v3/orderList", "origClientOrderId=none", -2013},
		{"DELETE", "/api/v3/orderList", "symbol=BTCUSDT&orderListId=999", -2011},
		{"GET", "/api/v3/order", "symbol=BTCUSDT", -1102},
		{"GET", "/api/v3/order", "symbol=BTCUSDT&orderId=999", -2013},
		{"GET", "/api/v3/order", "symbol=ETHUSDT&orderId=2", -2013},
		{"GET", "/api/v3/order", "symbol=BTCUSDT&orderId=2&origClientOrderId=x", -2013},
		{"DELETE", "/api/v3/order", "symbol=BTCUSDT&orderId=999", -2011},
		{"DELETE", "/api/v3/openOrders", "symbol=BTCUSDT", 0},
		{"DELETE", "/api/v3/openOrders", "symbol=BTCUSDT", -2011},
		{"GET", "/api/v3/allOrders", "symbol=BTCUSDT&startTime=0&endTime=86400001", -1127},
		{"GET", "/api/v3/myTrades", "symbol=BTCUSDT&fromId=1&startTime=0", -1128},
		{"GET", "/sapi/v1/capital/deposit/address", "coin=NONE", -4018},
		{"GET", "/sapi/v1/capital/deposit/address", "coin=BTC&network=NONE", -1130},
		{"GET", "/sapi/v1/capital/deposit/hisrec", "startTime=0", -4047},
		{"POST", "/sapi/v1/capital/withdraw/apply", "coin=BTC&address=x&amount=1", -4033},
		{"POST", "/sapi/v1/capital/withdraw/apply", "coin=BTC&address=x&amount=0.000000001", -4021},
		{"POST", "/sapi/v1/capital/withdraw/apply", "coin=BTC&address=x&amount=0.00000001", -4028},
	} {
		if a := d.sign(d.alice, c.method, c.path, c.params); a.code() != c.code {
			public := d.send(c.method, c.path, c.params, nil)
			if public.code() != c.code {
				t.Errorf("%s %s?%s: %s, want %d", c.method, c.path, c.params, a.body, c.code)
			}
		}
	}
}

// TestForms wants parameters from the query and the form, and the query's if both have one.
func TestForms(t *testing.T) {
	d := open(t, api.Limits{})
	for _, params := range []string{
		"symbol=BTCUSDT&" + limit("BUY", "0.1", "40000") + "|",
		"|symbol=BTCUSDT&" + limit("BUY", "0.1", "40000"),
		"symbol=BTCUSDT|symbol=ETHUSDT&" + limit("BUY", "0.1", "40000"),
	} {
		if a := d.sign(d.alice, http.MethodPost, "/api/v3/order", params); !strings.Contains(a.body, `"symbol":"BTCUSDT"`) {
			t.Errorf("%s: %s", params, a.body)
		}
	}
	if a := d.send(http.MethodPost, "/api/v3/order", "|"+strings.Repeat("x", api.MaxBody+1), nil); a.status != http.StatusRequestEntityTooLarge || a.code() != -1101 {
		t.Errorf("a long body is %d %s", a.status, a.body)
	}
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf("x%d=1", i))
	}
	if a := d.get("depth", strings.Join(many, "&")); a.code() != -1101 {
		t.Errorf("many parameters are %s", a.body)
	}
}

// oco returns the parameters of a list of orders of two types.
func oco(side, above, below string) string {
	params := "symbol=BTCUSDT&side=" + side + "&quantity=0.01&aboveType=" + above + "&belowType=" + below
	for leg, kind := range map[string]string{"above": above, "below": below} {
		price := map[string]string{"above": "60000", "below": "40000"}[leg]
		switch kind {
		case "LIMIT_MAKER":
			params += "&" + leg + "Price=" + price
		case "STOP_LOSS", "TAKE_PROFIT":
			params += "&" + leg + "StopPrice=" + price
		}
	}
	return params
}
