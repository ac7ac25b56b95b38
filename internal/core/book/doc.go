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
// stops. Levels lie in pages of 4,096 ticks with two-level bitmaps, so that the
// best price is found without a tree, and far prices cost only the pages that
// they touch, at most [MaxPages] of them.
//
// Invariants: a level's total is the sum of what is left of its orders; a level
// without orders is in no bitmap; a page without levels is in no ladder; an
// order is in exactly one of: a ladder, the trigger queue, free. Nothing here
// allocates once the arena and pages have grown to their working size.
//
// Read arena.go, then ladder.go, then book.go.
package book
