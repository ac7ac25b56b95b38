// Package record is the bytes of commands: what the journal carries.
//
// It stands between the sequencer, which encodes what was submitted, and all
// who read the journal: sequencer, follower and audit.
//
// A record is {length uint32, kind uint8, version uint8, body}, little-endian;
// length counts the body. Fields are appended, never moved: a kind's version
// rises when its body gains a field, an older version is read with that field
// absent, and a newer one is refused by name. docs/format/record.md is the
// format.
//
// Invariants: what was decoded passes bourse.Command.Check; encoding what was
// decoded gives the same bytes; nothing is allocated for orders and cancels.
package record
