package view

import (
	"github.com/tidwall/btree"

	"github.com/bourse-exchange/bourse"
)

// depth is the open orders of a market, by level.
type depth struct {
	market *bourse.Market
	// seq is the number of the last level change.
	seq        uint64
	bids, asks btree.Map[bourse.Price, bourse.Lots]
}

// Depth is a market's book at one moment.
type Depth struct {
	Market *bourse.Market
	// Seq is the number of the last level change included.
	Seq        uint64
	bids, asks *btree.Map[bourse.Price, bourse.Lots]
}

func (v *View) book(id bourse.MarketID) *depth {
	if missing := int(id) + 1 - len(v.books); missing > 0 {
		v.books = append(v.books, make([]*depth, missing)...)
	}
	if v.books[id] == nil {
		v.books[id] = new(depth)
	}
	return v.books[id]
}

func (v *View) foldLevel(l *bourse.Level) {
	d := v.book(l.Market)
	d.seq = l.Seq
	side := &d.bids
	if l.Side == bourse.Sell {
		side = &d.asks
	}
	if l.Lots == 0 {
		side.Delete(l.Price)
	} else {
		side.Set(l.Price, l.Lots)
	}
}

// Depth returns a market's current book; the market must exist. The trees are shared
// copy-on-write, so a book of any size costs the writer nothing.
func (v *View) Depth(id bourse.MarketID) Depth {
	v.mu.Lock() // Copy writes to the tree that it copies
	defer v.mu.Unlock()
	d := v.book(id)
	return Depth{Market: d.market, Seq: d.seq, bids: d.bids.Copy(), asks: d.asks.Copy()}
}

// Bids yields the bids, highest price first.
func (d Depth) Bids(yield func(bourse.Price, bourse.Lots) bool) { d.bids.Reverse(yield) }

// Asks yields the asks, lowest price first.
func (d Depth) Asks(yield func(bourse.Price, bourse.Lots) bool) { d.asks.Scan(yield) }

// BookSeq returns the number of a market's last level change.
func (v *View) BookSeq(id bourse.MarketID) uint64 {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if int(id) < len(v.books) && v.books[id] != nil {
		return v.books[id].seq
	}
	return 0
}

// Best is the best level of each side of a book; zero for a side without orders.
type Best struct {
	Bid, Ask         bourse.Price
	BidLots, AskLots bourse.Lots
}

// Bests returns the best levels of some markets, all at one moment.
func (v *View) Bests(markets []*bourse.Market) []Best {
	list := make([]Best, len(markets))
	v.mu.RLock()
	defer v.mu.RUnlock()
	for i, m := range markets {
		d, b := v.books[m.ID], &list[i]
		b.Bid, b.BidLots, _ = d.bids.Max()
		b.Ask, b.AskLots, _ = d.asks.Min()
	}
	return list
}
