// Package wallet connects the exchange to the networks: it reads their blocks and
// broadcasts the transactions that custody decides on.
//
// Custody, in the core, owns money, statuses and signed bytes; this package has no
// durable state. The [Board] mirrors the open items of the journal. A [Worker] for each
// network compares it with the chain and submits the differences as commands: mined
// blocks, blocks that left the chain, signed transactions, and transactions that the
// network accepted.
//
// A worker is a step machine: node calls Step repeatedly, and a crash may follow any
// step. Nothing is broadcast before the command with its bytes is committed, and only
// those bytes are ever broadcast.
//
// Invariants: a network's answer is checked before it becomes a command; odd answers
// change nothing and mark the network as not operating; a block becomes a command only if
// its parent is custody's tip. Payments spend only deposits and sweeps that are deep
// enough to stay in the chain. A replacement of a dropped transaction excludes it as long
// as it could still be mined: the two share an output, which nothing else spends
// meanwhile, or a nonce, which no other payment takes before the withdrawal is over; or the
// replacement waits until another transaction excludes the old one for good.
//
// Read board.go, worker.go, then scan.go, send.go and bump.go. world_test.go runs an exchange with
// its networks in one goroutine and crashes it at any point.
package wallet
