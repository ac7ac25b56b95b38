package book

import (
	"slices"

	"github.com/bourse-exchange/bourse"
)

// The bounds of a ladder's pages. A new page above mostPages moves the worst page to the
// far levels; below fewPages the best far levels get a page. The gap keeps orders that
// come and go at one price from moving thousands of levels each time.
const (
	mostPages = 8
	fewPages  = 4
)

// Ladder is a sorted set of price levels. Its best price is the highest key; keys are
// prices, or their complements if lower prices are better. The zero value is empty, with
// the highest price best.
type Ladder struct {
	flip int64
	// pages hold the best levels, sorted by number, so that the last page is the best. It
	// is empty only if the ladder is.
	pages []*page
	// best is the highest key in use; meaningless while pages is empty.
	best int64
	// far holds all other levels, each worse than every page.
	far far
}

// level is one price: its queue, and the open quantity of the orders in it.
type level struct {
	total      bourse.Lots
	head, tail Slot
}

// Level is the state of one price.
type Level struct {
	Total bourse.Lots
	Head  Slot
}

func (lv *level) shown() Level { return Level{lv.total, lv.head} }

// push appends an order to the queue and returns the new total.
func (lv *level) push(a *Arena, s Slot, left bourse.Lots) bourse.Lots {
	in := a.links(s)
	in.prev, in.next = lv.tail, 0
	if lv.tail != 0 {
		a.links(lv.tail).next = s
	} else {
		lv.head = s
	}
	lv.tail = s
	lv.total += left
	return lv.total
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

// Reaches reports whether price a is at least as good as b for this ladder, so that a
// level at a lies within a bound b.
func (l *Ladder) Reaches(a, b bourse.Price) bool { return l.key(a) >= l.key(b) }

// Within reports whether the ladder has a level within a bound.
func (l *Ladder) Within(bound bourse.Price) bool {
	return len(l.pages) > 0 && l.best >= l.key(bound)
}

// first returns the best page and its index if it has this number. It is a fast path of
// find: most orders are there.
func (l *Ladder) first(number int64) (*page, int) {
	if at := len(l.pages) - 1; at >= 0 && l.pages[at].number == number {
		return l.pages[at], at
	}
	return nil, 0
}

// find returns the page of this number and its index, or nil and the index of its
// insertion.
func (l *Ladder) find(number int64) (*page, int) {
	at := len(l.pages)
	for at > 0 && l.pages[at-1].number > number {
		at--
	}
	if at > 0 && l.pages[at-1].number == number {
		return l.pages[at-1], at - 1
	}
	return nil, at
}

// At returns the resting quantity at a price.
func (l *Ladder) At(p bourse.Price) bourse.Lots {
	key := l.key(p)
	if pg, _ := l.first(key >> pageBits); pg != nil {
		return pg.levels[key&(pageSize-1)].total
	}
	if lv, _, _ := l.elsewhere(key); lv != nil {
		return lv.total
	}
	return 0
}

// elsewhere returns the level of a key outside of the best page, with its page and the
// page's index. The page is nil for a far level, and the level is nil if there is none.
//
//go:noinline
func (l *Ladder) elsewhere(key int64) (*level, *page, int) {
	if pg, at := l.find(key >> pageBits); pg != nil {
		return &pg.levels[key&(pageSize-1)], pg, at
	}
	return l.far.at(key), nil, 0
}

// Room reports whether an order of this many lots fits a price. A price has at most
// bourse.MaxLots.
func (l *Ladder) Room(p bourse.Price, lots bourse.Lots) bool {
	return l.At(p) <= bourse.MaxLots-lots
}

// push appends an order with left lots to its level and returns the level's new total.
func (l *Ladder) push(a *Arena, s Slot, p bourse.Price, left bourse.Lots) bourse.Lots {
	key := l.key(p)
	pg, _ := l.first(key >> pageBits)
	if pg == nil {
		if pg = l.page(a, key>>pageBits); pg == nil {
			return l.far.level(&a.blocks, key).push(a, s, left)
		}
	}

	i := uint64(key) % pageSize
	lv := &pg.levels[i]
	if lv.head == 0 {
		if len(l.pages) == 1 && pg.summary == 0 || key > l.best {
			l.best = key
		}
		pg.mark(i)
	}
	return lv.push(a, s, left)
}

// page returns the page of a number, and creates it if missing. It returns nil for the
// number of far levels: below all pages, while there are mostPages pages or a far level
// lies at or above.
func (l *Ladder) page(a *Arena, number int64) *page {
	pg, at := l.find(number)
	switch {
	case pg != nil:
		return pg
	case at == 0 && (len(l.pages) >= mostPages || !l.far.empty() && l.far.last()>>pageBits >= number):
		return nil
	}

	pg = a.pages.get()
	pg.number = number
	l.pages = slices.Insert(l.pages, at, pg)
	if len(l.pages) > mostPages {
		l.demote(a)
	}
	return pg
}

// demote moves the levels of the worst page to the far levels.
func (l *Ladder) demote(a *Arena) {
	pg := l.pages[0]
	for pg.summary != 0 {
		key := pg.bottom()
		i := uint64(key) % pageSize
		*l.far.level(&a.blocks, key) = pg.levels[i]
		pg.levels[i] = level{}
		pg.unmark(i)
	}
	l.pages = slices.Delete(l.pages, 0, 1)
	a.pages.put(pg)
}

// promote moves the best far levels to a page.
func (l *Ladder) promote(a *Arena) {
	pg := a.pages.get()
	pg.number = l.far.last() >> pageBits
	for !l.far.empty() && l.far.last()>>pageBits == pg.number {
		i := uint64(l.far.last()) % pageSize
		pg.levels[i] = l.far.pop(&a.blocks)
		pg.mark(i)
	}
	l.pages = slices.Insert(l.pages, 0, pg)
}

// remove removes an order with left lots from its level and returns the level's new
// total.
func (l *Ladder) remove(a *Arena, s Slot, p bourse.Price, left bourse.Lots) bourse.Lots {
	key := l.key(p)
	i := uint64(key) % pageSize
	var lv *level
	pg, place := l.first(key >> pageBits)
	if pg != nil {
		lv = &pg.levels[i]
	} else {
		lv, pg, place = l.elsewhere(key)
	}

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
	lv.total -= left
	total := lv.total

	switch {
	case head != 0:
	case pg != nil:
		l.drop(a, pg, place, i)
	default:
		l.far.remove(&a.blocks, key)
	}
	return total
}

// reduce fills an order in the best level by lots and returns the level's new total. The
// order must have more than lots left.
func (l *Ladder) reduce(o *Order, lots bourse.Lots) bourse.Lots {
	o.Filled += lots
	lv := &l.pages[len(l.pages)-1].levels[l.best&(pageSize-1)]
	lv.total -= lots
	return lv.total
}

// lessen takes lots off a level that keeps others and returns its new total.
func (l *Ladder) lessen(p bourse.Price, lots bourse.Lots) bourse.Lots {
	lv, _, _ := l.elsewhere(l.key(p))
	lv.total -= lots
	return lv.total
}

// takeBest removes the best level and returns the first order of its queue, whose links
// stay. The ladder must not be empty.
func (l *Ladder) takeBest(a *Arena) Slot {
	at := len(l.pages) - 1
	pg, i := l.pages[at], uint64(l.best)%pageSize
	s := pg.levels[i].head
	pg.levels[i] = level{}
	l.drop(a, pg, at, i)
	return s
}

// drop removes an empty level from the bitmaps, and its page from the ladder if the page
// becomes empty.
func (l *Ladder) drop(a *Arena, pg *page, at int, i uint64) {
	best := pg.number<<pageBits|int64(i) == l.best
	pg.unmark(i)
	if pg.summary == 0 {
		l.pages = slices.Delete(l.pages, at, at+1)
		a.pages.put(pg)
		if len(l.pages) < fewPages && !l.far.empty() {
			l.promote(a)
		}
	}
	if best && len(l.pages) > 0 {
		l.best = l.pages[len(l.pages)-1].top()
	}
}

// Levels yields each price with its quantity and the first order of its queue, best
// first.
func (l *Ladder) Levels(yield func(bourse.Price, Level) bool) {
	for p := len(l.pages) - 1; p >= 0; p-- {
		pg := l.pages[p]
		for key, ok := pg.top(), true; ok; key, ok = pg.under(key & (pageSize - 1)) {
			if !yield(l.price(key), pg.levels[key&(pageSize-1)].shown()) {
				return
			}
		}
	}
	l.far.descend(l, yield)
}
