// Package ledger keeps all balances, as double-entry postings.
//
// It is part of the pure core: only functions of this package change a balance of the
// exchange, and each of them takes from one account exactly the amount that it gives to
// others.
//
// Customers have two unsigned balances per asset, available and held. The exchange's own
// accounts (networks, sandbox, treasury, fees) may also owe: an account that stands for
// the outside owes the customers' money.
//
// Invariants, per asset: the sum of all debts equals the sum of all balances; the sum of
// all debts fits 128 bits, so that no credit can overflow; no available or held balance
// is below zero. A posting that would break an invariant is refused if a client can cause
// it, and stops the process if only a defect can.
//
// Not here: prices, orders, and the decision to post, which is the engine's.
package ledger
