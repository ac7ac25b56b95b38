//go:build amd64 || arm64

package book

import "github.com/bourse-exchange/bourse"

// The memory of 100,000 open orders is more than what is near a processor, and an
// order that is far takes longer to come than all that is done with it. Here the
// processor is asked for it ahead of its turn, which changes nothing but time: in
// a book of 100,000 a cancel took 350 ns and takes 120 (see docs/performance.md).

// few orders are always near: half of a second cache of 512 KiB holds so many.
const few = 3_000

// Expect asks for orders that will soon be looked for by these ids, whether they
// are open or not. First for where the index has them, all at once, and then for
// the orders: one wait for each instead of one for each order.
func (a *Arena) Expect(ids []bourse.OrderID) {
	if a.open <= few {
		return
	}
	for _, id := range ids {
		if at := a.index.at(id); at != nil {
			prefetchSlot(at)
		}
	}
	for _, id := range ids {
		if s := a.index.get(id); s != 0 {
			prefetch(a.At(s), a.links(s))
		}
	}
}

// ExpectNext asks for the order behind s in its queue, which is the next to trade.
func (a *Arena) ExpectNext(s Slot) {
	if next := a.links(s).next; next != 0 {
		prefetch(a.At(next), a.links(next))
	}
}

// prefetch asks for an order and its links, without waiting for them.
//
//go:noescape
func prefetch(o *Order, l *links)

// prefetchSlot asks for a part of the index.
//
//go:noescape
func prefetchSlot(s *Slot)
