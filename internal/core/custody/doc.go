// Package custody keeps the exchange's knowledge of networks: blocks taken in, deposits,
// withdrawals, signed transactions, unspent outputs, holdings of addresses, nonces and
// address books.
//
// It stands in the pure core and belongs to the engine, which queries it, moves the money
// in the ledger, and records the results here. Its state is kept nowhere else: the
// programs that talk to networks read it from the events and may be restarted at any
// time.
//
// The last [MaxBlocks] blocks of each network are remembered with all their effects, so
// that a reorganisation takes them back exactly. Deeper blocks are final: their credited
// deposits and paid withdrawals are forgotten here, and a chain that changes below them
// halts the network until operators have it counted anew.
//
// Invariants: a block follows the last one and contradicts nothing known, or nothing of
// it is taken in; an output of the exchange is known once and reserved for at most one
// transaction; a sending address's nonces have no gaps; a deposit is found by transaction
// and index as long as its transaction can be mined, so that it is credited once; an open
// withdrawal has at most one transaction.
//
// Maps are for lookups; package ordered iterates over them.
//
// Read custody.go first, then network.go and mine.go.
//
// Not here: money (the ledger's), and why a withdrawal is refused (package terms).
package custody
