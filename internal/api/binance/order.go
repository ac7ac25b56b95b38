package binance

import (
	"strconv"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

// orderFields are the fields of an order in answers to queries.
var orderFields = []Field{
	{Names: "symbol orderId price executedQty cummulativeQuoteQty status type side time updateTime isWorking " +
		"workingTime origQuoteOrderQty selfTradePreventionMode"},
	{Names: "orderListId"},
	{Names: "clientOrderId", State: Differs, Note: "It is made of the order's id if the order has no name."},
	{Names: "origQty", State: Differs, Note: "It is the executed quantity of an order by quoteOrderQty."},
	{Names: "timeInForce", State: Differs, Note: "It is GTC for an order without a price."},
	{Names: "stopPrice icebergQty", State: Differs, Note: "They are zero where an order has none; there are no icebergs."},
	{Names: "preventedQuantity"},
	{Names: "preventedMatchId expiryReason", State: NotServed, Note: "Prevented matches and reasons of ends are not kept."},
}

// madeUp begins the name of an order that has none. The order's id follows.
const madeUp = "bourse-"

// NameOf returns the clientOrderId of an order.
func NameOf(o *bourse.Order) string {
	if o.ClientID.IsZero() {
		var made [len(madeUp) + 20]byte // of the longest number
		return string(strconv.AppendUint(append(made[:0], madeUp...), uint64(o.ID), 10))
	}
	return o.ClientID.String()
}

// ListOf returns the orderListId of an order; -1 without a list.
func ListOf(o *bourse.Order) int64 {
	if o.List == 0 {
		return -1
	}
	return int64(o.List)
}

// PriceOf returns the price that an order names; zero for none.
func PriceOf(o *bourse.Order) bourse.Price {
	if !o.Type.HasPrice() {
		return 0 // Price is the cap of its trades
	}
	return o.Price
}

// selection names an order of a market.
type selection struct {
	market *bourse.Market
	id     bourse.OrderID
	name   string
}

// selectOrder reads symbol, and orderId or origClientOrderId or both.
func (r *Request) selectOrder() (s selection) {
	const byID, byName = "orderId", "origClientOrderId"
	s.market = r.market()
	if !r.Has(byID) && !r.Has(byName) {
		r.Fail(neither(byName, byID))
	}
	s.id, s.name = bourse.OrderID(r.Long(byID, 0)), r.Text(byName)
	return s
}

// matches reports whether an order is the selected one.
func (s *selection) matches(o *bourse.Order) bool {
	return o.ID != 0 && o.Market == s.market.ID && (s.id == 0 || o.ID == s.id) && (s.name == "" || NameOf(o) == s.name)
}

// clientID returns the name as a client id; the zero value if it is none.
func (s *selection) clientID() bourse.ClientID {
	id, err := bourse.ParseClientID(s.name)
	if err != nil {
		return bourse.ClientID{}
	}
	return id
}

// made returns the id that a made-up name has; zero for any other name.
func (s *selection) made() bourse.OrderID {
	digits, found := strings.CutPrefix(s.name, madeUp)
	n, err := strconv.ParseUint(digits, 10, 63)
	if !found || err != nil {
		return 0
	}
	return bourse.OrderID(n)
}

// find returns the selected order. The error is errNoOrder if there is none.
func (f *Facade) find(r *Request, s *selection) (history.OrderFills, error) {
	id := s.id
	if name := s.clientID(); id == 0 && !name.IsZero() {
		o, found, err := f.orderNamed(r, name)
		if err != nil || found && s.matches(&o.Order.Order) {
			return o, err
		}
		id = s.made()
	}
	if id == 0 {
		return history.OrderFills{}, errNoOrder
	}
	o, found, err := f.orderOf(r, id)
	if err == nil && (!found || !s.matches(&o.Order.Order)) {
		err = errNoOrder
	}
	return o, err
}

// orderOf reads an order of the request's account, and charges for its fills, however few of them
// the answer tells.
func (f *Facade) orderOf(r *Request, id bourse.OrderID) (o history.OrderFills, found bool, err error) {
	o, found, err = f.History.Order(r.Context, r.Who.Account, id)
	r.chargeRows(len(o.Fills))
	return o, found, err
}

// orderNamed is orderOf for the order with a name.
func (f *Facade) orderNamed(r *Request, name bourse.ClientID) (o history.OrderFills, found bool, err error) {
	o, found, err = f.History.OrderNamed(r.Context, r.Who.Account, name)
	r.chargeRows(len(o.Fills))
	return o, found, err
}

// open returns the selected order if it is open.
func (f *Facade) open(r *Request, s *selection) (o bourse.Order, open bool) {
	who, id := r.Who.Account, s.id
	if name := s.clientID(); id == 0 && !name.IsZero() {
		if o, open = f.View.OpenOrderNamed(who, name); open {
			return o, s.matches(&o)
		}
		id = s.made()
	}
	if o, open = f.View.OpenOrder(who, id); !open {
		return o, false
	}
	return o, s.matches(&o)
}

// writeNames writes the fields symbol to clientOrderId.
func (r *Request) writeNames(m *bourse.Market, o *bourse.Order) {
	r.symbol(m)
	r.Out.Uint("orderId", uint64(o.ID))
	r.Out.Int("orderListId", ListOf(o))
	r.Out.Word("clientOrderId", NameOf(o))
}

// valueOf returns the value of the fills of an order.
func valueOf(fills []history.Fill) (value bourse.Amount) {
	for i := range fills {
		value = saturated(value, fills[i].Total)
	}
	return value
}

// quantity returns the quantity of an order; for an order by total, the executed quantity.
func quantity(o *bourse.Order) bourse.Lots {
	if o.Lots == 0 {
		return o.Filled
	}
	return o.Lots
}

// writeTermsOf writes the fields price to side of an order.
func (r *Request) writeTermsOf(m *bourse.Market, o *history.OrderFills) {
	r.price("price", PriceOf(&o.Order.Order), m)
	r.lots("origQty", quantity(&o.Order.Order), m)
	r.lots("executedQty", o.Filled, m)
	r.quote("origQuoteOrderQty", o.Total, m)
	r.quote("cummulativeQuoteQty", valueOf(o.Fills), m)
	r.Out.Word("status", StatusWord(&o.Order.Order))
	r.Out.Word("timeInForce", TIFWord(&o.NewOrder))
	r.Out.Word("type", KindWord(&o.NewOrder))
	r.Out.Word("side", o.Side.String())
}

// writeWorking writes workingTime: that of acceptance, or -1 while the order waits.
func (r *Request) writeWorking(o *bourse.Order) {
	if o.Waiting() {
		r.Out.Int("workingTime", -1)
		return
	}
	r.time("workingTime", o.Time)
}

// writeSelfTrade writes selfTradePreventionMode.
func (r *Request) writeSelfTrade(m *bourse.Market, p *bourse.NewOrder) {
	mode := p.SelfTrade
	if mode == 0 {
		mode = m.SelfTrade
	}
	r.Out.Word("selfTradePreventionMode", selfTradeWord(mode))
}

// writePrevented writes preventedQuantity of an order that has one.
func (r *Request) writePrevented(m *bourse.Market, o *bourse.Order) {
	if o.Prevented > 0 {
		r.lots("preventedQuantity", o.Prevented, m)
	}
}

// writeOrder writes an order as queries do.
func (r *Request) writeOrder(o *history.OrderFills) {
	m := r.names.Markets[o.Market]
	r.Out.Object()
	r.writeNames(m, &o.Order.Order)
	r.writeTermsOf(m, o)
	r.price("stopPrice", o.Stop, m)
	r.lots("icebergQty", 0, m)
	r.time("time", o.Time)
	r.time("updateTime", updated(o))
	r.Out.Bool("isWorking", !o.Waiting())
	r.writeWorking(&o.Order.Order)
	r.writeSelfTrade(m, &o.NewOrder)
	r.writePrevented(m, &o.Order.Order)
	r.Out.EndObject()
}

// updated returns the time of an order's last change that is known.
func updated(o *history.OrderFills) bourse.Time {
	t := max(o.Time, o.Closed)
	for i := range o.Fills {
		t = max(t, o.Fills[i].Time)
	}
	return t
}
