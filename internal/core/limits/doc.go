// Package limits sums the movements of an account over the last 24 hours and 30 days.
//
// It belongs to the pure core. The engine decides by windows; the view keeps the same ones
// from the engine's events, for checks at the edge and for readers.
//
// Invariants: a window has a fixed size. Its sums cover at least the last 24 hours and the
// last 30 days, so that no such span ever has more than a limit; they cover at most an hour
// and a day more. The sum of a day is at least that of its hours.
//
// Not here: the limits, and which movements count (package bourse and the engine).
package limits
