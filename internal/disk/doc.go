// Package disk is the exchange's access to its own files (except SQLite's): one small
// interface, so that tests can inject faults.
//
// The journal and its snapshots use it. [Open] returns a directory of the operating
// system; memdisk is the twin that crashes, tears, forgets and fails.
//
// Invariants: names are slash-separated and relative to the directory, and never leave
// it; bytes are durable only after the Sync of their file, names only after the SyncDir
// of their directory.
package disk
