package history

import (
	"cmp"
	"slices"
	"sync"

	"github.com/bourse-exchange/bourse"
)

// chunk is a run of the tail's rows. It never changes once a reader can see it.
type chunk struct {
	Batch
	// last is the last command with rows here.
	last bourse.Seq
	// sealed is true for a chunk that no longer one will replace: only such a chunk is
	// worth an index.
	sealed bool
	// number counts the sealed chunks from one.
	number  uint64
	indexes [columns]index
}

// column is a way to find rows: by a key, and by an order among the rows of that key.
type column int

const (
	// By account, and by account and market, in the order of ordinals.
	ordersByAccount column = iota
	ordersByMarket
	fillsByAccount
	fillsByMarket
	// By account and client id, in the order of ordinals; two client ids may share a key.
	ordersByName
	// By order, in the order of the account's ordinals.
	fillsByOrder
	// By order, in the order of commands.
	amendmentsByOrder
	// By market, in the order of numbers.
	tradesByMarket
	// By account, either side of the transfer, in the order of the chunk.
	transfersByAccount
	// By account, in the order of the chunk: an ordinal may occur again.
	movementsByAccount
	columns
)

// index lists a chunk's rows by a column. The first reader that needs it builds
// it, so that the engine's goroutine never does.
type index struct {
	once    sync.Once
	entries []entry
}

// entry is the position of a row in its list, under its key and order.
type entry struct {
	key, order uint64
	at         int
}

// find returns the rows with a key whose order lies in the span, ascending.
func (c *chunk) find(col column, key uint64, span Span) []entry {
	if !c.sealed {
		return c.scan(col, key, span)
	}
	x := &c.indexes[col]
	x.once.Do(func() {
		c.each(col, func(e entry) { x.entries = append(x.entries, e) })
		sortEntries(x.entries)
	})
	from, _ := slices.BinarySearchFunc(x.entries, entry{key: key, order: span.First}, compareEntries)
	rest := x.entries[from:]
	to, found := slices.BinarySearchFunc(rest, entry{key: key, order: span.Last}, compareEntries)
	if found {
		to++ // no two rows of a key have the same order
	}
	return rest[:to]
}

// scan is find without an index.
func (c *chunk) scan(col column, key uint64, span Span) []entry {
	var found []entry
	c.each(col, func(e entry) {
		if e.key == key && e.order >= span.First && e.order <= span.Last {
			found = append(found, e)
		}
	})
	sortEntries(found)
	return found
}

func sortEntries(list []entry) {
	if !slices.IsSortedFunc(list, compareEntries) {
		slices.SortFunc(list, compareEntries)
	}
}

func compareEntries(a, b entry) int {
	if c := cmp.Compare(a.key, b.key); c != 0 {
		return c
	}
	return cmp.Compare(a.order, b.order)
}

// each visits the entries of a column.
func (c *chunk) each(col column, visit func(entry)) {
	switch col {
	case ordersByAccount, ordersByMarket, ordersByName:
		for i := range c.Orders {
			if o := &c.Orders[i]; col != ordersByName || !o.ClientID.IsZero() {
				visit(entry{orderKey(col, o), o.Ordinal, i})
			}
		}

	case fillsByAccount, fillsByMarket, fillsByOrder:
		for i := range c.Fills {
			visit(entry{fillKey(col, &c.Fills[i]), c.Fills[i].Ordinal, i})
		}

	case amendmentsByOrder:
		for i := range c.Amendments {
			visit(entry{uint64(c.Amendments[i].Order), uint64(c.Amendments[i].Seq), i})
		}

	case tradesByMarket:
		for i := range c.Trades {
			visit(entry{uint64(c.Trades[i].Market), c.Trades[i].Number, i})
		}

	case transfersByAccount:
		for i := range c.Transfers {
			t := &c.Transfers[i]
			visit(entry{uint64(t.From), uint64(i), i})
			if t.To != t.From {
				visit(entry{uint64(t.To), uint64(i), i})
			}
		}

	case movementsByAccount:
		for i := range c.Movements {
			visit(entry{uint64(c.Movements[i].Account), uint64(i), i})
		}

	default:
		bourse.Impossible("history has no column %d", col)
	}
}

func orderKey(col column, o *Order) uint64 {
	switch col {
	case ordersByMarket:
		return marketKey(o.Account, o.Market)
	case ordersByName:
		return nameKey(o.Account, &o.ClientID)
	default:
		return uint64(o.Account)
	}
}

func fillKey(col column, f *Fill) uint64 {
	switch col {
	case fillsByMarket:
		return marketKey(f.Account, f.Market)
	case fillsByOrder:
		return uint64(f.Order)
	default:
		return uint64(f.Account)
	}
}

func marketKey(account bourse.AccountID, market bourse.MarketID) uint64 {
	return uint64(account)<<16 | uint64(market)
}

// nameKey hashes an account's client id (FNV-1a). A client that chooses colliding ids
// slows down only the search for them.
func nameKey(account bourse.AccountID, id *bourse.ClientID) uint64 {
	const basis, prime = 14695981039346656037, 1099511628211
	h := (basis ^ uint64(account)) * prime
	for _, c := range id {
		h = (h ^ uint64(c)) * prime
	}
	return h
}
