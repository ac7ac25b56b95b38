package history

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// OrderFills is an order, open or final, with its fills, oldest first. Seq and Closed are
// zero while it is open. Fills are the ones that Filled counts.
type OrderFills struct {
	Order
	Fills []Fill
}

// Orders returns an account's orders that a query selects, open ones included, newest first.
// An order's time is the time of its acceptance.
func (r *Reader) Orders(ctx context.Context, account bourse.AccountID, q *ListQuery) ([]OrderFills, error) {
	span, err := r.orderSpan(ctx, account, q)
	if err != nil || span.empty() {
		return nil, err
	}

	var g *glimpse
	var list []Order
	if q.Oldest {
		list, g, err = r.oldestOrders(ctx, account, q.Market, Window{Span: span, Limit: q.Limit, Oldest: true})
	} else if q.Market == 0 {
		list, g, err = r.ordersSpan(ctx, account, span.page(q.Skip, q.Limit))
	} else if !span.page(q.Skip, q.Limit).empty() {
		list, g, err = r.ordersIn(ctx, account, q.Market, Window{Span: span, Skip: q.Skip, Limit: q.Limit})
	}
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return r.withFills(ctx, g, account, list)
}

// ordersSpan returns the orders of a span, and the glimpse that it used.
func (r *Reader) ordersSpan(ctx context.Context, account bourse.AccountID, span Span) ([]Order, *glimpse, error) {
	if span.empty() {
		return nil, nil, nil
	}

	// Each ordinal has its slot.
	slots := make([]Order, span.Last-span.First+1)
	for _, o := range r.live.OpenOrdersSpan(account, 0, span.First, span.Last, math.MaxInt) {
		slots[o.Ordinal-span.First].Order = o
	}

	g := r.tail.glimpse()
	for _, c := range g.chunks {
		for _, e := range c.find(ordersByAccount, uint64(account), span) {
			slots[e.order-span.First] = c.Orders[e.at]
		}
	}

	if missing := unfilled(slots, span); !missing.empty() {
		if err := r.reach(ctx, g.begin); err != nil {
			return nil, nil, err
		}
		stored, err := r.store.Orders(ctx, account, missing)
		if err != nil {
			return nil, nil, r.told(err)
		}
		for i := range stored {
			slots[stored[i].Ordinal-span.First] = stored[i]
		}
	}

	slots = slices.DeleteFunc(slots, func(o Order) bool { return o.ID == 0 })
	slices.Reverse(slots)
	return slots, g, nil
}

// unfilled returns the span from the first to the last empty slot.
func unfilled(slots []Order, span Span) Span {
	for span.First <= span.Last && slots[0].ID != 0 {
		slots, span.First = slots[1:], span.First+1
	}
	for span.First <= span.Last && slots[len(slots)-1].ID != 0 {
		slots, span.Last = slots[:len(slots)-1], span.Last-1
	}
	return span
}

// ordersIn returns orders of one market, and the glimpse that it used.
func (r *Reader) ordersIn(
	ctx context.Context, account bourse.AccountID, market bourse.MarketID, w Window,
) ([]Order, *glimpse, error) {
	// Only so many of the newest orders can be on the page or before it.
	most := w.Skip + w.Limit
	var open []Order
	for _, o := range r.live.OpenOrdersSpan(account, market, w.First, w.Last, most) {
		open = append(open, Order{Order: o})
	}

	g := r.tail.glimpse()
	young := merge(g.ordersIn(account, market, w.Span, most), open, newestOrder)
	if err := r.reach(ctx, g.begin); err != nil {
		return nil, nil, err
	}

	// The glimpse has the rows of all commands after begin; the store has the rows up to it.
	// Orders end in any order: a page begins in the store at most len(young) rows earlier.
	w.Until = g.begin
	ask := w
	ask.Skip = max(0, w.Skip-len(young))
	ask.Limit = w.Skip - ask.Skip + w.Limit
	stored, err := r.store.OrdinalsIn(ctx, account, market, ask)
	if err != nil {
		return nil, nil, r.told(err)
	}

	ordinals := make([]uint64, len(young))
	for i := range young {
		ordinals[i] = young[i].Ordinal
	}
	at := weave(ordinals, stored, ask.Skip, w.Skip, w.Limit)
	list, err := ordersAt(at, young, func(span Span) ([]Order, error) {
		return r.store.OrdersIn(ctx, account, market, Window{Span: span, Until: w.Until, Limit: len(at)})
	})
	return list, g, r.told(err)
}

// oldestOrders returns the oldest orders of one market in a span, newest first, and the glimpse
// that it used.
func (r *Reader) oldestOrders(
	ctx context.Context, account bourse.AccountID, market bourse.MarketID, w Window,
) ([]Order, *glimpse, error) {
	var open []Order
	for _, o := range r.live.OpenOrdersSpan(account, market, w.First, w.Last, math.MaxInt) {
		open = append(open, Order{Order: o})
	}
	g := r.tail.glimpse()
	young := merge(g.ordersIn(account, market, w.Span, math.MaxInt), open, newestOrder)
	if err := r.reach(ctx, g.begin); err != nil {
		return nil, nil, err
	}
	w.Until = g.begin // as in ordersIn: the store's other rows are in the glimpse
	stored, err := r.store.OrdersIn(ctx, account, market, w)
	if err != nil {
		return nil, nil, r.told(err)
	}
	list := merge(young, stored, newestOrder)
	return list[max(0, len(list)-w.Limit):], g, nil
}

// ordersAt returns the orders at ordinals: young ones, and rows that stored reads.
func ordersAt(at []uint64, young []Order, stored func(Span) ([]Order, error)) ([]Order, error) {
	if len(at) == 0 {
		return nil, nil
	}
	span := Span{First: at[len(at)-1], Last: at[0]}
	list := slices.DeleteFunc(young, func(o Order) bool { return !span.has(o.Ordinal) })
	if len(list) == len(at) {
		return list, nil
	}
	older, err := stored(span)
	return merge(list, older, newestOrder), err
}

// newestOrder compares by descending ordinal.
func newestOrder(a, b Order) int { return cmp.Compare(b.Ordinal, a.Ordinal) }

// ordersIn returns the final orders of one market with ordinals in a span, of each chunk
// the newest n.
func (g *glimpse) ordersIn(account bourse.AccountID, market bourse.MarketID, span Span, n int) []Order {
	var found []Order
	for _, c := range g.chunks {
		list := c.find(ordersByMarket, marketKey(account, market), span)
		for _, e := range list[max(0, len(list)-n):] {
			found = append(found, c.Orders[e.at])
		}
	}
	return found
}

// Order returns one order of an account, open or final; false if there is none.
func (r *Reader) Order(ctx context.Context, account bourse.AccountID, id bourse.OrderID) (OrderFills, bool, error) {
	open, isOpen := r.live.OpenOrder(account, id)
	g := r.tail.glimpse()
	o, found := g.order(account, id)
	switch {
	case found:
	case isOpen:
		o = Order{Order: open}
	default:
		return r.storedOrder(ctx, g, account, func() (Order, bool, error) {
			return r.store.Order(ctx, account, id)
		})
	}
	return r.oneWithFills(ctx, g, account, o)
}

// OrderNamed returns an account's latest order with a client id, open or final;
// false if there is none.
func (r *Reader) OrderNamed(
	ctx context.Context, account bourse.AccountID, name bourse.ClientID,
) (OrderFills, bool, error) {
	open, isOpen := r.live.OpenOrderNamed(account, name)
	g := r.tail.glimpse()
	o, found := g.orderNamed(account, name)
	switch {
	case isOpen && open.Ordinal > o.Ordinal:
		o = Order{Order: open}
	case found:
	default:
		return r.storedOrder(ctx, g, account, func() (Order, bool, error) {
			return r.store.OrderNamed(ctx, account, name)
		})
	}
	return r.oneWithFills(ctx, g, account, o)
}

// FillsOfOpen returns open orders, which are newest first, with their fills.
func (r *Reader) FillsOfOpen(
	ctx context.Context, account bourse.AccountID, open []bourse.Order,
) ([]OrderFills, error) {
	orders := make([]Order, len(open))
	for i := range open {
		orders[i].Order = open[i]
	}
	return r.withFills(ctx, r.tail.glimpse(), account, orders)
}

// storedOrder returns an order of the store, once the store has the rows that the glimpse
// lacks.
func (r *Reader) storedOrder(
	ctx context.Context, g *glimpse, account bourse.AccountID, get func() (Order, bool, error),
) (OrderFills, bool, error) {
	if err := r.reach(ctx, g.begin); err != nil {
		return OrderFills{}, false, err
	}
	o, found, err := get()
	if err != nil || !found {
		return OrderFills{}, false, r.told(err)
	}
	return r.oneWithFills(ctx, g, account, o)
}

func (r *Reader) oneWithFills(
	ctx context.Context, g *glimpse, account bourse.AccountID, o Order,
) (OrderFills, bool, error) {
	list, err := r.withFills(ctx, g, account, []Order{o})
	if err != nil {
		return OrderFills{}, false, err
	}
	return list[0], true, nil
}

// order returns a final order. Ordinals rise with ids, so that the rows of an account are
// in the order of ids, too.
func (g *glimpse) order(account bourse.AccountID, id bourse.OrderID) (Order, bool) {
	for _, c := range slices.Backward(g.chunks) {
		list := c.find(ordersByAccount, uint64(account), Span{1, ^uint64(0)})
		at, found := slices.BinarySearchFunc(list, id, func(e entry, id bourse.OrderID) int {
			return cmp.Compare(c.Orders[e.at].ID, id)
		})
		if found {
			return c.Orders[list[at].at], true
		}
	}
	return Order{}, false
}

// orderNamed returns the latest final order with a client id.
func (g *glimpse) orderNamed(account bourse.AccountID, name bourse.ClientID) (latest Order, found bool) {
	for _, c := range g.chunks {
		for _, e := range c.find(ordersByName, nameKey(account, &name), Span{latest.Ordinal + 1, ^uint64(0)}) {
			if o := &c.Orders[e.at]; o.Account == account && o.ClientID == name && o.Ordinal > latest.Ordinal {
				latest, found = *o, true
			}
		}
	}
	return latest, found
}

// withFills adds the fills to an account's orders, which are newest first and were read
// with the glimpse.
func (r *Reader) withFills(
	ctx context.Context, g *glimpse, account bourse.AccountID, orders []Order,
) ([]OrderFills, error) {
	list := make([]OrderFills, len(orders))
	for i := range orders {
		list[i].Order = orders[i]
	}
	g.addFills(account, list)

	var ask []bourse.OrderID
	for i := range list {
		if o := &list[i]; o.Filled > 0 && !g.complete(o) {
			ask = append(ask, o.ID)
		}
	}

	if len(ask) > 0 {
		if err := r.addStored(ctx, g, account, ask, list); err != nil {
			return nil, err
		}
	}

	for i := range list {
		list[i].clip()
	}
	return list, nil
}

// addFills adds the glimpse's fills to orders, which are newest first.
func (g *glimpse) addFills(account bourse.AccountID, list []OrderFills) {
	for _, c := range slices.Backward(g.chunks) {
		// A few fills look up their orders; else each order looks up its fills.
		fills := c.find(fillsByAccount, uint64(account), Span{1, ^uint64(0)})
		if !c.sealed || len(fills) <= len(list) {
			for _, e := range slices.Backward(fills) {
				add(list, &c.Fills[e.at])
			}
			continue
		}
		for i := range list {
			list[i].addFrom(c)
		}
	}
	for i := range list {
		slices.Reverse(list[i].Fills)
	}
}

// add appends a fill to its order, if the list has it.
func add(list []OrderFills, f *Fill) {
	at, found := slices.BinarySearchFunc(list, f.Order, func(o OrderFills, id bourse.OrderID) int {
		return cmp.Compare(id, o.ID) // descending
	})
	if found {
		list[at].Fills = append(list[at].Fills, *f)
	}
}

// addFrom adds the fills of a chunk, newest first, if there can be any: most orders begin
// and end within few chunks.
func (o *OrderFills) addFrom(c *chunk) {
	if o.Filled == 0 || o.Status != bourse.Open && (o.Seq < c.From || o.filled() == o.Filled) {
		return
	}
	for _, e := range slices.Backward(c.find(fillsByOrder, uint64(o.ID), Span{1, ^uint64(0)})) {
		o.Fills = append(o.Fills, c.Fills[e.at])
	}
}

// filled adds up the lots of the fills.
func (o *OrderFills) filled() bourse.Lots {
	var sum bourse.Lots
	for i := range o.Fills {
		sum += o.Fills[i].Lots
	}
	return sum
}

// complete reports whether the glimpse has all fills of an order. Those of a final order
// add up to Filled. An open order may have fills younger than the view's Filled, so that
// their sum proves nothing.
func (g *glimpse) complete(o *OrderFills) bool {
	if g.begin == 0 {
		return true
	}
	return o.Status != bourse.Open && o.filled() == o.Filled
}

// addStored adds the store's fills to orders.
func (r *Reader) addStored(
	ctx context.Context, g *glimpse, account bourse.AccountID, ids []bourse.OrderID, list []OrderFills,
) error {
	if err := r.reach(ctx, g.begin); err != nil {
		return err
	}

	stored, err := r.store.FillsOf(ctx, account, ids)
	if err != nil {
		return r.told(err)
	}

	of := make(map[bourse.OrderID][]Fill, len(ids))
	for _, f := range stored {
		of[f.Order] = append(of[f.Order], f)
	}

	for i := range list {
		if more := of[list[i].ID]; len(more) > 0 {
			list[i].Fills = merge(list[i].Fills, more, oldestFill)
		}
	}
	return nil
}

// oldestFill compares by ordinal.
func oldestFill(a, b Fill) int { return cmp.Compare(a.Ordinal, b.Ordinal) }

// clip removes the fills that are younger than the order's Filled.
func (o *OrderFills) clip() {
	var sum bourse.Lots
	for i := range o.Fills {
		if sum == o.Filled {
			o.Fills = o.Fills[:i]
			return
		}
		sum += o.Fills[i].Lots
	}
}
