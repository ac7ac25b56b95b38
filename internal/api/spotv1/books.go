package spotv1

import (
	"iter"
	"math"
	"sync"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/coding"
	"github.com/bourse-exchange/bourse/internal/view"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// allLevels is the depth of a complete book.
const allLevels = math.MaxInt32

// depths are the depths to which books are encoded. A request gets the first sufficient
// one, cut to its depth, so that few levels of a large book cost little.
var depths = [...]int{100, 1000, allLevels}

// books caches each market's book as an answer: a book is encoded at most once for each
// sequence and depth, however many clients ask. The zero value is ready to use. Safe for
// concurrent use.
type books struct{ markets sync.Map } // of bourse.MarketID to *[len(depths)]edition

// edition is the cache of a book at one depth.
type edition struct {
	// begun counts the encodings started.
	begun atomic.Uint64

	mu      sync.Mutex
	current *encoded
}

// read returns at least the best depth levels of a market, as fresh as if encoded now. The
// bytes are shared and never change.
func (b *books) read(v *view.View, m *bourse.Market, depth int) *encoded {
	all, known := b.markets.Load(m.ID)
	if !known {
		all, _ = b.markets.LoadOrStore(m.ID, new([len(depths)]edition))
	}

	at := 0
	for depths[at] < depth {
		at++
	}
	return all.(*[len(depths)]edition)[at].read(v, m, depths[at])
}

// read returns a book that is not older than the call. An encoding that started while
// this call waited for the lock is fresh enough, so that one encoding answers a queue of
// callers.
func (e *edition) read(v *view.View, m *bourse.Market, depth int) *encoded {
	before := e.begun.Load()
	e.mu.Lock()
	defer e.mu.Unlock()

	was := e.current
	if was != nil && was.market == m && (e.begun.Load() > before || was.seq == v.BookSeq(m.ID)) {
		return was
	}

	e.begun.Add(1)
	e.current = encode(v.Depth(m.ID), m, depth, was)
	return e.current
}

// encoded is a book as an answer.
type encoded struct {
	market *bourse.Market
	seq    uint64
	whole  []byte
	// document has whole for its readers.
	document *coding.Document
	// bids and asks are the offsets in whole at which rows end, behind the offset of the
	// first row's beginning.
	bids, asks []int
}

// encode writes the best levels of a book. Prices and amounts keep all their decimals, so
// that clients can match levels as strings. The buffer starts a little larger than the
// last answer, because growing it would copy a large book.
func encode(book view.Depth, m *bourse.Market, depth int, was *encoded) *encoded {
	e := &encoded{market: m, seq: book.Seq}
	if was == nil {
		was = new(encoded)
	}

	room := len(was.whole) + len(was.whole)/64
	w := wire.NewWriter(make([]byte, 0, room))
	w.Object()
	w.Bool("success", true)
	w.Name("bids")
	e.bids = writeLevels(w, m, book.Bids, depth, len(was.bids))
	w.Name("asks")
	e.asks = writeLevels(w, m, book.Asks, depth, len(was.asks))
	w.Uint("seq", book.Seq)
	w.EndObject()

	e.whole = w.Bytes()
	e.document = coding.NewDocument(e.whole)
	return e
}

// writeLevels writes a side and returns the offset of its first row and the ends of all
// rows. were is the length of the last such list.
func writeLevels(
	w *wire.Writer, m *bourse.Market, levels iter.Seq2[bourse.Price, bourse.Lots], depth, were int,
) []int {
	w.Array()
	ends := append(make([]int, 0, were+were/64), len(w.Bytes()))
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

// cut returns the answer with at most depth levels a side.
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
