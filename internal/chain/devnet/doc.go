// Package devnet is the default set of networks, embedded in the process in place of
// external nodes.
//
// There are five networks of three shapes. BTC and LTC have outputs and an address for
// each account. ETH has accounts with nonces and a token contract, and needs sweeps. ATOM
// has one address for all accounts and a memo for each. TEST has many coins in outputs at
// no cost. They do not speak the protocols of their namesakes: blocks have parents,
// hashes and transactions, addresses have checksums, payments have signatures, and
// failures are those of the real networks.
//
// A [Node] is a network: it keeps its blocks and its pool in a file, makes blocks when
// Tick finds one due or on request, and can be told to reorganise, to double-spend and to
// lag. A [Client] implements [chain.Network] and talks to a node only by encoded requests
// and answers; [Faults] stands between the two and loses, repeats, cuts and falsifies
// messages on request. [Keys] signs. Calls and an injected clock drive everything: the
// package has no goroutines, no randomness and no clock of its own.
//
// Invariants:
//
//   - Client and Node share only bytes, and the client checks all of them; a block's hash
//     covers its whole content.
//   - A change of the network is one record of its log, durable before any client sees
//     it; a restart replays the same changes from the log.
//   - A transaction's effects are computed once, when it enters the pool, and the state
//     changes only by the effects that a block records.
//
// Reading order: params.go, tx.go, state.go, node.go, control.go; then serve.go and
// client.go. Out of scope: ownership of money, and scheduling.
package devnet
