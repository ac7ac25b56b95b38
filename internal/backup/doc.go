// Package backup copies the irreplaceable data of an exchange while it runs, and restores
// a data directory from such a copy.
//
// It is one of the tools that read a data directory. accounts.db is copied first and the
// journal after it, so that the journal has every id of the accounts; then the copy is
// replayed, and the manifest records the state hash it reaches and the checksum of each
// file. A restore checks both before it installs anything. history.db is not copied,
// because it can be rebuilt. Of a sandbox the embedded networks and the signer's record
// are copied after the journal.
//
// The journal of a cluster's node is written anew, as that of an exchange on one node, up to what the leader had applied
// when the accounts were copied (cluster.go).
//
// Invariants: the exchange is never paused and its directory never changes; a directory
// without a manifest is no backup, and the manifest is written last.
package backup
