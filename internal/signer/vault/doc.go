// Package vault reads the files of a signer of its own: its seed and its settings.
//
// It stands between cmd/bourse-signer and package signer. The seed is a file of age, encrypted to
// recipients or by a passphrase; all keys derive from it, those of Bitcoin's family by BIP 84 and those
// of Ethereum's by BIP 44. The
// settings are a file of YAML with limits, allow-lists and approvers.
//
// Invariants: a setting that is missing is a limit of zero; a setting that is not known is
// refused; no error and no output has the seed or a private key.
//
// Read seed.go, networks.go, settings.go. Out of scope: rules and record (package signer).
package vault
