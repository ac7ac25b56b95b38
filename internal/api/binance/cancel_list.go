package binance

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
)

func cancelListEndpoint() Endpoint {
	return Endpoint{
		Method: "DELETE", Path: "/api/v3/orderList", WS: "orderList.cancel", Security: Trade, Weight: fixed(1),
		Class: api.Cancels, Params: slices.Concat(need("symbol"), may("orderListId listClientOrderId newClientOrderId")),
		Fields: slices.Concat(listFields, reported(canceledFields)), Answer: (*Facade).cancelList,
	}
}

// cancelList cancels the open orders of a list. The view refuses first, as in V1.
func (f *Facade) cancelList(r *Request) error {
	m, id := r.market(), r.selectList("listClientOrderId")
	if err := r.Err(); err != nil {
		return err
	}
	if !f.isOpenList(r, m, id) {
		return refused(bourse.ListNotFound)
	}
	if m.State == bourse.MarketHalted {
		return refused(bourse.MarketHaltedNow)
	}

	result, err := f.Sequencer.Do(r.Context, &bourse.Command{
		Kind: bourse.CommandCancelList, Account: r.Who.Account, Order: id,
	})
	if err != nil {
		return err
	}
	if result.Outcome.Reason != 0 {
		return refused(result.Outcome.Reason)
	}

	orders, err := f.listed(r, id)
	if err != nil {
		return err
	}
	if len(orders) == 0 {
		return refused(bourse.ListNotFound)
	}
	r.Out.Object()
	r.writeListHead(id, result.Time, heads(orders))
	r.Out.Name("orderReports")
	r.Out.Array()
	for i := range orders {
		if orders[i].Status == bourse.Canceled {
			r.writeCancel(&orders[i], result.Time)
		}
	}
	r.Out.EndArray()
	r.Out.EndObject()
	return nil
}

// isOpenList reports whether an order of an account's list in a market is open.
func (f *Facade) isOpenList(r *Request, m *bourse.Market, id bourse.OrderID) bool {
	for i := range bourse.OrderID(bourse.MaxListed) {
		o, open := f.View.OpenOrder(r.Who.Account, id+i)
		if open && id != 0 && o.List == id && o.Market == m.ID {
			return true
		}
	}
	return false
}
