package stream

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// change is an order that a command changed after its acceptance.
type change struct {
	account bourse.AccountID
	order   bourse.OrderID
	// closed is the order at its end; nil while it is open.
	closed *bourse.Order
}

func ownOrders(account bourse.AccountID) feed.Topic {
	return feed.Topic{Kind: kindMyOrders, Account: account}
}

// orderEvent begins a message on myOrders.
func (p *Publisher) orderEvent(event string, account bourse.AccountID, m *bourse.Market) (*wire.Writer, bool) {
	w, ok := p.begin(ownOrders(account), "", nameMyOrders)
	if ok {
		w.Word("event", event)
		w.Word("pair", string(m.Pair))
	}
	return w, ok
}

// orderAccepted stages the acceptance of an order.
func (p *Publisher) orderAccepted(o *bourse.Order) {
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
	w.Uint("quote_prec", uint64(m.QuotePrecision))
	if !o.Waiting() {
		w.Lots("filled", o.Filled, m.BasePrecision)
	}
	clientID(w, o.ClientID)
	p.stage(ownOrders(o.Account))
}

// orderRejected stages the rejection of an order.
func (p *Publisher) orderRejected(o *bourse.Order, reason bourse.Reason) {
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
	w.Word("reason", reason.String())
	clientID(w, o.ClientID)
	p.stage(ownOrders(o.Account))
}

// asked writes the numbers of a new order.
func (p *Publisher) asked(w *wire.Writer, m *bourse.Market, o *bourse.NewOrder) {
	if o.Price != 0 {
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

// orderTriggered stages the trigger of a stop.
func (p *Publisher) orderTriggered(o *bourse.Order) { p.orderUpdate(o, true) }

// orderFilled records a fill of an order.
func (p *Publisher) orderFilled(f *bourse.Fill) { p.change(f.Account, f.Order) }

// orderClosed records the end of an order. o is valid until the next command.
func (p *Publisher) orderClosed(o *bourse.Order) {
	if c := p.change(o.Account, o.ID); c != nil {
		c.closed = o
	}
}

// change returns the order's change in this command, or nil if the account has no
// subscriber.
func (p *Publisher) change(account bourse.AccountID, order bourse.OrderID) *change {
	if !p.feed.Wanted(ownOrders(account)) {
		return nil
	}
	at, known := p.index[order]
	if !known {
		at = len(p.changed)
		p.index[order] = at
		p.changed = append(p.changed, change{account: account, order: order})
	}
	return &p.changed[at]
}

// orderUpdates stages one update for each order that the command changed.
func (p *Publisher) orderUpdates() {
	if len(p.changed) == 0 {
		return
	}
	for i := range p.changed {
		c := &p.changed[i]
		o := c.closed
		if o == nil {
			o = p.view.Open(c.account, c.order)
		}
		p.orderUpdate(o, false)
	}
	p.changed = p.changed[:0]
	clear(p.index)
}

// orderUpdate stages an order's state after a command, or at its trigger.
func (p *Publisher) orderUpdate(o *bourse.Order, triggered bool) {
	m := p.catalogue.Markets[o.Market]
	w, ok := p.orderEvent("orderUpdate", o.Account, m)
	if !ok {
		return
	}

	w.Uint("obid", uint64(o.ID))
	w.Word("side", o.Side.String())
	writeTime(w, p.now)
	if o.Price != 0 {
		w.Price("price", o.Price, m.QuotePrecision)
	}

	if triggered {
		w.Bool("triggered", true)
	} else if o.Status != bourse.Open {
		w.Word("status", o.Status.String())
	}

	if !o.Waiting() {
		w.Lots("filled", o.Filled, m.BasePrecision)
	}
	if o.Lots != 0 {
		w.Lots("left", o.Lots-o.Filled, m.BasePrecision)
	}
	clientID(w, o.ClientID)
	p.stage(ownOrders(o.Account))
}
