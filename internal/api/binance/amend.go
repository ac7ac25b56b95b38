package binance

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

func amendEndpoint() Endpoint {
	return Endpoint{
		Method: "PUT", Path: "/api/v3/order/amend/keepPriority", WS: "order.amend.keepPriority", Security: Trade,
		Weight: fixed(4), Class: api.Orders,
		Params: slices.Concat(need("symbol newQty"), may("orderId origClientOrderId"), []Param{
			{Name: "newClientOrderId", State: Differs, Note: "It is ignored: an order keeps its name, which the answer tells."},
		}),
		Fields: []Field{
			{Names: "transactTime amendedOrder.symbol amendedOrder.orderId amendedOrder.origClientOrderId " +
				"amendedOrder.clientOrderId amendedOrder.price amendedOrder.qty amendedOrder.executedQty " +
				"amendedOrder.quoteOrderQty amendedOrder.cumulativeQuoteQty amendedOrder.status amendedOrder.timeInForce " +
				"amendedOrder.type amendedOrder.side amendedOrder.workingTime amendedOrder.selfTradePreventionMode " +
				"amendedOrder.orderListId amendedOrder.preventedQty"},
			{Names: "executionId", State: Differs, Note: "It rises, and skips numbers."},
			{Names: "listStatus.orderListId listStatus.contingencyType listStatus.listOrderStatus listStatus.listClientOrderId " +
				"listStatus.symbol listStatus.orders", State: NotServed, Note: "The order tells its list."},
		},
		Answer: (*Facade).amend,
	}
}

// amend lessens the quantity of an open order, which keeps its place.
func (f *Facade) amend(r *Request) error {
	s := r.selectOrder()
	if err := r.Err(); err != nil {
		return err
	}
	lots := r.readLots("newQty", s.market)
	if err := r.Err(); err != nil {
		return err
	}

	o, open := f.open(r, &s)
	switch {
	case !open:
		return refusedAmendment(bourse.OrderNotFound)
	case s.market.State == bourse.MarketHalted:
		return refusedAmendment(bourse.MarketHaltedNow)
	case lots == o.Lots:
		return Errorf(codeAmend, "The requested action would change no state; rejecting.")
	case lots > o.Lots:
		return Errorf(codeAmend, "Order amend (quantity increase) is not supported.")
	}

	result, err := f.Sequencer.Do(r.Context, &bourse.Command{
		Kind: bourse.CommandAmend, Account: r.Who.Account, Order: o.ID, NewOrder: bourse.NewOrder{Lots: lots},
	})
	if err != nil {
		return err
	}
	if result.Outcome.Reason != 0 {
		return refusedAmendment(result.Outcome.Reason)
	}
	return f.writeAmended(r, o.ID, &result)
}

// refusedAmendment returns the error for a refused amendment.
func refusedAmendment(reason bourse.Reason) error {
	return Errorf(codeAmend, "%s", Refusal(reason).Message)
}

// writeAmended writes an order that was amended.
func (f *Facade) writeAmended(r *Request, id bourse.OrderID, result *sequencer.Result) error {
	o, found, err := f.orderOf(r, id)
	if err != nil {
		return err
	}
	if !found {
		return errNoOrder
	}
	m := r.names.Markets[o.Market]
	r.Out.Object()
	r.time("transactTime", result.Time)
	r.Out.Uint("executionId", uint64(result.Seq))
	r.Out.Name("amendedOrder")
	r.Out.Object()
	r.symbol(m)
	r.Out.Uint("orderId", uint64(id))
	r.Out.Int("orderListId", ListOf(&o.Order.Order))
	r.Out.Word("origClientOrderId", NameOf(&o.Order.Order))
	r.Out.Word("clientOrderId", NameOf(&o.Order.Order))
	r.price("price", o.Price, m)
	r.lots("qty", o.Lots, m)
	r.lots("executedQty", o.Filled, m)
	r.lots("preventedQty", o.Prevented, m)
	r.quote("quoteOrderQty", o.Total, m)
	r.quote("cumulativeQuoteQty", valueOf(o.Fills), m)
	r.Out.Word("status", StatusWord(&o.Order.Order))
	r.Out.Word("timeInForce", TIFWord(&o.NewOrder))
	r.Out.Word("type", KindWord(&o.NewOrder))
	r.Out.Word("side", o.Side.String())
	r.writeWorking(&o.Order.Order)
	r.writeSelfTrade(m, &o.NewOrder)
	r.Out.EndObject()
	r.Out.EndObject()
	return nil
}
