package spotv1

import (
	"iter"
	"math"
	"sync"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// allLevels is the depth of a whole book.
const allLevels = math.MaxInt32

// depths are the depths that books are encoded to. A request gets the first that is
// enough, cut to what it asks for: few levels of a large book cost little.
var depths = [...]int{100, 1000, allLevels}

// books holds each market's book as the answer to a request, so that a book is
// encoded at most once for each sequence and depth, however many ask. The zero books
// are ready to use; they are safe for concurrent use.
type books struct{ markets sync.Map } // of bourse.MarketID to *[len(depths)]edition

// edition is a book at one of the depths.
type edition struct {
	// begun counts the encodings that were begun.
	begun atomic.Uint64

	mu      sync.Mutex
	current *encoded
}

// read returns the answer with the best levels of a market, as fresh as if it had
// been encoded now. The bytes are shared and never changed.
func (b *books) read(v *view.View, m *bourse.Market, depth int) []byte {
	all, known := b.markets.Load(m.ID)
	if !known {
		all, _ = b.markets.LoadOrStore(m.ID, new([len(depths)]edition))
	}

	at := 0
	for depths[at] < depth {
		at++
	}
	return all.(*[len(depths)]edition)[at].read(v, m, depths[at]).cut(depth)
}

// read returns a book that is not older than the call. An encoding that began while
// this call waited for another one will do, so that a queue of callers is answered by
// one encoding.
func (e *edition) read(v *view.View, m *bourse.Market, depth int) *encoded {
	before := e.begun.Load()
	e.mu.Lock()
	defer e.mu.Unlock()

	was := e.current
	if was != nil && was.market == m && (e.begun.Load() > before || was.seq == v.BookSeq(m.ID)) {
		return was
	}

	e.begun.Add(1)
	e.current = encode(v.Depth(m.ID), m, depth)
	return e.current
}

// encoded is a book as an answer.
type encoded struct {
	market *bourse.Market
	seq    uint64
	whole  []byte
	// bids and asks are where rows of whole end, the first entry where they begin.
	bids, asks []int
}

// encode writes the best levels of a book. Prices and amounts have all their
// decimals, so that a client can match levels by their text.
func encode(book view.Depth, m *bourse.Market, depth int) *encoded {
	e := &encoded{market: m, seq: book.Seq}
	w := wire.NewWriter(nil)
	w.Object()
	w.Bool("success", true)
	e.bids = writeLevels(w, m, "bids", book.Bids, depth)
	e.asks = writeLevels(w, m, "asks", book.Asks, depth)
	w.Uint("seq", book.Seq)
	w.EndObject()
	e.whole = w.Bytes()
	return e
}

// writeLevels writes a side, and returns where its rows begin and end.
func writeLevels(w *wire.Writer, m *bourse.Market, name string, levels iter.Seq2[bourse.Price, bourse.Lots], depth int) []int {
	w.Name(name)
	w.Array()
	ends := []int{len(w.Bytes())}
	for price, lots := range levels {
		if len(ends) > depth {
			break
		}
		w.Object()
		w.Fixed("price", uint64(price), m.QuotePrecision)
		w.Fixed("amount", uint64(lots), m.BasePrecision)
		w.EndObject()
		ends = append(ends, len(w.Bytes()))
	}
	w.EndArray()
	return ends
}

// cut returns the answer with at most so many levels a side.
func (e *encoded) cut(depth int) []byte {
	bids, asks := len(e.bids)-1, len(e.asks)-1
	if bids <= depth && asks <= depth {
		return e.whole
	}

	bidsEnd, asksEnd := e.bids[min(bids, depth)], e.asks[min(asks, depth)]
	gone := e.bids[bids] - bidsEnd + e.asks[asks] - asksEnd
	b := make([]byte, 0, len(e.whole)-gone)
	b = append(b, e.whole[:bidsEnd]...)
	b = append(b, e.whole[e.bids[bids]:asksEnd]...)
	return append(b, e.whole[e.asks[asks]:]...)
}
