// Package history keeps the history in SQLite or PostgreSQL.
//
// It is the history.Store of an exchange, in a file or on a server, and passes
// historytest on both. It can be deleted: the follower rebuilds it from the
// journal. Therefore a commit to a file does not wait for the disk; a crash can
// take the newest batches, rows and cursor together, and the follower writes them
// again. A server confirms what is durable, since it can crash alone.
//
// Every table is keyed by what its pages are asked for by: an account and its
// ordinal, a market and its number. A deep page costs what the first one costs. An
// amount of 128 bits is two columns of 64, since neither kind of database counts
// further quickly; PostgreSQL has views for people, which put them together.
//
// Invariants: a batch's rows and the cursor are written together or not at all,
// and only behind the cursor that this process left; what one read returns is of
// one moment between two batches.
//
// Read store.go, then write.go with tables.go, then sqlite.go and postgres.go, what
// differs, and the migrations.
package history
