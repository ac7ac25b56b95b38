package enginetest

import (
	"math/big"
	"strconv"

	"github.com/bourse-exchange/bourse"
)

// amend changes the terms of an open order.
func (x *Oracle) amend(cmd *bourse.Command) {
	for _, m := range x.markets {
		for _, o := range m.open {
			if o.ID == cmd.Order && o.Account == cmd.Account {
				x.amendOrder(m, o, &cmd.NewOrder)
				return
			}
		}
	}
	x.ev.Refuse(bourse.OrderNotFound)
}

func (x *Oracle) amendOrder(m *market, o *order, to *bourse.NewOrder) {
	next := &order{Order: o.Order, where: o.where}
	if to.Price != 0 {
		next.Price = to.Price
	}
	if to.Lots != 0 {
		next.Lots = to.Lots
	}

	same := next.Order == o.Order && !o.unpriced()
	if !same || o.Filled+o.Prevented >= next.Lots || m.State == bourse.MarketHalted {
		if reason := x.amendable(m, o, next); reason != 0 {
			x.ev.Refuse(reason)
			return
		}
		x.enforce(m, o, next)
	}
	x.ev.Outcome = bourse.Outcome{ID: uint64(o.ID), Status: o.Status, Filled: o.Filled, Repeated: same}
}

// amendable returns the reason for which an order cannot have its next terms, or changes
// its hold and returns zero.
func (x *Oracle) amendable(m *market, o, next *order) bourse.Reason {
	if m.State == bourse.MarketHalted {
		return bourse.MarketHaltedNow
	}
	if o.unpriced() {
		return bourse.NotAmendable
	}
	if next.Lots <= o.Filled+o.Prevented {
		return bourse.NothingLeft
	}
	if reason := x.agreeable(m, o, next); reason != 0 {
		return reason
	}

	need := m.base(next.left())
	if o.Side == bourse.Buy {
		need = m.value(next.Price, next.left())
	}
	if o.list != nil {
		return x.amendListed(o, need)
	}
	p := x.purse(o.Account, o.holds)
	more := new(big.Int).Sub(need, &o.held)
	if p.available.Cmp(more) < 0 {
		return bourse.InsufficientFunds
	}
	if more.Sign() > 0 && !x.mayGive(o.Account, o.holds, more) {
		return bourse.TradeLimit
	}
	p.available.Sub(&p.available, more)
	p.held.Add(&p.held, more)
	o.held.Set(need)
	return 0
}

// agreeable checks the next terms of an order: its least value if it has but fewer lots,
// and otherwise all that a new order must fulfil.
func (x *Oracle) agreeable(m *market, o, next *order) bourse.Reason {
	if next.Price == o.Price && next.Lots < o.Lots {
		if m.value(min(next.Price, m.price()), next.Lots).Cmp(fromAmount(m.MinOrder)) < 0 {
			return bourse.BelowMinOrder
		}
		return 0
	}

	if x.accounts[o.Account-1].frozen {
		return bourse.AccountFrozen
	}
	if !x.tradable(m) {
		return bourse.MarketClosed
	}
	anew := &order{Order: next.Order}
	if o.where == resting {
		anew.Type, anew.Stop = bourse.Limit, 0
	}
	anew.Account = 0 // no account, so that the order itself does not count as open
	_, reason := x.needOfLimit(m, anew)
	return reason
}

// enforce gives an order its next terms.
func (x *Oracle) enforce(m *market, o, next *order) {
	lessened := next.Price == o.Price && next.Lots < o.Lots
	moved := next.Price != o.Price
	x.ev.Former = bourse.Terms{Price: o.Price, Lots: o.Lots}
	o.Price, o.Lots, o.Amended = next.Price, next.Lots, true
	x.tell(bourse.EventOrderAmended, o)

	if o.where != resting || lessened {
		return
	}
	if moved {
		x.around = m.price()
		x.work(m, o, o.Price, false)
		x.drain(m)
		return
	}
	x.arrivals++
	o.arrival = x.arrivals
}

// amend runs amend ACCOUNT ORDER [price=100] [amount=0.5].
func (s *Script) amend(words []string) error {
	plain, set := split(words)
	if err := want(plain, 2); err != nil {
		return err
	}
	var r reader
	id, err := s.accountNamed(plain[0])
	read(&r, 0, err)
	number, err := strconv.ParseUint(plain[1], 10, 64)
	read(&r, 0, err)
	if r.err != nil {
		return r.err
	}

	cmd := bourse.Command{Kind: bourse.CommandAmend, Account: id, Order: bourse.OrderID(number)}
	m := s.marketOf(cmd.Order)
	s.numbers(&r, &cmd.NewOrder, m, set["amount"], options{"price": set["price"]})
	if r.err != nil {
		return r.err
	}
	return s.apply(&cmd)
}

// marketOf returns the market of an open order, or the first one.
func (s *Script) marketOf(id bourse.OrderID) *bourse.Market {
	for _, m := range s.pair.Oracle.markets {
		for _, o := range m.open {
			if o.ID == id {
				return &m.Market
			}
		}
	}
	return s.market(1)
}

// amend draws an amendment: of an open order's price, quantity or both, rarely to the same
// terms, and rarely of an order that is not there.
func (w *Workload) amend() bourse.Command {
	cancel := w.changeOne()
	cmd := bourse.Command{Kind: bourse.CommandAmend, Account: cancel.Account, Order: cancel.Order}
	p := &cmd.NewOrder
	p.Lots = bourse.Lots(w.large(w.between(1, w.shape.lots), uint64(bourse.MaxLots)))
	switch w.src.Below(4) {
	case 0:
		p.Price = w.price()
	case 1:
		p.Price, p.Lots = w.price(), 0
	default:
	}

	for _, m := range w.oracle.markets {
		for _, o := range m.open {
			switch {
			case o.ID != cmd.Order:
			case w.chance(40): // less, more or the same by little
				p.Lots = min(max(3, o.Lots)+2-bourse.Lots(w.src.Below(5)), bourse.MaxLots)
			case w.chance(10): // most likely more than the account can hold
				p.Lots = bourse.MaxLots >> w.src.Below(62)
			}
		}
	}
	return cmd
}
