// Package engine decides: commands go in, events come out. Start reading here;
// this is the tour of the whole system, along one order.
//
// A request for a new order arrives at api/spotv1/open_orders_new.go, which has
// the caller's account from api and account already. It turns the words of the
// wire into a [bourse.Command]; what the request alone shows to be wrong ends
// there. Submit (sequencer/intake.go) queues the command, encoded by record, and
// gives back a ticket; a queue that is full says so. Write (sequencer/write.go)
// gathers what has arrived into one proposal, and the journal (journal/filelog)
// writes it as one frame and syncs it. What the journal yields has a sequence
// and a time, and is decided; from there on nothing asks a clock. Apply
// (sequencer/apply.go) hands each command to [Engine.Apply] and the events to
// view, which keeps what people ask for most, and to feed, which sends it to
// who listens. Then the ticket resolves, and the answer leaves. Behind all of
// that the follower reads the same journal with an engine of its own, writes
// history to SQL and takes the snapshots.
//
// # Inside
//
// [Engine.Apply] (engine.go) is one switch over the kinds of commands, and the
// files are named after what they decide. An order goes like this:
//
//   - place.go: is its client id known (names.go), may the account and the
//     market trade, does it fit, is there room for it, is it worth enough? What a
//     MARKET order would cost is read off the book (quote.go). Then its money is
//     held, and only then does it get an id.
//   - match.go: trade with the best of the other side, order by order. Each trade
//     settles both assets at once, fees and price improvement included, and moves
//     the stops that it satisfies into a queue. What is left rests, or is killed.
//   - trigger.go: the queue is worked, first in, first out, and may grow. A
//     command has a budget of steps ([MaxSteps]); what it does not suffice for is
//     left to a Continue, which is a command of its own, so that no command
//     stops the exchange for long.
//   - cancel.go ends orders, accounts.go and catalogue.go change what orders are
//     judged by, and move money outside of trades.
//
// Money is in ledger: nothing else changes a balance. Orders are in book: who
// comes first at which price. What is known of networks is in custody. None knows
// the others; the rules that join them are here.
//
// The wallet goes like this: block.go takes in blocks of networks and takes them
// back, and posts what they move; deposit.go makes deposits of it and credits
// them by their depth; withdraw.go holds the money of withdrawals, lets them go
// and ends them; sign.go puts their transactions on record before they are sent;
// addresses.go keeps address books. custody.go holds the ledger against custody.
//
// snapshot.go writes the state in its canonical form and hashes it; restore.go
// and restore_orders.go read it back and announce it as events, so that what
// stands behind the engine is seeded the way it is fed. check.go recomputes the
// invariants from scratch.
//
// # Invariants
//
// The engine is a function of its commands: no clock, chance, map order or
// goroutine has a say, so the same journal gives the same state hash
// everywhere. After every command, per asset, all postings sum to zero; nobody's
// available or held is below zero; what is held is what open orders and
// withdrawals reserve; a network's account owes what lies on the network; no book
// is crossed; no stop waits that the last price satisfies; numbers of
// trades and level changes have no gaps. A command that passed its Check never
// panics: what cannot be done is refused with a [bourse.Reason]. A panic here is
// a defect, and ends the process before an answer leaves. In steady state no
// command allocates.
//
// The order in which an order's reasons of rejection are looked for is part of
// the rules, because it decides which one a client sees: see place.go.
//
// # How it is shown
//
// testdata holds scenarios to read. Package enginetest holds a naive exchange
// that is written from the rules, random commands, and an engine that is
// restored again and again; TestAgreement and FuzzEngine run them side by side:
//
//	go test ./internal/core/engine -run TestAgreement -seeds=100 -commands=100000
//
// # What is not here
//
// Files, sockets, people, names, the wire, and waiting: what must wait for the
// world is a command when it comes. Market data that can be computed from events
// (tickers, candles) is in view.
package engine
