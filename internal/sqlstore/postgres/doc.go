// Package postgres opens the stores' databases on a PostgreSQL server in one way: one
// connection that writes, a few that read, after the migrations.
//
// It is below the stores in internal/sqlstore, which own their tables and their SQL. Each
// store has its own schema, so that several can share a database. New rows are inserted
// by COPY.
//
// Invariants: a write that returned is durable on the server; no statement and no
// connection waits for ever; an error that means an unavailable server carries the
// store's answer to clients; no error contains a password.
//
// Not here: retries. The writer retries at its own pace, and the pool makes new
// connections for it.
package postgres
