package book

import (
	"math/bits"

	"github.com/bourse-exchange/bourse"
)

const (
	pageBits = 12
	pageSize = 1 << pageBits
	wordSize = 64
)

// MaxPages bounds the pages of a ladder, and with it the memory that far-off
// prices can claim.
const MaxPages = 1024

// Ladder is a sorted set of price levels. Its best price is the highest key;
// keys are prices, or their complements where lower prices are better. The zero
// value is empty, with the highest price best.
type Ladder struct {
	flip int64
	// pages are sorted by number, so that the best is the last.
	pages []*page
	// best is the highest key in use; meaningless while pages is empty.
	best int64
	// sum is what is left of all orders; at most bourse.MaxLots, so that no sum
	// over levels can overflow.
	sum bourse.Lots
}

// level is one price: its queue and what is left of the orders in it.
type level struct {
	total      bourse.Lots
	head, tail Slot
}

// page holds the levels of pageSize keys that share their high bits.
type page struct {
	number int64
	// summary has a bit for each word of levels that is not zero.
	summary uint64
	words   [pageSize / wordSize]uint64
	levels  [pageSize]level
}

// pagePool keeps emptied pages, which are all zero but for their number.
type pagePool struct{ spare []*page }

// maxSparePages bounds the pool: 64 pages are 4 MiB.
const maxSparePages = 64

func (p *pagePool) get(number int64) *page {
	last := len(p.spare) - 1
	if last < 0 {
		return &page{number: number}
	}
	pg := p.spare[last]
	p.spare = p.spare[:last]
	pg.number = number
	return pg
}

func (p *pagePool) put(pg *page) {
	if len(p.spare) < maxSparePages {
		p.spare = append(p.spare, pg)
	}
}

// lowestFirst returns a ladder whose best price is the lowest.
func lowestFirst() Ladder { return Ladder{flip: -1} }

func (l *Ladder) key(p bourse.Price) int64 { return int64(p) ^ l.flip }

func (l *Ladder) price(key int64) bourse.Price { return bourse.Price(key ^ l.flip) }

// Empty reports whether there is no level.
func (l *Ladder) Empty() bool { return len(l.pages) == 0 }

// Best returns the best price, or zero if the ladder is empty.
func (l *Ladder) Best() bourse.Price {
	if len(l.pages) == 0 {
		return 0
	}
	return l.price(l.best)
}

// Front returns the first order at the best price, or zero.
func (l *Ladder) Front() Slot {
	if len(l.pages) == 0 {
		return 0
	}
	return l.pages[len(l.pages)-1].levels[l.best&(pageSize-1)].head
}

// Reaches reports whether price a is at least as good as b for this ladder:
// whether a level at a lies within a bound b.
func (l *Ladder) Reaches(a, b bourse.Price) bool { return l.key(a) >= l.key(b) }

// Within reports whether there is a level, and the best lies within a bound.
func (l *Ladder) Within(bound bourse.Price) bool {
	return len(l.pages) > 0 && l.best >= l.key(bound)
}

// first returns the best page and its place if it has this number: what find
// would, where most orders are.
func (l *Ladder) first(number int64) (*page, int) {
	if at := len(l.pages) - 1; at >= 0 && l.pages[at].number == number {
		return l.pages[at], at
	}
	return nil, 0
}

// find returns the page of the key and the place where it is or belongs.
func (l *Ladder) find(number int64) (*page, int) {
	at := len(l.pages)
	for at > 0 && l.pages[at-1].number > number {
		at--
		if at == len(l.pages)-8 { // far from the best: halve instead of step
			at = l.search(number, at)
			break
		}
	}
	if at > 0 && l.pages[at-1].number == number {
		return l.pages[at-1], at - 1
	}
	return nil, at
}

// search returns how many of the first n pages have at most this number.
func (l *Ladder) search(number int64, n int) int {
	low, high := 0, n
	for low < high {
		mid := (low + high) / 2
		if l.pages[mid].number <= number {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// At returns what rests at a price.
func (l *Ladder) At(p bourse.Price) bourse.Lots {
	key := l.key(p)
	if pg, _ := l.find(key >> pageBits); pg != nil {
		return pg.levels[key&(pageSize-1)].total
	}
	return 0
}

// Room reports whether an order of this many lots can be put at a price, within
// the pages and the sum allowed.
func (l *Ladder) Room(p bourse.Price, lots bourse.Lots) bool {
	return l.sum <= bourse.MaxLots-lots && (len(l.pages) < MaxPages || l.hasPage(p))
}

// hasPage reports whether a price lies in a page that is in use; apart from Room,
// so that Room is small enough to be inlined.
//
//go:noinline
func (l *Ladder) hasPage(p bourse.Price) bool {
	pg, _ := l.find(l.key(p) >> pageBits)
	return pg != nil
}

// push puts an order at the end of its level and returns the level's new total.
func (l *Ladder) push(a *Arena, s Slot, o *Order, p bourse.Price) bourse.Lots {
	key := l.key(p)
	pg, _ := l.first(key >> pageBits)
	if pg == nil {
		pg = l.page(a, key>>pageBits)
	}
	i := uint64(key) % pageSize
	lv := &pg.levels[i]
	in := a.links(s)
	in.prev, in.next = lv.tail, 0
	if lv.tail != 0 {
		a.links(lv.tail).next = s
	} else {
		if len(l.pages) == 1 && pg.summary == 0 || key > l.best {
			l.best = key
		}
		lv.head = s
		pg.words[i/wordSize] |= 1 << (i % wordSize)
		pg.summary |= 1 << (i / wordSize)
	}
	lv.tail = s
	left := o.Left()
	lv.total += left
	l.sum += left
	return lv.total
}

// page finds or makes a page.
func (l *Ladder) page(a *Arena, number int64) *page {
	pg, at := l.find(number)
	if pg != nil {
		return pg
	}
	pg = a.pages.get(number)
	l.pages = append(l.pages, nil)
	copy(l.pages[at+1:], l.pages[at:])
	l.pages[at] = pg
	return pg
}

// remove takes an order out of its level and returns the level's new total.
func (l *Ladder) remove(a *Arena, s Slot, o *Order, p bourse.Price) bourse.Lots {
	key := l.key(p)
	pg, at := l.first(key >> pageBits)
	if pg == nil {
		pg, at = l.find(key >> pageBits)
	}
	i := uint64(key) % pageSize
	lv := &pg.levels[i]
	in := a.links(s)
	prev, next := in.prev, in.next
	a.links(prev).next = next
	a.links(next).prev = prev
	head, tail := lv.head, lv.tail
	if prev == 0 {
		head = next
	}
	if next == 0 {
		tail = prev
	}
	lv.head, lv.tail = head, tail
	left := o.Left()
	lv.total -= left
	l.sum -= left
	total := lv.total
	if head == 0 {
		l.drop(a, pg, at, i)
	}
	return total
}

// reduce fills an order in the best level by some lots and returns the level's
// new total. The order must have more than that left.
func (l *Ladder) reduce(o *Order, lots bourse.Lots) bourse.Lots {
	o.Filled += lots
	l.sum -= lots
	lv := &l.pages[len(l.pages)-1].levels[l.best&(pageSize-1)]
	lv.total -= lots
	return lv.total
}

// drop takes an empty level out of the bitmaps, and its page out of the ladder
// if it was the last one there.
func (l *Ladder) drop(a *Arena, pg *page, at int, i uint64) {
	pg.words[i/wordSize] &^= 1 << (i % wordSize)
	if pg.words[i/wordSize] == 0 {
		pg.summary &^= 1 << (i / wordSize)
	}
	if pg.summary == 0 {
		copy(l.pages[at:], l.pages[at+1:])
		l.pages[len(l.pages)-1] = nil
		l.pages = l.pages[:len(l.pages)-1]
		a.pages.put(pg)
	}
	if pg.number<<pageBits|int64(i) == l.best && len(l.pages) > 0 {
		l.best = l.pages[len(l.pages)-1].top()
	}
}

// top returns the highest key in use in a page that has one.
func (pg *page) top() int64 {
	w := bits.Len64(pg.summary) - 1
	return pg.number<<pageBits | int64(w)<<6 | int64(bits.Len64(pg.words[w])-1)
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

// Levels yields each price with what rests there and the first order of its
// queue, best first.
func (l *Ladder) Levels(yield func(bourse.Price, Level) bool) {
	for p := len(l.pages) - 1; p >= 0; p-- {
		pg := l.pages[p]
		for key, ok := pg.top(), true; ok; key, ok = pg.under(key & (pageSize - 1)) {
			lv := &pg.levels[key&(pageSize-1)]
			if !yield(l.price(key), Level{lv.total, lv.head}) {
				return
			}
		}
	}
}

// Level is what a ladder has at one price.
type Level struct {
	Total bourse.Lots
	Head  Slot
}
