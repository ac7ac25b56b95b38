package live

import (
	"context"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/binance"
	"github.com/bourse-exchange/bourse/internal/feed"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// users holds the publisher's knowledge of the orders of accounts with a subscriber.
type users struct {
	history *history.Reader
	// values are the values traded of open orders whose account had a subscriber when they were
	// accepted, and has had one since.
	values map[bourse.OrderID]bourse.Amount
	// learned are the values traded of other orders, which were read.
	learned learned
	// touched are the accounts with a subscriber whose balances the current command changed, and
	// balances the last ones of each.
	touched  []bourse.AccountID
	balances map[bourse.AccountID][]bourse.Balance
	// orders are the indexes of the orders of the command with the number of, if these are many.
	orders map[bourse.OrderID]int
	of     uint64
}

// historyWithin bounds the reading of an order's fills, for which the messages of its account
// wait.
const historyWithin = time.Second

func user(account bourse.AccountID) feed.Topic { return feed.Topic{Kind: feed.User, Account: account} }

// user stages a command's messages to accounts: the reports of orders in the order of its
// events, then transfers, then lists, then balances.
func (p *Publisher) user(ev *bourse.Events) {
	for _, e := range ev.List {
		switch e.Kind {
		case bourse.EventOrderAccepted:
			p.accepted(&ev.Orders[e.At])
		case bourse.EventOrderRejected:
			p.report(&report{order: ev.Orders[e.At], execution: "REJECTED", status: "REJECTED", reason: rejection(e.Reason)})
		case bourse.EventOrderTriggered:
			p.report(&report{order: ev.Orders[e.At], execution: "NEW"})
		case bourse.EventOrderAmended:
			p.changed(&ev.Orders[e.At], "REPLACED")
		case bourse.EventOrderPrevented:
			p.changed(&ev.Orders[e.At], prevention)
		case bourse.EventTraded:
			t := &ev.Trades[e.At]
			p.filled(ev, t, &t.Maker, bourse.Maker)
			p.filled(ev, t, &t.Taker, bourse.Taker)
		case bourse.EventOrderClosed:
			p.closed(ev, &ev.Orders[e.At])
		case bourse.EventTransfer:
			p.transfer(&ev.Transfers[e.At])
		default: // not for users
		}
	}
	p.lists(ev)
	p.balances(ev)
}

// accepted stages the acceptance of an order.
func (p *Publisher) accepted(o *bourse.Order) {
	if !p.feed.Wanted(user(o.Account)) {
		return
	}
	p.users.values[o.ID] = bourse.Amount{}
	fresh := *o
	fresh.Filled, fresh.Status = 0, bourse.Open
	p.report(&report{order: fresh, execution: "NEW"})
}

// prevention is what happens to an order that self-trade prevention ends or takes a part of.
const prevention = "TRADE_PREVENTION"

// changed stages what happened to an open order without a trade.
func (p *Publisher) changed(o *bourse.Order, execution string) {
	value, known := p.users.value(o.ID, o.Filled)
	p.report(&report{order: *o, execution: execution, value: value, known: known})
}

// closed stages the end of an order that did not end with a trade.
func (p *Publisher) closed(ev *bourse.Events, o *bourse.Order) {
	value, known := p.users.value(o.ID, o.Filled)
	delete(p.users.values, o.ID)
	if o.Status == bourse.Filled || !p.feed.Wanted(user(o.Account)) {
		return
	}

	r := report{order: *o, value: value, known: known}
	switch {
	case o.Status == bourse.Canceled:
		r.execution = "CANCELED"
	case o.EndedByPrevention():
		r.execution = prevention
	case p.lost(ev, o):
		r.execution, r.expiry = "EXPIRED", "OCO_TRIGGER"
	default:
		r.execution, r.expiry = "EXPIRED", expiry(o)
	}
	p.report(&r)
}

// expiry returns why an order expired.
func expiry(o *bourse.Order) string {
	switch {
	case o.Type == bourse.MarketOrder:
		return "INSUFFICIENT_LIQUIDITY"
	case o.TIF == bourse.IOC:
		return "UNFILLED_IOC_QUANTITY_EXPIRED"
	case o.TIF == bourse.FOK:
		return "UNFILLED_FOK_ORDER_EXPIRED"
	}
	return "EXCHANGE_CANCELED"
}

// rejection returns the word for the reason of a rejection.
func rejection(r bourse.Reason) string {
	switch r {
	case bourse.InsufficientFunds:
		return "INSUFFICIENT_BALANCES"
	case bourse.WouldTake:
		return "WOULD_MATCH_IMMEDIATELY"
	default:
		return r.String()
	}
}

// filled stages an account's side of a trade.
func (p *Publisher) filled(ev *bourse.Events, t *bourse.Trade, f *bourse.Fill, role bourse.Role) {
	if !p.feed.Wanted(user(f.Account)) {
		delete(p.users.values, f.Order)
		return
	}

	o := p.orderOf(ev, f)
	if o == nil {
		return
	}
	r := report{order: *o, execution: "TRADE", trade: t, fill: f, role: role}
	r.order.Filled, r.order.Status = f.Filled, bourse.Open
	if o.Status == bourse.Filled && o.Filled == f.Filled || o.Lots != 0 && o.Lots == f.Filled {
		r.order.Status = bourse.Filled
	}
	if value, known := p.users.value(f.Order, f.Filled-t.Lots); known {
		r.value, r.known = saturated(value, t.Total), true
		p.users.values[f.Order] = r.value
	}
	p.report(&r)
}

// orderOf returns the order of a fill as the command left it. A command may have as many orders
// as trades, so that they are not searched for each.
func (p *Publisher) orderOf(ev *bourse.Events, f *bourse.Fill) *bourse.Order {
	if at, left := p.users.indexOf(p.seq, ev.Orders, f.Order); left {
		return &ev.Orders[at]
	}
	return p.view.Open(f.Account, f.Order)
}

// indexOf returns the last index of an order among those of a command.
func (u *users) indexOf(seq uint64, list []bourse.Order, id bourse.OrderID) (at int, found bool) {
	const few = 16
	if len(list) <= few {
		for at = len(list) - 1; at >= 0 && list[at].ID != id; at-- {
		}
		return at, at >= 0
	}

	if u.of != seq {
		u.of, u.orders = seq, make(map[bourse.OrderID]int, len(list))
		for i := range list {
			u.orders[list[i].ID] = i
		}
	}
	at, found = u.orders[id]
	return at, found
}

// saturated returns a+b, or the largest amount.
func saturated(a, b bourse.Amount) bourse.Amount {
	if sum, ok := a.Add(b); ok {
		return sum
	}
	return bourse.MaxAmount
}

// report is a report on an order.
type report struct {
	order bourse.Order
	// execution is what happened. status is the order's, if it is not that of order.
	execution, status string
	// reason is that of a rejection, and expiry that of an end.
	reason, expiry string
	// trade, fill and role are set for a trade.
	trade *bourse.Trade
	fill  *bourse.Fill
	role  bourse.Role
	// value is the value traded so far, if it is known.
	value bourse.Amount
	known bool
}

// report stages a report, if the account has a subscriber. The value traded of an order that was
// accepted without one is in the history.
func (p *Publisher) report(r *report) {
	topic := user(r.order.Account)
	if !p.feed.Wanted(topic) {
		return
	}

	told, now, seq := *r, p.now, p.seq
	s := &subject{p.catalogue, p.catalogue.Markets[r.order.Market], p.symbol(r.order.Market)}
	if r.fill != nil {
		fill, trade := *r.fill, *r.trade
		told.fill, told.trade = &fill, &trade
	}
	if told.known || told.order.Filled == 0 {
		p.feed.StageLater(topic, seq, func() []byte { return told.message(s, now, seq) })
		return
	}
	p.feed.StageSlow(topic, seq, func() []byte {
		if !told.learn(&p.users) {
			return nil
		}
		return told.message(s, now, seq)
	})
}

// learn reads the value traded up to the report, and keeps it for later reports on the order: one
// reading takes all of its fills.
func (r *report) learn(u *users) bool {
	filled, value := r.order.Filled, bourse.Amount{}
	if r.trade != nil {
		filled, value = filled-r.trade.Lots, r.trade.Total
	}
	before, known := u.learned.at(r.order.ID, filled)
	r.value = saturated(before, value)
	if !known && !r.read(u.history) {
		return false
	}

	u.learned.keep(r.order.ID, r.order.Filled, r.value)
	return true
}

// read reads the value traded up to the report from the history.
func (r *report) read(reader *history.Reader) bool {
	ctx, cancel := context.WithTimeout(context.Background(), historyWithin)
	defer cancel()
	o, found, err := reader.Order(ctx, r.order.Account, r.order.ID)
	if err != nil || !found {
		return false
	}
	r.value = bourse.Amount{}
	var filled bourse.Lots
	for i := 0; i < len(o.Fills) && filled < r.order.Filled; i++ {
		filled += o.Fills[i].Lots
		r.value = saturated(r.value, o.Fills[i].Total)
	}
	return true
}

// message returns the report's message.
func (r *report) message(s *subject, now bourse.Time, seq uint64) []byte {
	o, canceled := &r.order, ""
	if r.execution == "CANCELED" || r.execution == "REPLACED" {
		canceled = binance.NameOf(o)
	}
	reason := r.reason
	if reason == "" {
		reason = "NONE"
	}

	const usual = 768 // bytes
	w := message(usual)
	w.Object()
	w.Word("e", "executionReport")
	w.Int("E", millis(now))
	w.Word("s", s.symbol)
	w.Word("c", binance.NameOf(o))
	w.Word("S", o.Side.String())
	w.Word("o", binance.KindWord(&o.NewOrder))
	w.Word("f", binance.TIFWord(&o.NewOrder))
	writeLots(w, "q", binance.Quantity(o), s.Market)
	writePrice(w, "p", binance.PriceOf(o), s.Market)
	writePrice(w, "P", o.Stop, s.Market)
	writeLots(w, "F", 0, s.Market)
	w.Int("g", binance.ListOf(o))
	w.Word("C", canceled)
	w.Word("x", r.execution)
	w.Word("X", r.statusWord())
	w.Word("r", reason)
	r.numbers(w, s)
	w.Int("T", millis(now))
	r.trades(w)
	w.Uint("I", seq)
	w.Bool("w", o.Status == bourse.Open && r.execution != "REJECTED" && !o.Waiting())
	w.Bool("m", r.role == bourse.Maker)
	w.Bool("M", false)
	w.Int("O", millis(o.Time))
	s.quote(w, "Z", r.value)
	if r.trade != nil {
		s.quote(w, "Y", r.trade.Total)
	} else {
		s.quote(w, "Y", bourse.Amount{})
	}
	s.quote(w, "Q", o.Total)
	if !o.Waiting() && r.execution != "REJECTED" {
		w.Int("W", millis(o.Time))
	}
	w.Word("V", binance.SelfTradeWord(s.Market, &o.NewOrder))
	if o.Prevented > 0 {
		writeLots(w, "A", o.Prevented, s.Market)
	}
	if r.expiry != "" {
		w.Word("eR", r.expiry)
	}
	return done(w)
}

// statusWord returns the status of the order.
func (r *report) statusWord() string {
	if r.status != "" {
		return r.status
	}
	return binance.StatusWord(&r.order)
}

// numbers writes the id of the order, what traded of it, and the fee.
func (r *report) numbers(w *wire.Writer, s *subject) {
	id := int64(r.order.ID)
	if r.execution == "REJECTED" {
		id = -1
	}
	w.Int("i", id)

	last, price := bourse.Lots(0), bourse.Price(0)
	if r.trade != nil {
		last, price = r.trade.Lots, r.trade.Price
	}
	writeLots(w, "l", last, s.Market)
	writeLots(w, "z", r.order.Filled, s.Market)
	writePrice(w, "L", price, s.Market)
	if r.fill == nil {
		w.Word("n", "0")
		w.Null("N")
		return
	}
	asset := s.catalogue.Assets[s.Received(r.order.Side)]
	w.Word("n", binance.AmountText(r.fill.Fee, asset.Scale))
	w.Word("N", string(asset.Symbol))
}

// trades writes the number of the trade.
func (r *report) trades(w *wire.Writer) {
	if r.trade == nil {
		w.Int("t", -1)
		return
	}
	w.Uint("t", r.trade.Number)
}

// transfer stages a deposit or withdrawal of an account.
func (p *Publisher) transfer(t *bourse.Transfer) {
	if t.From != t.To {
		p.delta(t.From, t, "-")
		p.delta(t.To, t, "")
	}
}

// delta stages the change of an account's balance by a transfer.
func (p *Publisher) delta(account bourse.AccountID, t *bourse.Transfer, sign string) {
	topic := user(account)
	if !account.IsCustomer() || !p.feed.Wanted(topic) {
		return
	}
	asset, amount, now := p.catalogue.Assets[t.Asset], t.Amount, p.now
	p.feed.StageLater(topic, p.seq, func() []byte {
		const usual = 160 // bytes
		w := message(usual)
		w.Object()
		w.Word("e", "balanceUpdate")
		w.Int("E", millis(now))
		w.Word("a", string(asset.Symbol))
		w.Word("d", sign+binance.AmountText(amount, asset.Scale))
		w.Int("T", millis(now))
		return done(w)
	})
}

// balances stages the balances that a command changed, a message for each account.
func (p *Publisher) balances(ev *bourse.Events) {
	u := &p.users
	for i := range ev.Balances {
		b := &ev.Balances[i]
		if !p.feed.Wanted(user(b.Account)) {
			continue
		}
		list, known := u.balances[b.Account]
		if !known {
			u.touched = append(u.touched, b.Account)
		}
		u.balances[b.Account] = withBalance(list, b)
	}

	for _, account := range u.touched {
		catalogue, now, list := p.catalogue, p.now, u.balances[account]
		delete(u.balances, account)
		p.feed.StageLater(user(account), p.seq, func() []byte { return positionMessage(catalogue, now, list) })
	}
	u.touched = u.touched[:0]
}

// withBalance returns balances with a later one in the place of that of its asset.
func withBalance(list []bourse.Balance, later *bourse.Balance) []bourse.Balance {
	for i := range list {
		if list[i].Asset == later.Asset {
			list[i] = *later
			return list
		}
	}
	return append(list, *later)
}

// positionMessage returns balances.
func positionMessage(c *view.Catalogue, now bourse.Time, list []bourse.Balance) []byte {
	const usual = 256 // bytes
	w := message(usual)
	w.Object()
	w.Word("e", "outboundAccountPosition")
	w.Int("E", millis(now))
	w.Int("u", millis(now))
	w.Name("B")
	w.Array()
	for i := range list {
		asset := c.Assets[list[i].Asset]
		w.Object()
		w.Word("a", string(asset.Symbol))
		w.Word("f", binance.AmountText(list[i].Available, asset.Scale))
		w.Word("l", binance.AmountText(list[i].Held, asset.Scale))
		w.EndObject()
	}
	w.EndArray()
	return done(w)
}
