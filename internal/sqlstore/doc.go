// Package sqlstore is what stores in SQL ask of the kind of database that keeps
// them, and what both kinds do alike.
//
// Below it stand sqlite and postgres, the kinds; beside it history and accounts,
// which own their tables and their SQL. Statements are written once where both
// kinds read them alike, with parameters as $1; what differs is in one file for
// each kind.
//
// Invariants: a database of another kind, or of a newer program, is refused by
// name before anything in it is changed.
package sqlstore
