// Package follower is a second engine that reads the journal behind the live
// one.
//
// It stands behind the journal and before everything durable that is read: it
// feeds the history store at its own pace, rows and cursor together, and it takes
// the snapshots. So trading never waits for SQL, backlog lives in the journal and
// never in memory, and a snapshot never pauses anything. What it takes through the
// journal, an engine and its market data, a start does too as far as nobody has to
// see it.
//
// It is a step machine without goroutines of its own: node runs it, sim steps it.
//
// Invariants: it starts from a snapshot that its store's cursor has reached, and
// hands on the rows of each later command exactly once; a snapshot is of a moment
// that the store has reached; what the live side holds is never touched.
package follower
