// Package wallet is the conversation with the networks: it reads their blocks and
// sends what custody wants sent.
//
// It stands between the engine and the chains. Custody, in the core, owns money,
// statuses and signed bytes; this package keeps nothing that must survive. The
// [Board] repeats what the journal says is open; a [Worker] for each network
// compares it with the chain and turns what differs into commands: blocks that
// were mined, blocks that left the chain, transactions that were signed,
// transactions that the network took.
//
// A worker is a step machine: node runs its Step again and again, and any step
// may be the last one before a crash. Nothing is broadcast before the command
// with its bytes is committed, and only these bytes are ever broadcast.
//
// Invariants: what a network says is checked before it becomes a command; odd
// answers change nothing and mark the network not operating; a block becomes a
// command only if its parent is the last block that custody knows.
// Nothing is paid from what may leave the chain again with the payment: deposits
// and sweeps count when they are deep enough. What takes the place of a
// transaction that was given up excludes it, as long as it could still be mined:
// it spends the same outputs, which nothing else spends meanwhile, or has the same
// nonce; or it waits until something else excludes it for good.
//
// Read board.go, worker.go, then scan.go and send.go. The tests' world_test.go is
// an exchange with its networks in one goroutine, that may crash anywhere.
package wallet
