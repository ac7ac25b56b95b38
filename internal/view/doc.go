// Package view keeps in memory the state that clients query most: the catalogue, books,
// tickers, recent candles, balances, open orders, and open deposits and withdrawals.
//
// The sequencer folds each command's events into it, between Begin and End; every
// interface reads from it. It decides nothing and can be rebuilt from the events; after a
// restart, the Restored events and the tape of the snapshot rebuild it.
//
// Invariants: readers see whole frames only; a change is visible here before it is
// announced; results are copies, or immutable.
//
// Not here: closed orders, fills, trades, old candles, and finished deposits and
// withdrawals, which are in history; address books, which have the customers' own names
// for addresses, are in account.
//
// Read view.go, then tape.go and wallet.go.
package view
