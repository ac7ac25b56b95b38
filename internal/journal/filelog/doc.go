// Package filelog is the journal on local files: the embedded default.
//
// It stands behind the contract of package journal, which also has the bytes of
// segments, frames and headers; here is who writes them, and when. It is a step
// machine without goroutines of its own.
//
// One proposal is one entry: one write and one fdatasync, into a segment that was
// made ready and zero-written before. The next write begins after the sync of the
// one before it, so every entry proves all those before it, and at most the last
// one can be torn. When a segment is full, the spare that Prepare made takes its
// place: first entry written and synced, then renamed to the name of a segment,
// so that a segment that is there has a whole first entry.
//
// A start verifies all live segments, cuts nothing but an entry that was never
// known to be durable (keeping a copy), and makes durable again what it found
// last, since the process before it may have died between a write and its sync,
// or because of a sync that failed.
//
// A disk without room ends nothing. All that it can refuse happens before the first
// byte of an entry, and the proposal is answered by a Refused notice.
//
// Invariants: what Next yields is durable, and so is everything before it; no
// block that holds an entry is written again, but for a start that writes what it
// holds; a failure ends the log. The term rises with every start.
//
// Not here: replication; snapshots; the archive (journal.Files).
//
// Read log.go, then write.go, spare.go and open.go.
package filelog
