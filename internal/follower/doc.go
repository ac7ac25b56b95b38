// Package follower is a second engine that replays the journal behind the live one.
//
// It writes the history store at its own pace, rows and cursor together, and takes the
// snapshots. So trading never waits for SQL, backlog stays in the journal and out of
// memory, and a snapshot pauses nothing. A start uses the same replay, of an engine and
// its market data, as far as no observer needs the events.
//
// It is a step machine without goroutines: node runs it, sim steps it.
//
// Invariants: it starts from a snapshot that its store's cursor has reached, and writes
// the rows of each later command exactly once; it takes a snapshot only once the store
// has reached its command; it never touches the live side's state.
package follower
