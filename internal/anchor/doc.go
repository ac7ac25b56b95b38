// Package anchor keeps the heads of a journal out of reach of the data directory's disk,
// so that a truncated, replaced or edited journal is detected.
//
// A [Record] holds the newest head (sequence, chain hash, voids), the state hashes of
// recent snapshots and stops, and the operators' acceptances of a journal that
// contradicts a head. An [Anchor] keeps one record: [Dir] does so in a directory of
// another disk. A [Keeper] follows a running journal and updates its record.
//
// The node writes a record after the frames that it names are durable, and compares a
// journal with the record before a replay; audit compares it with every frame.
//
// Invariants: a record is replaced as a whole and is bounded; a record is only
// overwritten if this process has read or written it.
//
// docs/format/anchor.md has the format. Read record.go, then dir.go and keeper.go.
package anchor
