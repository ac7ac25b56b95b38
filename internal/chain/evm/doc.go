// Package evm connects to Ethereum and the chains that share its transactions, through a node's
// JSON-RPC.
//
// It implements [chain.Network] for networks of accounts. Each account has an address of its own,
// derived from the exchange's extended public key; the keys to spend are the signer's ([Keys]).
// Deposits are swept to the hot wallet. The node needs no wallet and no archive.
//
// Invariants:
//
//   - Nothing of a block counts before its header has its hash, and its transactions and
//     receipts have the header's roots. Senders, gas prices and costs are computed from the
//     transactions' bytes, not taken from the node's words.
//   - The value of a transaction counts if it succeeded, a token's transfer if a listed contract
//     logged it. A transfer by a contract's call is not seen: it stays on its address.
//   - A transaction of ours pays one address, in the native coin or by a listed contract's
//     transfer. [Codec.Decode] refuses every other, and every encoding of one but the shortest.
//   - Addresses have their checksum (EIP-55). The zero address, precompiles and listed contracts
//     are no destinations.
//
// Reading order: params.go, address.go, codec.go (addresses); quantity.go, rlp.go, trie.go, header.go,
// transaction.go, receipt.go, block.go (blocks); payment.go, prepare.go, client.go, state.go
// (payments). Out of scope: the derivation of keys (package hdkeys) and HTTP (package rpc).
package evm
