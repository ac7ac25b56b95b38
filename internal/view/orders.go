package view

import (
	"cmp"
	"iter"
	"slices"
	"sort"

	"github.com/bourse-exchange/bourse"
)

// openOrder is the slot of an account's open order. The IDs are adjacent, so that a
// search touches few cache lines.
type openOrder struct {
	id   bourse.OrderID
	slot slot
}

// slot is the index of an order in [orders].
type slot uint32

const (
	chunkBits = 10
	chunkSize = 1 << chunkBits
)

// orders holds the open orders of all accounts in chunks without pointers, which the
// garbage collector does not scan. Slots of closed orders are reused.
type orders struct {
	chunks []*[chunkSize]bourse.Order
	free   []slot
	used   slot
}

func (o *orders) at(s slot) *bourse.Order { return &o.chunks[s>>chunkBits][s%chunkSize] }

// keep copies an order into a slot.
func (o *orders) keep(order *bourse.Order) slot {
	s := o.used
	if last := len(o.free) - 1; last >= 0 {
		s, o.free = o.free[last], o.free[:last]
	} else {
		if int(s>>chunkBits) == len(o.chunks) {
			o.chunks = append(o.chunks, new([chunkSize]bourse.Order))
		}
		o.used++
	}
	*o.at(s) = *order
	return s
}

// newest yields an account's open orders, newest first.
func (o *orders) newest(open []openOrder) iter.Seq[*bourse.Order] {
	return func(yield func(*bourse.Order) bool) {
		for _, entry := range slices.Backward(open) {
			if !yield(o.at(entry.slot)) {
				return
			}
		}
	}
}

func (v *View) foldTrade(t *bourse.Trade) {
	v.foldFill(&t.Maker)
	v.foldFill(&t.Taker)
}

func (v *View) foldFill(f *bourse.Fill) {
	a := v.account(f.Account)
	a.Fills = f.Ordinal
	a.toldOrder(f.UpdateSeq)
	if at, found := a.search(f.Order); found {
		v.orders.at(a.open[at].slot).Filled = f.Filled
	}
}

func (v *View) openOrder(e bourse.Event, o *bourse.Order) {
	a := v.account(o.Account)
	a.toldOrder(e.StreamSeq)
	if e.Kind == bourse.EventOrderAccepted {
		a.Orders = o.Ordinal // a restored account has its count already
	}
	a.open = append(a.open, openOrder{o.ID, v.orders.keep(o)}) // IDs ascend
	if len(a.rejections) > 0 {
		a.forgetRejection(&o.ClientID)
	}
}

func (v *View) triggerOrder(e bourse.Event, o *bourse.Order) {
	v.account(o.Account).toldOrder(e.StreamSeq)
	if o := v.Open(o.Account, o.ID); o != nil {
		o.Triggered = true
	}
}

func (v *View) amendOrder(e bourse.Event, to *bourse.Order) {
	v.account(to.Account).toldOrder(e.StreamSeq)
	if o := v.Open(to.Account, to.ID); o != nil {
		o.Price, o.Lots, o.Amended = to.Price, to.Lots, true
	}
}

func (v *View) preventOrder(e bourse.Event, now *bourse.Order) {
	v.account(now.Account).toldOrder(e.StreamSeq)
	if o := v.Open(now.Account, now.ID); o != nil {
		o.Prevented = now.Prevented
	}
}

func (v *View) closeOrder(e bourse.Event, o *bourse.Order) {
	a := v.account(o.Account)
	a.toldOrder(e.StreamSeq)
	at, found := a.search(o.ID)
	if !found {
		return
	}
	v.orders.free = append(v.orders.free, a.open[at].slot)
	a.open = slices.Delete(a.open, at, at+1)
}

// search finds an open order. It tries the newest first, the likeliest one.
func (a *account) search(id bourse.OrderID) (int, bool) {
	if n := len(a.open); n > 0 && a.open[n-1].id == id {
		return n - 1, true
	}
	from, to := 0, len(a.open)
	for from < to {
		if at := int(uint(from+to) >> 1); a.open[at].id < id {
			from = at + 1
		} else {
			to = at
		}
	}
	return from, from < len(a.open) && a.open[from].id == id
}

// OpenOrder returns an open order of an account; false if there is none.
func (v *View) OpenOrder(id bourse.AccountID, order bourse.OrderID) (bourse.Order, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if o := v.Open(id, order); o != nil {
		return *o, true
	}
	return bourse.Order{}, false
}

// Open returns an open order, or nil. It belongs to the goroutine that observes, between
// Begin and End; the result is valid until the next Observe.
func (v *View) Open(id bourse.AccountID, order bourse.OrderID) *bourse.Order {
	if a := v.find(id); a != nil {
		if at, found := a.search(order); found {
			return v.orders.at(a.open[at].slot)
		}
	}
	return nil
}

// mostLooked bounds the open orders that MayHaveOpen examines.
const mostLooked = 1000

// MayHaveOpen reports whether an account has open orders in a market, zero for any
// market. For an account with more than mostLooked open orders it reports true without
// examining them.
func (v *View) MayHaveOpen(id bourse.AccountID, market bourse.MarketID) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	a := v.find(id)
	if a == nil {
		return false
	}
	if market == 0 || len(a.open) > mostLooked {
		return len(a.open) > 0
	}

	for o := range v.orders.newest(a.open) {
		if o.Market == market {
			return true
		}
	}
	return false
}

// OpenOrderNamed returns the open order of an account with a client ID.
func (v *View) OpenOrderNamed(id bourse.AccountID, name bourse.ClientID) (bourse.Order, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if a := v.find(id); a != nil {
		for o := range v.orders.newest(a.open) {
			if o.ClientID == name {
				return *o, true
			}
		}
	}
	return bourse.Order{}, false
}

// OpenOrders returns copies of an account's open orders, newest first: at most limit,
// after skip of them. only restricts them to one market, first puts those of one market
// in front; zero means neither.
func (v *View) OpenOrders(id bourse.AccountID, only, first bourse.MarketID, skip, limit int) []bourse.Order {
	v.mu.RLock()
	defer v.mu.RUnlock()
	a := v.find(id)
	if a == nil {
		return nil
	}
	page := page{skip: skip, limit: limit}
	open := v.orders.newest(a.open)
	if only != 0 || first == 0 {
		page.add(open, func(o *bourse.Order) bool { return only == 0 || o.Market == only })
		return page.orders
	}
	page.add(open, func(o *bourse.Order) bool { return o.Market == first })
	page.add(open, func(o *bourse.Order) bool { return o.Market != first })
	return page.orders
}

// OpenOrderCount returns the number of an account's open orders.
func (v *View) OpenOrderCount(id bourse.AccountID) int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if a := v.find(id); a != nil {
		return len(a.open)
	}
	return 0
}

// OpenOrdersBelow copies an account's open orders with ids below a bound into page, newest
// first, as many as fit. It returns the copies, and the position of the last event in the
// stream of the account's orders. Trading waits for the copy, so a page should be short.
func (v *View) OpenOrdersBelow(
	id bourse.AccountID, below bourse.OrderID, page []bourse.Order,
) ([]bourse.Order, uint64) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	a := v.find(id)
	if a == nil {
		return nil, 0
	}

	end, _ := a.search(below)
	n := 0
	for o := range v.orders.newest(a.open[:end]) {
		if n == len(page) {
			break
		}
		page[n] = *o
		n++
	}
	return page[:n], a.Streams.Orders
}

// page collects a page of orders.
type page struct {
	skip, limit int
	orders      []bourse.Order
}

// add adds the orders that pass the filter, newest first.
func (p *page) add(open iter.Seq[*bourse.Order], filter func(*bourse.Order) bool) {
	for o := range open {
		switch {
		case len(p.orders) == p.limit:
			return
		case !filter(o):
		case p.skip > 0:
			p.skip--
		default:
			p.orders = append(p.orders, *o)
		}
	}
}

// OpenOrderUpTo returns the highest ordinal of an account's open order with an id up to
// order and accepted up to a time; zero if there is none.
func (v *View) OpenOrderUpTo(id bourse.AccountID, order bourse.OrderID, t bourse.Time) uint64 {
	v.mu.RLock()
	defer v.mu.RUnlock()
	a := v.find(id)
	if a == nil {
		return 0
	}
	end := sort.Search(len(a.open), func(i int) bool {
		return a.open[i].id > order || v.orders.at(a.open[i].slot).Time > t
	})
	if end == 0 {
		return 0
	}
	return v.orders.at(a.open[end-1].slot).Ordinal
}

// OpenOrdersSpan returns copies of an account's open orders with ordinals in [first,
// last], newest first: at most limit, of the market only, or, with only zero, of all.
func (v *View) OpenOrdersSpan(
	id bourse.AccountID, only bourse.MarketID, first, last uint64, limit int,
) []bourse.Order {
	v.mu.RLock()
	defer v.mu.RUnlock()
	a := v.find(id)
	if a == nil {
		return nil
	}

	// Ordinals ascend with IDs.
	ordinal := func(o openOrder, n uint64) int { return cmp.Compare(v.orders.at(o.slot).Ordinal, n) }
	begin, _ := slices.BinarySearchFunc(a.open, first, ordinal)
	end, _ := slices.BinarySearchFunc(a.open, last+1, ordinal)
	if begin >= end {
		return nil
	}

	page := page{limit: limit}
	page.add(v.orders.newest(a.open[begin:end]), func(o *bourse.Order) bool { return only == 0 || o.Market == only })
	return page.orders
}
