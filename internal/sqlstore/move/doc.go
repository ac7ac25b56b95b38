// Package move copies a store from one database to another, of any kind.
//
// It stands above the kinds of database and below the command line. It copies a snapshot
// of the source, which may be in use. The copy is made under another name (of a file or
// schema), every row of it is read back and compared, and only then it gets its final
// name. Therefore a move that was killed at any moment can be run again, and the
// destination is complete at any moment.
//
// Invariants: the source never changes; a destination with rows that are missing in the
// source is left alone, since the move would lose them.
//
// The package knows no tables: it reads the schemas of both databases and compares them.
package move
