package binance

import (
	"strconv"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/history"
)

// canceledFields are the fields of a canceled order.
var canceledFields = []Field{
	{Names: "symbol origClientOrderId orderId transactTime price executedQty origQuoteOrderQty cummulativeQuoteQty " +
		"status type side stopPrice selfTradePreventionMode"},
	{Names: "orderListId"},
	{Names: "clientOrderId", State: Differs, Note: "It is newClientOrderId, or made of the order's id, and is not kept."},
	{Names: "origQty", State: Differs, Note: "It is the executed quantity of an order by quoteOrderQty."},
	{Names: "timeInForce", State: Differs, Note: "It is GTC for an order without a price."},
}

func cancelOrderEndpoint() Endpoint {
	return Endpoint{
		Method: "DELETE", Path: "/api/v3/order", WS: "order.cancel", Security: Trade, Weight: fixed(1), Class: api.Cancels,
		Params: append(append(need("symbol"), may("orderId origClientOrderId newClientOrderId")...),
			unserved("An order is canceled whatever it has traded.", "cancelRestrictions")...),
		Fields: canceledFields, Answer: (*Facade).cancelOrder,
	}
}

// cancelOrder cancels an order. The view refuses first, as in V1.
func (f *Facade) cancelOrder(r *Request) error {
	s := r.selectOrder()
	if err := r.Err(); err != nil {
		return err
	}
	o, open := f.open(r, &s)
	switch {
	case !open:
		return refused(bourse.OrderNotFound)
	case s.market.State == bourse.MarketHalted:
		return refused(bourse.MarketHaltedNow)
	}

	result, err := f.Sequencer.Do(r.Context, &bourse.Command{
		Kind: bourse.CommandCancel, Account: r.Who.Account, Order: o.ID,
	})
	if err != nil {
		return err
	}
	if result.Outcome.Reason != 0 {
		return refused(result.Outcome.Reason)
	}
	return f.writeCanceled(r, o.ID, result.Time)
}

// writeCanceled writes an order that was canceled at a time.
func (f *Facade) writeCanceled(r *Request, id bourse.OrderID, at bourse.Time) error {
	o, found, err := f.orderOf(r, id)
	if err != nil {
		return err
	}
	if !found {
		return errNoOrder
	}
	r.writeCancel(&o, at)
	return nil
}

// writeCancel writes an order as the cancel at a time left it.
func (r *Request) writeCancel(o *history.OrderFills, at bourse.Time) {
	o.Status = bourse.Canceled
	m := r.names.Markets[o.Market]

	r.Out.Object()
	r.symbol(m)
	r.Out.Word("origClientOrderId", NameOf(&o.Order.Order))
	r.Out.Uint("orderId", uint64(o.ID))
	r.Out.Int("orderListId", ListOf(&o.Order.Order))
	r.Out.Text("clientOrderId", r.nameOfCancel(o.ID))
	r.time("transactTime", at)
	r.writeTermsOf(m, o)
	r.writeStop(m, o)
	r.writeSelfTrade(m, &o.NewOrder)
	r.Out.EndObject()
}

// nameOfCancel returns the name of a cancel.
func (r *Request) nameOfCancel(id bourse.OrderID) string {
	if text := r.Text("newClientOrderId"); text != "" {
		return text
	}
	return "cancel-" + strconv.FormatUint(uint64(id), 10)
}

// writeStop writes stopPrice of an order that has one.
func (r *Request) writeStop(m *bourse.Market, o *history.OrderFills) {
	if o.Type.HasStop() {
		r.price("stopPrice", o.Stop, m)
	}
}
