// Package backup copies what an exchange cannot make again, while it runs, and
// makes a data directory of such a copy.
//
// It stands beside the tools that read a data directory. accounts.db is copied
// first and the journal after it, so that the journal knows every id that the
// accounts have; then the copy is replayed, and the state hash that it reaches is
// written down beside the checksum of each file. A restore checks both before it
// installs anything. history.db is not copied: it is made again. Of a sandbox the
// embedded networks and the signer's record come along, after the journal.
//
// Invariants: the exchange is never paused and nothing in its directory changes; a
// backup without a manifest is none, and the manifest is written last.
package backup
