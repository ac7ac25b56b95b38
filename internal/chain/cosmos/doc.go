// Package cosmos connects to chains of the Cosmos SDK, through the JSON-RPC of a CometBFT node.
//
// It implements [chain.Network] for networks of accounts with one shared address: customers are told apart by memos, and the
// hot wallet pays by MsgSend. Its key is the signer's ([Keys]).
//
// Invariants:
//
//   - Nothing of a block counts before its header has its hash and its transactions have the header's root. No hash covers
//     events: they are the node's word.
//   - A transaction of code 0 moves the coins of the bank's events coin_spent and coin_received. Any other moves its fee alone.
//   - A memo counts if the transaction has bank sends alone. In others it is not the depositor's: an IBC relayer
//     writes the memo of the transaction that brings a depositor's coins.
//   - A coin is a denomination. Coins of other chains (ibc/…) are coins of their own.
//   - A payment is one MsgSend of the hot wallet. [Codec.Decode] refuses every other transaction, and every encoding of a payment
//     but the shortest.
//
// Reading order: params.go, address.go, codec.go (addresses); wire.go, payment.go, prepare.go (payments); answer.go, header.go,
// event.go, block.go (blocks); client.go, query.go, state.go, survey.go. Out of scope: the derivation of keys (package hdkeys) and
// HTTP (package rpc).
package cosmos
