// Package sqlite opens the files of our stores, all in one way: one connection
// that writes, a few that read, migrations before anybody does either.
//
// It stands below the stores in internal/sqlstore, which own their tables and
// their SQL. Files are in write-ahead mode, so that reading never waits for
// writing; the log is folded into the file by the writer alone, at moments of its
// own choosing, and given back to the disk or, where much is written, kept.
//
// Invariants: a file of another kind is refused by name before a byte of it is
// changed; so is one that a newer program made; nobody but the exchange's own
// user can read what is made here.
package sqlite
