// Package sqlstore defines the interface between SQL stores and their kind of database,
// and the code that both kinds share.
//
// Below it are the kinds, sqlite and postgres; beside it history and accounts, which own
// their tables and their SQL. A statement that both kinds read alike is written once,
// with parameters as $1; the differences are in one file for each kind.
//
// Invariants: a database of another kind, or of a newer program, is refused by name
// before anything in it is changed.
package sqlstore
