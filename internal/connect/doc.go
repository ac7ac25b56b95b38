// Package connect reads the settings of real networks, connects them and looks at their nodes.
//
// It stands between the command line, which has the file, and the wallet, which takes
// attachments. A sandbox may sign in its own process, with keys from its own seed. An exchange of real
// money has public keys alone.
//
// Invariants:
//
//   - A sandbox connects to test chains alone, by a compiled list of their first blocks: its money
//     is credited for nothing, and must not buy coins that are worth something.
//   - An exchange of real money makes up nothing: keys, first block and signer are in its settings.
//   - A node of another chain than the settings name is never read.
//   - No setting is ignored: one that this version does not carry out is refused.
//   - No error has a password or a key.
//
// Reading order: settings.go, connect.go, survey.go. Out of scope: networks themselves (package chain) and the
// adapters.
package connect
