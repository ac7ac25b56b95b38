// Package devnet is the embedded default: whole networks in the process, which
// stand for somebody else's nodes.
//
// There are five, in three shapes. BTC and LTC keep money in outputs and give
// each account an address; ETH keeps it in accounts with nonces, has a token
// with a contract of its own, and must be swept; ATOM gives all accounts one
// address and each a memo; TEST carries many coins in outputs at no cost. They
// are not the protocols of their namesakes: blocks have parents, hashes and
// transactions, addresses have checksums, payments have signatures, and things
// go wrong in the ways that they do there.
//
// A [Node] is a network: it keeps its blocks and what waits for one in a file,
// makes blocks when Tick finds one due or when it is told to, and can be made to
// reorganise, to spend twice and to lag. A [Client] implements [chain.Network]
// and reaches a node through encoded requests and answers alone; [Faults] stands
// between them and loses, doubles, cuts and falsifies what it is told to. [Keys]
// signs. All of it is driven by calls and a clock that is handed in: there is
// no goroutine, no randomness and no time here.
//
// Invariants:
//
//   - Client and Node share nothing but bytes, and the client believes none of
//     them that it has not checked; a block's hash covers all that is in it.
//   - A change of the network is one record of its log, durable before anybody
//     is told; a restart makes the same changes from the log.
//   - What a transaction does is found out once, when it enters the pool, and
//     what a block says it did is what changes the state.
//
// Reading order: params.go, tx.go, state.go, node.go, control.go; then serve.go
// and client.go. Not here: whose money it is, and when to ask.
package devnet
