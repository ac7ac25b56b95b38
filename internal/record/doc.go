// Package record is the table of commands and their bytes in the journal.
//
// It stands between the sequencer, which encodes submitted commands, and the journal's
// readers: sequencer, follower and audit.
//
// A record is {length uint32, kind uint8, version uint8, body}, little-endian; length
// counts the body. Each kind's row in the table has the body's fields, the check and the
// words for people: a new kind is a row, beside the engine's case. A version rises when
// its kind's body changes; a newer one is refused by name. docs/format/record.md is the
// format.
//
// Invariants: a decoded command passes Check; encoding a decoded command gives the same
// bytes; nothing is allocated for orders and cancels.
//
// Read record.go, then table.go. order.go is for speed.
package record
