// Package history keeps the history in SQLite.
//
// It is the history.Store of an exchange on one machine, and passes historytest.
// It can be deleted: the follower rebuilds it from the journal. Therefore a
// commit does not wait for the disk; a crash can take the newest batches, rows
// and cursor together, and the follower writes them again.
//
// Every table is clustered by what its pages are asked for by: an account and
// its ordinal, a market and its number. A deep page costs what the first one
// costs. An amount of 128 bits is two columns of 64, since SQLite counts no
// further.
//
// Invariants: a batch's rows and the cursor are written together or not at all;
// what one read returns is of one moment between two batches.
//
// Read store.go, then write.go, then the migrations.
package history
