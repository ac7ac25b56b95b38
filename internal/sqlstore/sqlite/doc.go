// Package sqlite opens the stores' files in one way: one connection that writes, a few
// that read, after the migrations.
//
// It is below the stores in internal/sqlstore, which own their tables and their SQL.
// Files are in write-ahead mode, so that readers never wait for the writer. The writer
// alone folds the log into the file, in one of two ways that leave the same tables:
// fold.go returns the log's space; pace.go keeps it and spares others' syncs under heavy
// writing.
//
// Invariants: a file of another kind, or of a newer program, is refused by name before a
// byte of it is changed; only the exchange's own user can read the files.
package sqlite
