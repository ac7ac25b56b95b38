// Package hdkeys derives the keys of the exchange's addresses by BIP 32, and finds the owner
// of an address.
//
// It stands below the adapters of real networks (bitcoin, evm, cosmos). They turn a public key into an
// address; on Cosmos all accounts share that of the hot wallet.
//
// Invariants:
//
//   - A [Form] takes extended public keys alone. Its errors never repeat a text that could be a
//     private key.
//   - A program that a [File] gave counts once this process has derived it.
//   - Branch 0 of an account's key has the customers by account id, branch 1 the exchange's own
//     addresses. No address has two keys, and no key two addresses.
//
// Reading order: form.go, keys.go, owners.go, table.go, file.go. Out of scope: addresses and signatures.
package hdkeys
