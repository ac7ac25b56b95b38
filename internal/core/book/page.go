package book

import "math/bits"

const (
	pageBits = 12
	pageSize = 1 << pageBits
	wordSize = 64
)

// page holds the levels of pageSize keys that share their high bits: 64 KiB. A spare page
// is all zero except for its number.
type page struct {
	number int64
	// summary has a bit for each word that is not zero.
	summary uint64
	words   [pageSize / wordSize]uint64
	levels  [pageSize]level
}

// mark adds a level to the bitmaps.
func (pg *page) mark(i uint64) {
	pg.words[i/wordSize] |= 1 << (i % wordSize)
	pg.summary |= 1 << (i / wordSize)
}

// unmark removes a level from the bitmaps.
func (pg *page) unmark(i uint64) {
	pg.words[i/wordSize] &^= 1 << (i % wordSize)
	if pg.words[i/wordSize] == 0 {
		pg.summary &^= 1 << (i / wordSize)
	}
}

// top returns the highest key in use. The page must not be empty.
func (pg *page) top() int64 {
	w := bits.Len64(pg.summary) - 1
	return pg.number<<pageBits | int64(w)<<6 | int64(bits.Len64(pg.words[w])-1)
}

// bottom returns the lowest key in use. The page must not be empty.
func (pg *page) bottom() int64 {
	w := bits.TrailingZeros64(pg.summary)
	return pg.number<<pageBits | int64(w)<<6 | int64(bits.TrailingZeros64(pg.words[w]))
}

// under returns the highest key in use below offset i of the page, if any.
func (pg *page) under(i int64) (int64, bool) {
	w := i / wordSize
	if low := pg.words[w] & (1<<(i%wordSize) - 1); low != 0 {
		return pg.number<<pageBits | w<<6 | int64(bits.Len64(low)-1), true
	}
	low := pg.summary & (1<<w - 1)
	if low == 0 {
		return 0, false
	}
	w = int64(bits.Len64(low) - 1)
	return pg.number<<pageBits | w<<6 | int64(bits.Len64(pg.words[w])-1), true
}

// pool keeps returned objects for reuse.
type pool[T any] struct{ spare []*T }

// maxSpareParts bounds a pool: 64 pages are 4 MiB.
const maxSpareParts = 64

// get returns a pooled object, or a zero T.
func (p *pool[T]) get() *T {
	last := len(p.spare) - 1
	if last < 0 {
		return new(T)
	}
	t := p.spare[last]
	p.spare = p.spare[:last]
	return t
}

func (p *pool[T]) put(t *T) {
	if len(p.spare) < maxSpareParts {
		p.spare = append(p.spare, t)
	}
}
