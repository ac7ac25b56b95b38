// Package book keeps the open orders of all markets, and each market's book in price-time
// priority.
//
// It is part of the pure core and knows neither money nor rules: the engine decides about
// admission, removal and matching.
//
// Orders lie in one [Arena] and link to each other by 32-bit slots, so that the garbage
// collector has nothing to scan; their links are apart from them, because a cancel mostly
// touches the links of others. An array maps ids to orders, because ids are dense.
//
// A [Ladder] is a sorted set of price levels with a first-in, first-out queue at each:
// one for each side of a [Book], and one for the waiting stops of each direction. The best levels
// lie in at most eight pages of 4,096 ticks with two-level bitmaps, so that the best
// price is found without a tree. Levels worse than all pages lie in sorted blocks, where
// a level costs some 40 bytes at any distance from the next: no account can use up the
// memory of others.
//
// Invariants: a level's total is the sum of its orders' open quantities; a level without
// orders is in no bitmap and no block; a page without levels is in no ladder; every level
// in a page is better than every level in a block; an order is in exactly one of: a
// ladder, the trigger queue, free. No code here allocates once the arena and pages have
// grown to their working size.
//
// Read arena.go, then ladder.go with page.go and far.go, then book.go.
package book
