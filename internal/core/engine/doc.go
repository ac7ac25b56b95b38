// Package engine is the matching engine: commands go in, events come out. Start reading
// here; this is the tour of the whole system, along one order.
//
// A request for a new order arrives at api/spotv1/open_orders_new.go, after api and
// account have authenticated the caller. The handler translates it to a [bourse.Command]
// and rejects requests that are wrong in themselves. Submit (sequencer/intake.go) queues
// the command, encoded by record, and returns a ticket, or reports a full queue. Write
// (sequencer/write.go) batches the queued commands into one proposal, and the journal
// (journal/filelog) writes it as one frame and syncs it. The journal gives each command a
// sequence and a time; later code never reads a clock. Apply (sequencer/apply.go) passes
// each command to [Engine.Apply] and the events to view, which holds the data most often
// requested, and to feed, which publishes to subscribers. Then the ticket resolves, and
// the answer is sent. Off that path the follower reads the same journal with its own
// engine, writes history to SQL and takes the snapshots.
//
// # Inside
//
// [Engine.Apply] (engine.go) is one switch over the kinds of commands, which catalogue.go,
// accounts.go and custody.go continue for their areas, and the files are named after
// their decisions. The steps of an order:
//
//   - place.go: check the client id (names.go), the account's and the market's state, the
//     numeric bounds, the price band, the minimum and the room in the book. The cost of a
//     MARKET order is computed from the book (quote.go), and behind_stop.go fixes what one
//     that waits may cost. Then hold the money, and only then allot an id.
//   - match.go: trade with the best of the other side, order by order. Each trade settles
//     both assets at once, fees and price improvement included, and queues the stops that
//     it satisfies. The remainder rests, or is killed.
//   - trigger.go: work the trigger queue, first in, first out; it may grow meanwhile. A
//     command has a budget of steps ([MaxSteps]); a Continue, which is a command of its
//     own, does the remaining work, so that no command stops the exchange for long.
//   - list.go: place the two orders of an OCO list, and kill one when the other acts.
//   - streams.go numbers the events for the streams of their accounts.
//   - fees.go and volume.go: bound fees by levels, which each day sets anew from the
//     volumes of the last 30.
//   - tier.go limits what accounts move by the sums of 24 hours and 30 days: an order before it
//     takes its hold, a withdrawal when it is requested, a deposit when it is credited.
//   - amend.go changes the price or the quantity of an open order, replace.go puts another
//     one in its place.
//   - cancel.go ends orders; silence.go ends the orders of clients that fell silent: a dead
//     man's switch expires by the journaled time or by the close of a connection.
//   - accounts.go and catalogue.go change accounts and definitions, and move money outside
//     of trades.
//   - operator.go and act.go: the operators and their acts. Commands of operators pass guarded,
//     the one place that asks whether they may come without an act.
//
// Package ledger holds the money: no other code changes a balance. Package book holds the
// orders by price and time. Package custody holds the state of networks. None of them
// knows the others; the rules that join them are here.
//
// The wallet: block.go applies and reverts blocks of networks and posts their movements;
// deposit.go turns inflows into deposits and credits them by depth; withdraw.go holds the
// money of withdrawals, releases them for sending and ends them; sign.go records their
// transactions before they are sent; addresses.go keeps address books. custody.go passes
// the wallet's commands to them, and compares the ledger with custody.
//
// snapshot.go writes the state in its canonical form and hashes it; restore.go and
// restore_orders.go read it back and announce it as events, so that observers are seeded
// the same way as they are fed. check.go recomputes the invariants from scratch.
//
// # Invariants
//
// The engine is a function of its commands: it uses no clock, randomness, map order or
// goroutine, so the same journal gives the same state hash everywhere. After every
// command, per asset: all postings sum to zero; no customer's available or held balance
// is below zero; held balances equal the reserves of open orders and withdrawals, and of two
// orders of which only one may act the larger one; a network's account owes the exchange's
// balance on the network. No book is crossed; no waiting stop is satisfied by the last price;
// numbers of trades and level changes have no gaps. A command that passed record.Check never
// panics: an impossible one is refused with a [bourse.Reason]. A panic here is a defect, and
// ends the process before an answer leaves. In steady state no command allocates.
//
// The order of the checks of an order is part of the rules, because it decides which
// reason for rejection a client sees: see place.go.
//
// # Tests
//
// testdata holds readable scenarios. Package enginetest holds a naive exchange written
// from the rules, random commands, and an engine that is restored again and again;
// TestAgreement and FuzzEngine run them side by side:
//
//	go test ./internal/core/engine -run TestAgreement -seeds=100 -commands=100000
//
// # Not here
//
// Files, sockets, people, names, wire formats, and waiting: an external event enters as a
// command. Market data derived from events (tickers, candles) is in view.
package engine
