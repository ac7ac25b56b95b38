// Package anchor keeps the heads of a journal where the data directory's disk cannot
// reach them, so that a journal that was cut back, replaced or edited is noticed.
//
// A [Record] holds the newest head (sequence, chain hash, voids), the state hashes of
// recent snapshots and stops, and what operators accepted although a head said
// otherwise. An [Anchor] keeps one record: [Dir] does so in a directory of another disk.
//
// The node writes a record after the frames it names are durable, and holds a journal
// against it before it replays; audit holds the same against every frame.
//
// Invariants: a record is replaced as a whole and is bounded; a record that is not what
// this process or its start found there is never written over.
//
// docs/format/anchor.md has the format. Read record.go, then dir.go.
package anchor
