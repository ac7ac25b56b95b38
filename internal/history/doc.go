// Package history keeps the exchange's past for people to read: orders, trades, fills,
// candles, transfers, deposits and withdrawals, and operators' notes; and for programs, as
// bulletins.
//
// It stands behind the core: [Project] folds events into rows, the follower writes them
// in batches to a [Store] with its cursor in the same transaction, and a [Reader] answers
// pages that cover everything announced, by merging the view's open orders and movements,
// the [Tail], with the rows too young for the store, and the store.
//
// The contract is at the level of batches: sqlstore fulfils it, and historytest
// is the suite that every store passes. A store can be deleted: the follower
// rebuilds it from the journal.
//
// Invariants: a row is written once, when it is final, except a movement's, which an
// operator or a reorganisation can change afterwards; open orders and movements are not
// here; each list has a dense ordinal (an account's orders, fills and movements, a
// market's trades), so that a deep page costs no more than the first one; a store at
// cursor n equals the fold of the events of commands 1..n. Rows move from the view to the
// tail to the store, and a read asks in the same order: therefore the tail observes
// before the view does.
//
// Read store.go, then project.go, position.go, tail.go (with chunk.go, the lookup of its
// rows), and reader.go with orders.go, lists.go, movements.go and candles.go; post.go and
// ledger.go cover every change of every balance; herald.go makes the bulletins that webhooks
// deliver. Open orders, balances and books are in
// view; events as they happen are in feed.
package history
