// Package bitcoin connects to Bitcoin and Litecoin through a node's JSON-RPC.
//
// It implements [chain.Network] for networks of outputs. Each account has an address of its own
// (P2WPKH, BIP 84), derived from the exchange's extended public key; the keys to spend are the
// signer's ([Keys]). The node needs no wallet. An index of its transactions (txindex) is
// needed for [Client.State], and to read the amounts of spent outputs.
//
// Invariants:
//
//   - Nothing of a block counts before its bytes have its hash, its proof of work has the
//     difficulty that the chain before it requires, and its transactions have its Merkle root and
//     the commitment to their witnesses.
//   - Addresses are derived from the public key alone. An address of another network, or one
//     that no wallet can spend from today, is no destination.
//   - A transaction of ours spends P2WPKH outputs of ours and pays addresses. [Codec.Decode]
//     refuses every other, and every encoding of one but the shortest.
//   - In a block, only transactions that touch the exchange have transfers. All others have
//     their hash alone.
//
// Reading order: params.go, keys.go, codec.go (addresses); parse.go, header.go, block.go (blocks);
// envelope.go, prepare.go, client.go (payments). Out of scope: the derivation of keys (package
// hdkeys), HTTP (package rpc), and the choice of outputs (chain.Select).
package bitcoin
