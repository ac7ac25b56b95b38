package binance

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/sequencer"
)

func newOrderEndpoint() Endpoint {
	return Endpoint{
		Method: "POST", Path: "/api/v3/order", WS: "order.place", Security: Trade, Weight: fixed(1), Class: api.Orders,
		Repeatable: "newClientOrderId", Counts: 1, Params: orderParams(),
		Fields: newOrderFields, Answer: (*Facade).newOrder,
	}
}

// newOrderFields are the fields of the answer to a new order.
var newOrderFields = []Field{
	{Names: "symbol orderId transactTime price executedQty origQuoteOrderQty cummulativeQuoteQty status type side " +
		"workingTime stopPrice selfTradePreventionMode"},
	{Names: "clientOrderId", State: Differs, Note: "It is made of the order's id if the request has no newClientOrderId."},
	{Names: "orderListId"},
	{Names: "origQty", State: Differs, Note: "It is the executed quantity of an order by quoteOrderQty."},
	{Names: "timeInForce", State: Differs, Note: "It is GTC for an order without a price."},
	{Names: "fills.price fills.qty fills.commission fills.commissionAsset fills.tradeId"},
	{Names: "preventedQuantity", State: Differs, Note: "It may count what was prevented until the answer was written."},
	{Names: "preventedMatchId preventedMatches expiryReason", State: NotServed, Note: "Prevented matches and reasons of ends " +
		"are not kept."},
	{Names: "icebergQty strategyId strategyType trailingDelta trailingTime usedSor workingFloor pegPriceType " +
		"pegOffsetType pegOffsetValue peggedPrice", State: NotServed, Note: "They belong to orders that are not served."},
}

// The forms of the answer to a new order.
const (
	respAck = iota
	respResult
	respFull
)

// newOrder places an order.
func (f *Facade) newOrder(r *Request) error {
	cmd := bourse.Command{Kind: bourse.CommandPlace, Account: r.Who.Account}
	m, resp := r.readOrder(&cmd.NewOrder)
	if err := r.Err(); err != nil {
		return err
	}

	over, err := f.Turn(f.Limits, r.Who.Account, &cmd.NewOrder)
	if err != nil {
		return err
	}
	defer over()

	result, err := f.Sequencer.Do(r.Context, &cmd)
	if err != nil {
		return err
	}
	if result.Outcome.Reason != 0 {
		return refused(result.Outcome.Reason)
	}
	return f.writeNew(r, m, &cmd.NewOrder, &result, resp)
}

// writeNew writes the answer to an order that was taken, as its command left it.
func (f *Facade) writeNew(r *Request, m *bourse.Market, p *bourse.NewOrder, result *sequencer.Result, resp int) error {
	o := bourse.Order{ID: bourse.OrderID(result.Outcome.ID), NewOrder: *p, Time: result.Time}
	o.Status, o.Filled = result.Outcome.Status, result.Outcome.Filled
	placed, err := f.placed(r, &o, result.Outcome.Repeated, resp)
	if err == nil {
		r.writePlaced(m, &placed, resp)
	}
	return err
}

// placed returns an order that was taken with the fills of its command, if the answer has them.
func (f *Facade) placed(r *Request, o *bourse.Order, repeated bool, resp int) (history.OrderFills, error) {
	placed := history.OrderFills{Order: history.Order{Order: *o}}
	if !repeated && (resp == respAck || o.Filled == 0 && !r.mayBePrevented(o)) {
		return placed, nil
	}
	known, found, err := f.orderOf(r, o.ID)
	if err == nil && found {
		placed.Time, placed.Fills, placed.Prevented = known.Time, taken(&known, o.Filled), known.Prevented
	}
	return placed, err
}

// mayBePrevented reports whether self-trade prevention may have taken from an order that was just
// placed. Only decrement takes from one that is open.
func (r *Request) mayBePrevented(o *bourse.Order) bool {
	mode := o.SelfTrade
	if mode == 0 {
		mode = r.names.Markets[o.Market].SelfTrade
	}
	return mode == bourse.Decrement || mode != bourse.SelfTradeNone && o.Status == bourse.Killed
}

// writePlaced writes an order that was taken.
func (r *Request) writePlaced(m *bourse.Market, placed *history.OrderFills, resp int) {
	r.Out.Object()
	r.writeNames(m, &placed.Order.Order)
	r.time("transactTime", placed.Time)
	if resp != respAck {
		r.writeTermsOf(m, placed)
		r.writeStop(m, placed)
		r.writeWorking(&placed.Order.Order)
		r.writeSelfTrade(m, &placed.NewOrder)
		r.writePrevented(m, &placed.Order.Order)
	}
	if resp == respFull {
		r.writeFills(m, placed.Fills)
	}
	r.Out.EndObject()
}

// taken returns the fills of the command that placed an order.
func taken(o *history.OrderFills, filled bourse.Lots) []history.Fill {
	for i := range o.Fills {
		if filled == 0 {
			return o.Fills[:i]
		}
		filled -= min(filled, o.Fills[i].Lots)
	}
	return o.Fills
}

// writeFills writes the fills of a new order.
func (r *Request) writeFills(m *bourse.Market, fills []history.Fill) {
	r.Out.Name("fills")
	r.Out.Array()
	for i := range fills {
		fill := &fills[i]
		r.Out.Object()
		r.price("price", fill.Price, m)
		r.lots("qty", fill.Lots, m)
		r.writeCommission(m, fill)
		r.Out.Uint("tradeId", fill.Trade)
		r.Out.EndObject()
	}
	r.Out.EndArray()
}

// writeCommission writes the fee of a fill.
func (r *Request) writeCommission(m *bourse.Market, fill *history.Fill) {
	asset := r.names.Assets[m.Received(fill.Side)]
	r.amount("commission", fill.Fee, asset.Scale)
	r.Out.Word("commissionAsset", string(asset.Symbol))
}
