// Package history keeps the history in SQLite or PostgreSQL.
//
// It is the history.Store of an exchange, in a file or on a server, and passes
// historytest on both. It can be deleted: the follower rebuilds it from the journal.
// Therefore a commit to a file does not wait for the disk; a crash can lose the newest
// batches, rows and cursor together, and the follower writes them again. A server
// confirms durable commits only, since it can crash alone.
//
// Every table has the key of its pages: an account and its ordinal, a market and its
// number. A deep page costs as much as the first. An amount of 128 bits is two columns of
// 64, since neither kind of database computes with more quickly; PostgreSQL has views
// that combine them for readers.
//
// Invariants: a batch's rows and the cursor are written atomically, and only behind the
// cursor that this process left; a read sees one moment between two batches.
//
// Read store.go, then write.go with tables.go, then sqlite.go and postgres.go with the
// differences, and the migrations.
package history
