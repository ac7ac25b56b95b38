package binance_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/bourse-exchange/bourse/internal/api"
)

// TestLists places lists, lets one order of each act, and wants the other one to end with it.
func TestLists(t *testing.T) {
	d := open(t, api.Limits{})
	d.trade("0.1", "50000")
	type list struct {
		OrderListID                                        uint64
		ListStatusType, ListOrderStatus, ListClientOrderID string
		Orders                                             []struct{ OrderID uint64 }
		OrderReports                                       []struct{ Status, Type string }
	}
	place := func(params string) (l list) {
		t.Helper()
		d.sign(d.alice, http.MethodPost, "/api/v3/orderList/oco", params+"&newOrderRespType=RESULT").into(d, &l)
		if l.ListOrderStatus != "EXECUTING" || len(l.Orders) != 2 || len(l.OrderReports) != 2 || l.OrderReports[0].Status != "NEW" {
			t.Errorf("a new list is %+v", l)
		}
		return l
	}
	status := func(id uint64) string {
		t.Helper()
		var o struct {
			Status      string
			OrderListID int64
		}
		d.sign(d.alice, http.MethodGet, "/api/v3/order", fmt.Sprintf("symbol=BTCUSDT&orderId=%d", id)).into(d, &o)
		if o.OrderListID <= 0 {
			t.Errorf("order %d tells the list %d", id, o.OrderListID)
		}
		return o.Status
	}
	read := func(params string) (l list) {
		t.Helper()
		d.sign(d.alice, http.MethodGet, "/api/v3/orderList", params).into(d, &l)
		return l
	}

	taken := place(oco("SELL", "LIMIT_MAKER", "STOP_LOSS"))
	var all []list
	d.sign(d.alice, http.MethodGet, "/api/v3/openOrderList", "").into(d, &all)
	if len(all) != 1 || all[0].OrderListID != taken.OrderListID || len(all[0].Orders) != 2 || all[0].Orders[0] != taken.Orders[0] {
		t.Errorf("open lists are %+v", all)
	}
	d.order(d.bob, limit("BUY", "0.01", "60000"))
	if a, b := status(taken.Orders[0].OrderID), status(taken.Orders[1].OrderID); a != "FILLED" || b != "EXPIRED" {
		t.Errorf("after a trade the orders are %s and %s", a, b)
	}
	if l := read(fmt.Sprintf("orderListId=%d", taken.OrderListID)); l.ListStatusType != "ALL_DONE" {
		t.Errorf("after a trade the list is %+v", l)
	}

	other := place(oco("SELL", "LIMIT_MAKER", "STOP_LOSS"))
	if l := read("origClientOrderId=" + other.ListClientOrderID); l.OrderListID != other.OrderListID || l.ListOrderStatus != "EXECUTING" {
		t.Errorf("by its name the list is %+v", l)
	}
	var canceled list
	d.sign(d.alice, http.MethodDelete, "/api/v3/orderList", fmt.Sprintf("symbol=BTCUSDT&orderListId=%d", other.OrderListID)).into(d, &canceled)
	if canceled.ListOrderStatus != "ALL_DONE" || len(canceled.OrderReports) != 2 || canceled.OrderReports[1].Status != "CANCELED" {
		t.Errorf("a canceled list is %+v", canceled)
	}

	last := place(oco("SELL", "LIMIT_MAKER", "STOP_LOSS"))
	var gone struct{ Status string }
	d.sign(d.alice, http.MethodDelete, "/api/v3/order", fmt.Sprintf("symbol=BTCUSDT&orderId=%d", last.Orders[0].OrderID)).into(d, &gone)
	if b := status(last.Orders[1].OrderID); gone.Status != "CANCELED" || b != "CANCELED" {
		t.Errorf("with one order the other one is %s", b)
	}
}
