package binance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/bourse-exchange/bourse/internal/api"
)

// replaced is the answer to a replacement.
type replaced struct {
	Code                         int
	CancelResult, NewOrderResult string
	CancelResponse               struct {
		Code                  int
		OrderID               uint64
		Status, ClientOrderID string
	}
	NewOrderResponse *struct {
		Code    int
		OrderID uint64
		Status  string
	}
	Data *replaced
}

// TestReplacements cancels orders and places others in one request, with each outcome of each
// half.
func TestReplacements(t *testing.T) {
	d := open(t, api.Limits{})
	d.trade("0.1", "50000")
	replace := func(mode string, id uint64, order string) (int, *replaced) {
		t.Helper()
		a := d.sign(d.alice, http.MethodPost, "/api/v3/order/cancelReplace",
			fmt.Sprintf("symbol=BTCUSDT&cancelReplaceMode=%s&cancelOrderId=%d&cancelNewClientOrderId=gone&%s", mode, id, order))
		var r replaced
		if err := json.Unmarshal([]byte(a.body), &r); err != nil {
			t.Fatal(err)
		}
		if r.Data != nil {
			r.Data.Code = r.Code
			return a.status, r.Data
		}
		return a.status, &r
	}
	good, bad := limit("BUY", "0.1", "40000"), limit("BUY", "1000", "40000")

	for _, mode := range []string{"STOP_ON_FAILURE", "ALLOW_FAILURE"} {
		id := d.order(d.alice, good)
		status, r := replace(mode, id, good)
		if status != 200 || r.CancelResult != "SUCCESS" || r.NewOrderResult != "SUCCESS" || r.CancelResponse.Status != "CANCELED" ||
			r.CancelResponse.OrderID != id || r.CancelResponse.ClientOrderID != "gone" || r.NewOrderResponse.Status != "NEW" {
			t.Errorf("%s: both are %d %+v", mode, status, r)
		}

		status, r = replace(mode, r.NewOrderResponse.OrderID, bad)
		if status != 409 || r.Code != -2021 || r.CancelResult != "SUCCESS" || r.NewOrderResult != "FAILURE" || r.NewOrderResponse.Code != -2010 {
			t.Errorf("%s: the cancel alone is %d %+v", mode, status, r)
		}

		status, r = replace(mode, id, bad)
		want := map[string]string{"STOP_ON_FAILURE": "NOT_ATTEMPTED", "ALLOW_FAILURE": "FAILURE"}[mode]
		if status != 400 || r.Code != -2022 || r.CancelResult != "FAILURE" || r.CancelResponse.Code != -2011 || r.NewOrderResult != want ||
			(r.NewOrderResponse == nil) != (want == "NOT_ATTEMPTED") {
			t.Errorf("%s: none is %d %+v", mode, status, r)
		}

		status, r = replace(mode, id, good)
		if mode == "ALLOW_FAILURE" && (status != 409 || r.Code != -2021 || r.CancelResult != "FAILURE" || r.NewOrderResult != "SUCCESS") {
			t.Errorf("%s: the order alone is %d %+v", mode, status, r)
		}
	}
}

// TestAmendments lessens an order, which keeps its place, and wants the list of what was done.
func TestAmendments(t *testing.T) {
	d := open(t, api.Limits{})
	id := d.order(d.alice, limit("BUY", "0.1", "40000"))
	other := d.order(d.bob, limit("BUY", "0.1", "40000"))
	amend := func(quantity string) *answer {
		t.Helper()
		return d.sign(d.alice, http.MethodPut, "/api/v3/order/amend/keepPriority", fmt.Sprintf("symbol=BTCUSDT&orderId=%d&newQty=%s", id, quantity))
	}
	for quantity, code := range map[string]int{"0.1": -2038, "0.2": -2038, "0.0000001": -1013} {
		if a := amend(quantity); a.code() != code {
			t.Errorf("%s: %s", quantity, a.body)
		}
	}
	var got struct {
		AmendedOrder struct{ Qty, Status, ClientOrderID string }
		ExecutionID  uint64
	}
	amend("0.06").into(d, &got)
	if got.AmendedOrder.Qty != "0.060000" || got.AmendedOrder.Status != "NEW" || got.ExecutionID == 0 {
		t.Errorf("the amended order is %+v", got)
	}
	amend("0.05").into(d, &got)

	d.order(d.bob, limit("SELL", "0.05", "40000"))
	var o struct{ Status string }
	d.sign(d.alice, http.MethodGet, "/api/v3/order", fmt.Sprintf("symbol=BTCUSDT&orderId=%d", id)).into(d, &o)
	if o.Status != "FILLED" {
		t.Errorf("it lost its place to %d: %s", other, o.Status)
	}

	var list []struct {
		ExecutionID     uint64
		OrigQty, NewQty string
	}
	d.sign(d.alice, http.MethodGet, "/api/v3/order/amendments", fmt.Sprintf("symbol=BTCUSDT&orderId=%d", id)).into(d, &list)
	if len(list) != 2 || list[0].OrigQty != "0.100000" || list[0].NewQty != "0.060000" || list[1].ExecutionID != got.ExecutionID {
		t.Errorf("amendments are %+v", list)
	}
	d.sign(d.alice, http.MethodGet, "/api/v3/order/amendments",
		fmt.Sprintf("symbol=BTCUSDT&orderId=%d&fromExecutionId=%d", id, got.ExecutionID)).into(d, &list)
	if len(list) != 1 || list[0].NewQty != "0.050000" {
		t.Errorf("from the second they are %+v", list)
	}
}
