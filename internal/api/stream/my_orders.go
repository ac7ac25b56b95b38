package stream

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/wire"
)

func ownOrders(account bourse.AccountID) feed.Topic {
	return feed.Topic{Kind: feed.OwnOrders, Account: account}
}

// orderEvent begins a message on myOrders.
func (p *Publisher) orderEvent(event string, account bourse.AccountID, m *bourse.Market) (*wire.Writer, bool) {
	w, ok := p.begin(ownOrders(account))
	if ok {
		w.Word("event", event)
		w.Word("pair", string(m.Pair))
	}
	return w, ok
}

// orderAccepted stages the acceptance of an order.
func (p *Publisher) orderAccepted(e bourse.Event, o *bourse.Order) {
	m := p.catalogue.Markets[o.Market]
	w, ok := p.orderEvent("orderAccepted", o.Account, m)
	if !ok {
		return
	}
	w.Uint("obid", uint64(o.ID))
	w.Word("side", o.Side.String())
	w.Word("type", o.Type.String())
	writeTime(w, o.Time)
	w.Word("time_in_force", o.TIF.String())
	w.Word("base", string(p.catalogue.Assets[m.Base].Symbol))
	w.Word("quote", string(p.catalogue.Assets[m.Quote].Symbol))
	p.asked(w, m, &o.NewOrder)
	if limit := o.Cap(); limit != 0 {
		w.Price("cap", limit, m.QuotePrecision)
	}
	w.Uint("quote_prec", uint64(m.QuotePrecision))
	if !o.Waiting() {
		w.Lots("filled", o.Filled, m.BasePrecision)
	}
	clientID(w, o.ClientID)
	listID(w, o.List)
	p.stage(ownOrders(o.Account), e.StreamSeq)
}

// orderRejected stages the rejection of an order.
func (p *Publisher) orderRejected(e bourse.Event, o *bourse.Order) {
	m := p.catalogue.Markets[o.Market]
	w, ok := p.orderEvent("orderRejected", o.Account, m)
	if !ok {
		return
	}
	w.Word("side", o.Side.String())
	w.Word("type", o.Type.String())
	writeTime(w, o.Time)
	w.Word("time_in_force", o.TIF.String())
	p.asked(w, m, &o.NewOrder)
	w.Word("reason", e.Reason.String())
	clientID(w, o.ClientID)
	p.stage(ownOrders(o.Account), e.StreamSeq)
}

// asked writes the numbers of a new order.
func (p *Publisher) asked(w *wire.Writer, m *bourse.Market, o *bourse.NewOrder) {
	if o.Type.HasPrice() {
		w.Price("price", o.Price, m.QuotePrecision)
	}
	if o.Lots != 0 {
		w.Lots("amount", o.Lots, m.BasePrecision)
	}
	if !o.Total.IsZero() {
		w.Amount("total", o.Total, p.catalogue.Assets[m.Quote].Scale)
	}
	if o.Stop != 0 {
		w.Price("stop", o.Stop, m.QuotePrecision)
	}
}

func clientID(w *wire.Writer, id bourse.ClientID) {
	if !id.IsZero() {
		w.Word("client_id", id.String())
	}
}

func listID(w *wire.Writer, id bourse.OrderID) {
	if id != 0 {
		w.Uint("list_id", uint64(id))
	}
}

// orderChange is the cause of an orderUpdate.
type orderChange uint8

const (
	// orderMoved: the order traded, ended, or lost a part to self-trade prevention.
	orderMoved orderChange = iota
	orderTriggered
	orderAmended
)

// orderUpdate stages an order's state after a command, or at its trigger or amendment.
func (p *Publisher) orderUpdate(seq uint64, o *bourse.Order, change orderChange) {
	m := p.catalogue.Markets[o.Market]
	w, ok := p.orderEvent("orderUpdate", o.Account, m)
	if !ok {
		return
	}

	w.Uint("obid", uint64(o.ID))
	w.Word("side", o.Side.String())
	writeTime(w, p.now)
	if o.Type.HasPrice() {
		w.Price("price", o.Price, m.QuotePrecision)
	}
	if change == orderAmended {
		w.Lots("amount", o.Lots, m.BasePrecision)
	}

	switch {
	case change == orderTriggered:
		w.Bool("triggered", true)
	case change == orderAmended:
		w.Bool("amended", true)
	case o.Status != bourse.Open:
		w.Word("status", o.Status.String())
	}

	if !o.Waiting() {
		w.Lots("filled", o.Filled, m.BasePrecision)
	}
	if o.Lots != 0 {
		w.Lots("left", o.Left(), m.BasePrecision)
	}
	if o.Prevented != 0 {
		w.Lots("prevented", o.Prevented, m.BasePrecision)
	}
	clientID(w, o.ClientID)
	listID(w, o.List)
	p.stage(ownOrders(o.Account), seq)
}
