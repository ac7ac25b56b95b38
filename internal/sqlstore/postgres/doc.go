// Package postgres opens the databases of our stores on a PostgreSQL server, all in
// one way: one connection that writes, a few that read, migrations before anybody
// does either.
//
// It stands below the stores in internal/sqlstore, which own their tables and
// their SQL. Each store has a schema of its own, so that several can share a
// database. Rows that are new go in by COPY.
//
// Invariants: a write that returned is durable on the server; no statement and no
// connection waits for ever; an error that says that the server cannot be asked
// now carries what the store tells those who ask; no password is in an error.
//
// What is not here: trying again. Whoever writes does that at its own pace, and
// the pool makes new connections for it.
package postgres
