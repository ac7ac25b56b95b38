// Package ledger keeps who owns what, as double-entry postings.
//
// It stands in the pure core: no balance of the exchange changes but through a
// function of this package, and each of them takes from one account exactly
// what it gives to others.
//
// Customers have two unsigned balances per asset, available and held. The
// exchange's own accounts (networks, sandbox, treasury, fees) may also owe: one
// that stands for the outside owes what customers have.
//
// Invariants, per asset: what is owed equals what is owned by all others
// together; the sum of what is owed fits 128 bits, so that no credit can
// overflow; nobody's available or held goes below zero. A posting that would
// break one of them is refused where a client can cause it and stops the
// process where only a defect can.
//
// What is not here: prices, orders, and the question whether a posting should
// happen. The engine asks that.
package ledger
