// Package move copies a store from one database to another, of any kind.
//
// It stands above the kinds of database and below the command line. What it copies
// is one moment of the source, which may be in use. The copy is made aside (a file or
// schema with another name), every row of it is read again and compared, and only
// then it takes its name. Therefore a move that was killed at any moment can be run
// again, and what is at the destination is whole at any moment.
//
// Invariants: nothing in the source changes; a destination that has rows which the
// source has not is left alone, since it would lose them.
//
// It knows no tables: it asks both databases what they have, and compares.
package move
