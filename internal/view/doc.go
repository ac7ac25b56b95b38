// Package view keeps in memory what people ask for most: the catalogue, books,
// tickers, recent candles, balances, open orders, and deposits and withdrawals
// that are not over.
//
// It stands behind the core: the sequencer folds each command's events into it,
// between Begin and End, and everything that answers reads from it. It decides
// nothing and could be rebuilt from the events at any time; after a restart the
// Restored events and the tape of the snapshot do that.
//
// Invariants: readers see whole frames, never half of one; nothing is announced
// before it is here; what a reader is given is a copy, or never changes again.
//
// What is not here: anything older than a reader can wait for. Closed orders,
// fills, trades, old candles and what became of deposits and withdrawals are in
// history; address books, whose names are people's, are in account.
//
// Read view.go, then tape.go and wallet.go.
package view
