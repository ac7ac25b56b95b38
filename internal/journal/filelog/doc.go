// Package filelog is the journal on local files: the embedded default.
//
// It implements the contract of package journal, which also has the bytes of segments,
// frames and headers; this package decides when they are written. It is a step machine
// without goroutines.
//
// One proposal is one entry: one write and one fdatasync, into a segment prepared and
// filled with zeros before. The next write begins after the previous sync, so every entry
// proves all those before it, and only the last one can be torn. When a segment is full,
// the spare of Prepare replaces it: the first entry is written and synced, then the file
// is renamed, so that every named segment has a whole first entry.
//
// A start verifies all live segments and cuts only an entry that was never known to be
// durable (keeping a copy). It makes the last entry durable again, since the process
// before may have died between a write and its sync, or because of a sync that failed.
//
// A full disk does not stop the log. Every check for room precedes the first byte of an
// entry, and the proposal gets a Refused notice.
//
// Invariants: what Next yields is durable, and so is everything before it; no block of an
// entry is written again, except by a start that writes the same bytes; a failure is
// final. The term rises with every start.
//
// A standby's log copies frames of another journal, byte for byte, several in one sync: their
// watermarks are those of the sync before.
//
// Not here: how they come; snapshots; the archive (journal.Files).
//
// Read log.go, then write.go, spare.go, open.go and copy.go.
package filelog
