package view

import "github.com/bourse-exchange/bourse"

// Top is the best level of each side of a book, and the number of the last level change
// included.
type Top struct {
	Seq uint64
	Best
}

// Top returns the best levels of a market's book; the market must exist.
func (v *View) Top(id bourse.MarketID) Top {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.TopNow(id)
}

// TopNow is Top for the goroutine that observes, between Begin and End.
func (v *View) TopNow(id bourse.MarketID) Top {
	if int(id) >= len(v.books) || v.books[id] == nil {
		return Top{}
	}
	d := v.books[id]
	t := Top{Seq: d.seq}
	t.Bid, t.BidLots, _ = d.bids.Max()
	t.Ask, t.AskLots, _ = d.asks.Min()
	return t
}
