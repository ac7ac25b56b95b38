// Package codec codes values as bytes: one function for each value both writes and reads
// it.
//
// It stands above the vocabulary and below the keepers of bytes: package record for the
// journal, the engine and custody for snapshots and the state hash, view for the tape.
//
// Integers are little-endian and as wide as the function's name says, an amount is its
// low eight bytes and then its high eight, a flag is one byte, 0 or 1. Texts and lists
// follow their length, in four bytes. docs/format has the fields.
//
// Invariants: a value has one form; writing does not change the value; after the first
// mistake everything reads as zero; a length never makes a reader allocate more entries
// than the remaining bytes can hold. A value's sense is checked by its Valid and by the reader's
// caller.
//
// Read codec.go, then catalogue.go. Not here: orders and cancels in the journal, which
// package record writes by hand because they are most commands.
package codec
