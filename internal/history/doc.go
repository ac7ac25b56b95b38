// Package history keeps what happened, for people to read: orders, trades,
// fills, candles, transfers and operators' notes.
//
// It stands behind the core: [Project] folds events into rows, the follower
// writes them in batches to a [Store] with its cursor in the same transaction,
// and a [Reader] answers pages that cover everything announced, by merging the
// view's open orders and the store with the [Tail], the rows that are too young
// to be in it.
//
// The contract is at the level of batches: sqlstore fulfils it, and historytest
// is the suite that every store passes. A store can be deleted: the follower
// rebuilds it from the journal.
//
// Invariants: a row is written once, when it is final; open orders are not here;
// each list has a dense ordinal (an account's orders, an account's fills, a
// market's trades), so that a deep page costs no more than the first one; a
// store at cursor n equals the fold of the events of commands 1..n. Rows move
// from the view to the tail to the store, and a read asks in the same order:
// therefore the tail observes before the view does.
//
// Read store.go, then project.go, tail.go (with chunk.go, how its rows are
// found), and reader.go with orders.go, lists.go and candles.go. What is open,
// balances and books are in view; what is announced as it happens is in feed.
package history
