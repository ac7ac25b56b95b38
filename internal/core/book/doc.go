// Package book keeps the open orders of all markets, and each market's book:
// what rests, by price, then by time.
//
// It stands in the pure core and knows neither money nor rules: the engine
// decides what enters, what leaves and what matches.
//
// Orders lie in one [Arena] and link to each other by 32-bit slots, so that the
// collector has nothing to scan; their links lie apart from them, because most of
// what a cancel touches is the links of others. An order is found by id through an
// array, because ids are dense.
//
// A [Ladder] is a sorted set of price levels with a first-in, first-out queue
// at each: one for each side of a [Book], and one for each side's waiting
// stops. The best levels lie in at most eight pages of 4,096 ticks with two-level
// bitmaps, so that the best price is found without a tree. Levels that are worse
// than all pages lie in sorted blocks, where a level costs some 40 bytes however
// far from the next it is: no account can use up what others need.
//
// Invariants: a level's total is the sum of what is left of its orders; a level
// without orders is in no bitmap and no block; a page without levels is in no
// ladder; every level in a page is better than every level in a block; an order is in exactly one of: a ladder, the trigger queue, free. Nothing here
// allocates once the arena and pages have grown to their working size.
//
// Read arena.go, then ladder.go with page.go and far.go, then book.go.
package book
