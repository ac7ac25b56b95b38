package stream

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// change accumulates a command's effects on an order after its acceptance.
type change struct {
	account bourse.AccountID
	market  *bourse.Market
	order   bourse.OrderID
	filled  bourse.Lots
	// waiting is set for a stop that ended before its trigger.
	waiting bool
	// status is the final status; zero while the order is open.
	status bourse.OrderStatus
	client bourse.ClientID
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
	w.Int("time", o.Time.Seconds())
	w.Word("time_in_force", o.TIF.String())
	w.Word("base", string(p.catalogue.Assets[m.Base].Symbol))
	w.Word("quote", string(p.catalogue.Assets[m.Quote].Symbol))
	p.asked(w, m, &o.NewOrder)
	w.Uint("quote_prec", uint64(m.QuotePrecision))
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
	w.Int("time", o.Time.Seconds())
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
func (p *Publisher) orderTriggered(o *bourse.Order) {
	m := p.catalogue.Markets[o.Market]
	w, ok := p.orderEvent("orderUpdate", o.Account, m)
	if !ok {
		return
	}
	w.Uint("obid", uint64(o.ID))
	w.Int("time", p.now.Seconds())
	w.Bool("triggered", true)
	w.Lots("filled", o.Filled, m.BasePrecision)
	clientID(w, o.ClientID)
	p.stage(ownOrders(o.Account))
}

// orderFilled records a fill of an order.
func (p *Publisher) orderFilled(f *bourse.Fill, m *bourse.Market) {
	if c := p.change(f.Account, f.Order, m); c != nil {
		c.filled = f.Filled
	}
}

// orderClosed records the final status of an order.
func (p *Publisher) orderClosed(o *bourse.Order) {
	if c := p.change(o.Account, o.ID, p.catalogue.Markets[o.Market]); c != nil {
		c.filled, c.status, c.client, c.waiting = o.Filled, o.Status, o.ClientID, o.Waiting()
	}
}

// change returns the order's change in this command, or nil if the account has no
// subscriber.
func (p *Publisher) change(account bourse.AccountID, order bourse.OrderID, m *bourse.Market) *change {
	if !p.feed.Wanted(ownOrders(account)) {
		return nil
	}
	at, known := p.index[order]
	if !known {
		at = len(p.changed)
		p.index[order] = at
		p.changed = append(p.changed, change{account: account, market: m, order: order})
	}
	return &p.changed[at]
}

// orderUpdates stages one update for each order that the command changed.
func (p *Publisher) orderUpdates() {
	if len(p.changed) == 0 {
		return
	}
	for i := range p.changed {
		p.orderUpdate(&p.changed[i])
	}
	p.changed = p.changed[:0]
	clear(p.index)
}

func (p *Publisher) orderUpdate(c *change) {
	w, ok := p.orderEvent("orderUpdate", c.account, c.market)
	if !ok {
		return
	}
	w.Uint("obid", uint64(c.order))
	w.Int("time", p.now.Seconds())
	if c.status != 0 {
		w.Word("status", c.status.String())
	} else if o := p.view.Open(c.account, c.order); o != nil {
		c.client = o.ClientID
	}
	if !c.waiting {
		w.Lots("filled", c.filled, c.market.BasePrecision)
	}
	clientID(w, c.client)
	p.stage(ownOrders(c.account))
}
