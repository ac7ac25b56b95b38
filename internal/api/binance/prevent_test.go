package binance_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse/internal/api"
)

// prevented is what a test reads of an order of which self-trade prevention took something.
type prevented struct {
	OrderID                 uint64
	Status                  string
	OrigQty, ExecutedQty    string
	PreventedQuantity       string
	SelfTradePreventionMode string
	AmendedOrder            *struct{ Qty, PreventedQty, Status string }
}

func (p *prevented) String() string {
	return fmt.Sprintf("%s %s-%s-%s", p.Status, p.OrigQty, p.ExecutedQty, p.PreventedQuantity)
}

// TestDecrement follows two orders of an account that meet with DECREMENT through answers, queries,
// amendments and the end, and the ends by other modes.
func TestDecrement(t *testing.T) {
	d := open(t, api.Limits{})
	place := func(params, mode string) *prevented {
		t.Helper()
		p := new(prevented)
		d.sign(d.alice, http.MethodPost, "/api/v3/order",
			"symbol=BTCUSDT&newOrderRespType=RESULT&selfTradePreventionMode="+mode+"&"+params).into(d, p)
		return p
	}
	query := func(id uint64) *prevented {
		t.Helper()
		p := new(prevented)
		d.sign(d.alice, http.MethodGet, "/api/v3/order", "symbol=BTCUSDT&orderId="+number(id)).into(d, p)
		return p
	}
	want := func(what string, p *prevented, text string) {
		t.Helper()
		if p.String() != text {
			t.Errorf("%s is %s, not %s", what, p, text)
		}
	}

	maker := place(limit("BUY", "0.06", "40000"), "NONE")
	want("the maker", maker, "NEW 0.060000-0.000000-")
	taker := place(limit("SELL", "0.02", "40000"), "DECREMENT")
	want("the taker", taker, "EXPIRED_IN_MATCH 0.020000-0.000000-0.020000")
	if taker.SelfTradePreventionMode != "DECREMENT" {
		t.Errorf("the mode is %s", taker.SelfTradePreventionMode)
	}
	want("the taker, asked for", query(taker.OrderID), "EXPIRED_IN_MATCH 0.020000-0.000000-0.020000")
	want("the maker, asked for", query(maker.OrderID), "NEW 0.060000-0.000000-0.020000")
	d.order(d.bob, limit("SELL", "0.01", "40000"))
	want("the maker after a trade", query(maker.OrderID), "PARTIALLY_FILLED 0.060000-0.010000-0.020000")

	amended := new(prevented)
	amend := "symbol=BTCUSDT&orderId=" + number(maker.OrderID) + "&newQty="
	if a := d.sign(d.alice, http.MethodPut, "/api/v3/order/amend/keepPriority", amend+"0.03"); a.code() != -2038 {
		t.Errorf("nothing is left, and the answer %s", a.body)
	}
	d.sign(d.alice, http.MethodPut, "/api/v3/order/amend/keepPriority", amend+"0.05").into(d, amended)
	if o := amended.AmendedOrder; o == nil || o.Qty != "0.050000" || o.PreventedQty != "0.020000" || o.Status != "PARTIALLY_FILLED" {
		t.Errorf("amended it is %+v", o)
	}
	d.order(d.bob, limit("SELL", "0.02", "40000"))
	want("the maker, filled", query(maker.OrderID), "FILLED 0.050000-0.030000-0.020000")

	for mode, text := range map[string]string{
		"EXPIRE_TAKER": "EXPIRED_IN_MATCH 0.010000-0.000000-0.010000", "EXPIRE_MAKER": "NEW 0.010000-0.000000-",
		"EXPIRE_BOTH": "EXPIRED_IN_MATCH 0.010000-0.000000-0.010000", "DECREMENT": "EXPIRED_IN_MATCH 0.010000-0.000000-0.010000",
	} {
		place(limit("BUY", "0.01", "40000"), "NONE")
		want(mode, place(limit("SELL", "0.01", "40000"), mode), text)
		d.sign(d.alice, http.MethodDelete, "/api/v3/openOrders", "symbol=BTCUSDT")
	}
	if a := d.sign(d.alice, http.MethodPost, "/api/v3/order", "symbol=BTCUSDT&selfTradePreventionMode=TRANSFER&"+
		limit("BUY", "0.01", "40000")); a.code() != -1020 {
		t.Errorf("TRANSFER is answered with %s", a.body)
	}

	var info struct {
		Symbols []struct{ AllowedSelfTradePreventionModes []string }
	}
	d.send(http.MethodGet, "/api/v3/exchangeInfo", "symbol=BTCUSDT", nil).into(d, &info)
	if !slices.Equal(info.Symbols[0].AllowedSelfTradePreventionModes,
		[]string{"NONE", "EXPIRE_TAKER", "EXPIRE_MAKER", "EXPIRE_BOTH", "DECREMENT"}) {
		t.Errorf("the modes are %v", info.Symbols)
	}
}
