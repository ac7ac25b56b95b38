// Package chain says what a network must offer to be connected: a [Network] can
// be asked for its health, its blocks and its fees, prepares payments, takes
// signed ones, and tells what became of them.
//
// It stands between the wallet, which holds the conversation and keeps nothing,
// and the adapters below it: devnet (embedded), and later Bitcoin, Ethereum and
// Cosmos. Package chaintest is the suite that every adapter passes. The contract
// has two families in it and names them by what they do: networks of outputs
// (Bitcoin), where a payment spends outputs that it names, and networks of
// accounts (Ethereum, Cosmos), where a payment is the next of its sender.
//
// Invariants:
//
//   - Whatever a node says is hostile until it is checked. An answer that is not
//     exactly what was asked for, in form, range, id and hash, is [ErrOdd] and
//     yields nothing; a node that does not answer in time is [ErrSilent]. Both
//     mean that the network is not operating, and change nothing.
//   - A [Codec] is pure: it needs public keys alone, no node, and answers alike
//     for ever. The scanner and the signer may each have one of their own.
//   - Money moves only by a transaction whose bytes were decoded and compared
//     with what was journaled, so Decode tells everything that a transaction
//     does; what it cannot tell, it refuses.
//   - Amounts are counted in the network's own smallest units. Who reads them
//     multiplies to ledger units by the decimals of the [Coin].
//
// Reading order: chain.go (what is said), network.go (the contract), inputs.go.
// Not here: keys (package signer), whose money it is (core/custody), and when
// to ask (wallet).
package chain
