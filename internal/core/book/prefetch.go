//go:build amd64 || arm64

package book

import "github.com/bourse-exchange/bourse"

// The memory of 100,000 open orders exceeds the nearer caches, and a cache miss takes
// longer than all work on an order. These functions prefetch orders ahead of their turn
// and have no other effect: in a book of 100,000 orders a cancel took 350 ns without and
// takes 120 with them (see docs/performance.md).

// few is the number of orders that are always cached: they fill half of a second-level
// cache of 512 KiB.
const few = 3_000

// Expect prefetches the orders of upcoming commands by id, open or not. It first
// prefetches all index entries, then the orders: one wait for each of the two passes
// instead of one for each order.
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

// ExpectNext prefetches the order behind s in its queue, the next to trade.
func (a *Arena) ExpectNext(s Slot) {
	if next := a.links(s).next; next != 0 {
		prefetch(a.At(next), a.links(next))
	}
}

// prefetch prefetches an order and its links without waiting.
//
//go:noescape
func prefetch(o *Order, l *links)

// prefetchSlot prefetches an index entry without waiting.
//
//go:noescape
func prefetchSlot(s *Slot)
