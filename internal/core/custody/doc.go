// Package custody keeps what the exchange knows of networks: blocks taken in,
// deposits, withdrawals, signed transactions, unspent outputs, what addresses
// have, nonces and address books.
//
// It stands in the pure core and belongs to the engine, which asks it what is
// so, moves the money in the ledger, and tells it what became of it. Nothing of
// it is kept anywhere else: whoever talks to a network reads it from the events
// and may be restarted at any time.
//
// Of each network the last [MaxBlocks] blocks are remembered with all that they
// did, so that a reorganisation takes them back exactly. What lies deeper is
// final: its credited deposits and paid withdrawals are forgotten here, and a
// chain that changes below that halts the network.
//
// Invariants: a block follows the last one and contradicts nothing that is
// known, or nothing of it is taken in; an output of the exchange is known once
// and reserved for one transaction at most; a sending address's nonces have no
// gaps; a deposit is found by transaction and index as long as its transaction
// can be mined, so that it is credited once; an open withdrawal has at most one
// transaction.
//
// Maps are for finding. Where one is walked through, what comes of it does not
// depend on the order, or is sorted first.
//
// Read custody.go first, then network.go and mine.go.
//
// What is not here: money (the ledger's), and the rules of who may withdraw what
// (the engine's).
package custody
