package book

import "github.com/bourse-exchange/bourse"

// Slot is the index of an open order in an [Arena]; zero is none. A freed slot is reused.
type Slot uint32

// Order is an open order or a taker: 64 bytes, one cache line.
type Order struct {
	ID bourse.OrderID
	// Price is the worst price of a trade. Orders without one, whose Price is zero or their
	// cap, never rest.
	Price bourse.Price
	// Lots is the quantity without what self-trade prevention took.
	Lots bourse.Lots
	// Filled is the traded quantity. It is less than Lots while the order is in a queue;
	// an order by total has no Lots.
	Filled  bourse.Lots
	Account bourse.AccountID
	// The next six have the layout of bourse.NewOrder, so that they are copied as one
	// word.
	Market    bourse.MarketID
	Side      bourse.Side
	Type      bourse.OrderType
	TIF       bourse.TimeInForce
	SelfTrade bourse.SelfTradeMode
	PostOnly  bool
	State     State
	Triggered bool
	// Named is true if the order has a client id.
	Named   bool
	Changed Changes
	// Listed is true if the order belongs to a list.
	Listed  bool
	Time    bourse.Time
	Ordinal uint64
}

// Left returns the open quantity of an order with Lots.
func (o *Order) Left() bourse.Lots { return o.Lots - o.Filled }

// Changes are the ways in which an order's terms have changed, as bits.
type Changes uint8

// The changes.
const (
	// Amended: the order's owner amended it.
	Amended Changes = 1 << iota
	// Prevented: self-trade prevention took a part of its quantity.
	Prevented

	// AllChanges has all bits.
	AllChanges = Amended | Prevented
)

// Has reports whether a change was made.
func (c Changes) Has(change Changes) bool { return c&change != 0 }

// links hold an order's neighbours. They are apart from the orders, because a change of a
// neighbour writes its links alone: the links of 100,000 orders are 1.6 MB, which fits
// caches; the orders are four times that. Slot zero is a sentinel: list ends write to its
// links, because the store is cheaper than a branch.
type links struct {
	// next and prev link the queue of its level, or the trigger queue.
	next, prev Slot
	// later and earlier link the account's open orders in this market, by id.
	later, earlier Slot
}

// State is the queue of an order.
type State uint8

// The states of an order.
const (
	// Taking: the order is being worked and is in no queue.
	Taking State = iota + 1
	// Resting: the order is in the book.
	Resting
	// Waiting: the order has a stop that has not been triggered.
	Waiting
	// Queued: the order's stop has been triggered, and it is in the trigger queue.
	Queued
)

const (
	chunkBits = 10
	chunkSize = 1 << chunkBits
)

// Arena holds the orders of all markets, and indexes the open ones by id.
type Arena struct {
	chunks []*chunk
	free   Slot
	used   Slot
	open   int
	index  index
	pages  pool[page]
	blocks pool[block]
}

type chunk struct {
	// stops, legs and prevented hold what only orders with a stop, of a list, or with the change
	// Prevented have; nil until one of the chunk has been such an order. They are first, so that
	// the garbage collector looks at nothing else.
	stops     *[chunkSize]Stop
	legs      *[chunkSize]Leg
	prevented *[chunkSize]bourse.Lots
	orders    [chunkSize]Order
	links     [chunkSize]links
}

// Stop holds the fields that only orders with a stop have.
type Stop struct {
	Price bourse.Price
	// Total is the amount that an order by total spends; zero for an order with Lots.
	Total bourse.Amount
}

// Leg holds the fields that only orders of a list have.
type Leg struct {
	// List is the id of the list.
	List bourse.OrderID
	// Other is the other order of the list while neither has traded or been triggered.
	Other Slot
}

// At returns an order. The pointer is valid until the order is freed.
func (a *Arena) At(s Slot) *Order { return &a.chunks[s>>chunkBits].orders[s%chunkSize] }

func (a *Arena) links(s Slot) *links { return &a.chunks[s>>chunkBits].links[s%chunkSize] }

// Stop returns the fields of an order with a stop.
func (a *Arena) Stop(s Slot) *Stop {
	c := a.chunks[s>>chunkBits]
	if c.stops == nil {
		c.stops = new([chunkSize]Stop)
	}
	return &c.stops[s%chunkSize]
}

// Leg returns the fields of an order of a list.
func (a *Arena) Leg(s Slot) *Leg {
	c := a.chunks[s>>chunkBits]
	if c.legs == nil {
		c.legs = new([chunkSize]Leg)
	}
	return &c.legs[s%chunkSize]
}

// Prevented returns the quantity that self-trade prevention took of an order.
func (a *Arena) Prevented(s Slot) bourse.Lots {
	c := a.chunks[s>>chunkBits]
	if !c.orders[s%chunkSize].Changed.Has(Prevented) {
		return 0
	}
	return c.prevented[s%chunkSize]
}

// SetPrevented sets the quantity that self-trade prevention took of an order, which is not zero.
func (a *Arena) SetPrevented(s Slot, lots bourse.Lots) {
	c := a.chunks[s>>chunkBits]
	if c.prevented == nil {
		c.prevented = new([chunkSize]bourse.Lots)
	}
	c.orders[s%chunkSize].Changed |= Prevented
	c.prevented[s%chunkSize] = lots
}

// Len returns the number of open orders.
func (a *Arena) Len() int { return a.open }

// New returns a slot for an order. The caller sets all exported fields.
func (a *Arena) New() (Slot, *Order) {
	s := a.free
	if s == 0 {
		s = a.unused()
		return s, a.At(s)
	}
	c := a.chunks[s>>chunkBits]
	a.free = c.links[s%chunkSize].next
	return s, &c.orders[s%chunkSize]
}

// unused returns a slot that was never used.
func (a *Arena) unused() Slot {
	a.used++ // slot zero is the sentinel
	if int(a.used>>chunkBits) >= len(a.chunks) {
		a.chunks = append(a.chunks, new(chunk))
	}
	return a.used
}

// Free returns a slot to the free list. The order must be in no queue and not open.
func (a *Arena) Free(s Slot) {
	a.links(s).next = a.free
	a.free = s
}

// Find returns the slot of an open order, or zero.
func (a *Arena) Find(id bourse.OrderID) Slot { return a.index.get(id) }

// All yields the open orders by ascending id.
func (a *Arena) All(yield func(Slot) bool) { a.index.all(yield) }

// MaxSpan bounds the distance between the ids of open orders, and so the index. At
// 100,000 orders a second an order at the bound is 22 years old.
const MaxSpan = 1 << 46

// Reaches reports whether an order of this id may be opened: it lies within MaxSpan of
// the oldest id of the index. Ids must rise.
func (a *Arena) Reaches(id bourse.OrderID) bool {
	return a.open == 0 || uint64(id)>>groupBits-a.index.first < MaxSpan>>groupBits
}

// index maps order ids to slots. Its chunks are dropped when the last order of their
// range closes, and its groups with their last chunk: an order that stays open for years
// costs a pointer for each million ids after it.
type index struct {
	// newest is the chunk of the last id and newestAt its number: the next id most likely
	// goes there, because ids rise. newest is nil once the chunk is dropped.
	newest   *indexChunk
	newestAt uint64
	// first is the number of groups[0]. Leading empty groups are cut off.
	first  uint64
	groups []*indexGroup
	// spare holds emptied chunks.
	spare []*indexChunk
}

type indexGroup struct {
	chunks [chunkSize]*indexChunk
	used   int
}

type indexChunk struct {
	slots [chunkSize]Slot
	used  int
}

const groupBits = 2 * chunkBits

// maxSpare bounds the spare chunks: enough for a burst of 64 Ki ids.
const maxSpare = 64

func (x *index) put(id bourse.OrderID, s Slot) {
	if x.newest == nil || x.newestAt != uint64(id)>>chunkBits {
		x.newest, x.newestAt = x.chunk(id), uint64(id)>>chunkBits
	}
	x.newest.slots[id%chunkSize] = s
	x.newest.used++
}

// chunk returns the chunk of an id, and creates it if missing. The id must not be below
// the index.
func (x *index) chunk(id bourse.OrderID) *indexChunk {
	n := uint64(id) >> groupBits
	if len(x.groups) == 0 {
		x.first = n
	}
	if n < x.first {
		bourse.Impossible("order %d is older than the index", id)
	}
	if len(x.groups) == 1 && x.groups[0].used == 0 {
		x.first = n // no order is open: the remaining group takes any number
	}
	if more := n - x.first + 1 - uint64(len(x.groups)); n-x.first >= uint64(len(x.groups)) {
		x.groups = append(x.groups, make([]*indexGroup, more)...)
	}

	g := x.groups[n-x.first]
	if g == nil {
		g = new(indexGroup)
		x.groups[n-x.first] = g
	}
	at := id >> chunkBits % chunkSize
	c := g.chunks[at]
	if c == nil {
		c = x.newChunk()
		g.chunks[at] = c
		g.used++
	}
	return c
}

func (x *index) newChunk() *indexChunk {
	if last := len(x.spare) - 1; last >= 0 {
		c := x.spare[last]
		x.spare = x.spare[:last]
		return c
	}
	return new(indexChunk)
}

func (x *index) get(id bourse.OrderID) Slot {
	if at := x.at(id); at != nil {
		return *at
	}
	return 0
}

// at returns the entry of an id, or nil if its chunk does not exist.
func (x *index) at(id bourse.OrderID) *Slot {
	n := uint64(id)>>groupBits - x.first
	if n >= uint64(len(x.groups)) || x.groups[n] == nil {
		return nil
	}
	c := x.groups[n].chunks[id>>chunkBits%chunkSize]
	if c == nil {
		return nil
	}
	return &c.slots[id%chunkSize]
}

func (x *index) remove(id bourse.OrderID) {
	n, at := uint64(id)>>groupBits-x.first, id>>chunkBits%chunkSize
	g := x.groups[n]
	c := g.chunks[at]
	c.slots[id%chunkSize] = 0
	c.used--

	if c.used > 0 {
		return
	}
	if c == x.newest {
		x.newest = nil
	}

	g.chunks[at] = nil
	g.used--
	if len(x.spare) < maxSpare {
		x.spare = append(x.spare, c)
	}
	if g.used == 0 && n+1 < uint64(len(x.groups)) {
		x.groups[n] = nil
	}
	x.cut()
}

// cut drops the leading empty groups. It keeps the newest, so that put's range only moves
// up.
func (x *index) cut() {
	for len(x.groups) > 1 && (x.groups[0] == nil || x.groups[0].used == 0) {
		x.groups = x.groups[1:]
		x.first++
	}
}

func (x *index) all(yield func(Slot) bool) {
	for _, g := range x.groups {
		if g == nil {
			continue
		}
		for _, c := range g.chunks {
			if c == nil {
				continue
			}
			for _, s := range c.slots {
				if s != 0 && !yield(s) {
					return
				}
			}
		}
	}
}
