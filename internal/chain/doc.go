// Package chain defines the contract of a connected network: a [Network] reports its
// health, blocks and fees, prepares payments, broadcasts signed ones, and reports their
// state.
//
// It is between the wallet, which drives the networks and keeps no state, and the
// adapters: devnet (embedded), and later Bitcoin, Ethereum and Cosmos. Package chaintest
// is the suite that every adapter passes. There are two families: networks of outputs
// (Bitcoin), where a payment names the outputs that it spends, and networks of accounts
// (Ethereum, Cosmos), where a payment has a sender and a nonce.
//
// Invariants:
//
//   - A node's answers are hostile until they are checked. An answer that does not match
//     the request in form, range, id and hash is [ErrOdd] and yields nothing; a node that
//     does not answer in time is [ErrSilent]. Both mean that the network is not
//     operating, and change nothing.
//   - A [Codec] is pure: it needs only public keys, no node, and its answers never
//     change. The scanner and the signer may each have their own.
//   - Money moves only by a transaction whose bytes were decoded and compared with the
//     journal. Decode therefore returns every effect of a transaction, and refuses a
//     transaction with an effect that it cannot express.
//   - Amounts are in the network's smallest units. Readers convert them to ledger units
//     by the decimals of the [Coin].
//
// Reading order: chain.go (the types), network.go (the contract), inputs.go. Out of
// scope: keys (package signer), ownership of money (core/custody), and scheduling
// (wallet).
package chain
