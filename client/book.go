package client

import "slices"

// Book is a market's book, kept from its stream: the exchange's own at Seq. The zero Book with a
// Pair is empty until events are applied. Not safe for concurrent use.
type Book struct {
	Pair string
	// Seq is the number of the last message that was applied.
	Seq uint64
	// bids and asks begin with the best level.
	bids, asks []Row
}

// Apply applies an event of the stream BookOf(Pair), and reports whether it was one.
func (b *Book) Apply(e Event) bool {
	if e.Stream != BookOf(b.Pair) {
		return false
	}
	switch m := e.Message.(type) {
	case *Reset:
		b.bids, b.asks = m.Book.Bids, m.Book.Asks
	case *Level:
		b.set(m)
	default:
		return false
	}
	b.Seq = e.Seq
	return true
}

// set sets the amount of a level.
func (b *Book) set(l *Level) {
	levels, better := &b.bids, -1
	if l.Side == Sell {
		levels, better = &b.asks, 1
	}

	at, found := slices.BinarySearchFunc(*levels, l.Price, func(row Row, price Decimal) int {
		return better * row.Price.Cmp(price)
	})
	switch {
	case l.Amount.IsZero() && found:
		*levels = slices.Delete(*levels, at, at+1)
	case l.Amount.IsZero():
	case found:
		(*levels)[at].Amount = l.Amount
	default:
		*levels = slices.Insert(*levels, at, Row{l.Price, l.Amount})
	}
}

// Bids returns the levels of buyers, the highest first. They are valid until the next Apply.
func (b *Book) Bids() []Row { return slices.Clip(b.bids) }

// Asks returns the levels of sellers, the lowest first. They are valid until the next Apply.
func (b *Book) Asks() []Row { return slices.Clip(b.asks) }
