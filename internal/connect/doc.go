// Package connect reads the settings of real networks and connects them.
//
// It stands between the command line, which has the file, and the wallet, which takes
// attachments. A sandbox signs in its own process, with keys from its own seed.
//
// Invariants:
//
//   - A sandbox connects to test chains alone, by a compiled list of their first blocks: its money
//     is credited for nothing, and must not buy coins that are worth something.
//   - No setting is ignored: one that this version does not carry out is refused.
//   - No error has a password or a key.
//
// Reading order: settings.go, connect.go. Out of scope: what a network is (package chain) and the
// adapters.
package connect
