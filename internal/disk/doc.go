// Package disk is how the exchange reaches its own files (SQLite's apart): one
// small interface, so that tests can put faults behind it.
//
// It stands below the journal and its snapshots. [Open] gives a directory of the
// operating system; memdisk is the twin that crashes, tears, forgets and fails.
//
// Invariants: names are slash-separated and relative to the directory, and never
// leave it; nothing is durable before the Sync of its file, and no name before
// the SyncDir of its directory.
package disk
