// Package teller is what both wallet interfaces know: which asset moves on which
// network, whose address that is, how amounts, transactions and refusals read, and
// the fields that both are asked with.
//
// It stands at the edge, below walletv1 and walletv2, so that both say the same of
// the same money. What it has to know of a network (its addresses, memos, payment
// URLs, whether it operates) it asks [Networks].
//
// Invariants: an address is passed on in its network's canonical form, and one
// that is ours with the account that it names. It decides nothing that the engine
// decides.
//
// Read teller.go, then route.go, fields.go and listing.go. What is not here: the
// fields of answers and of one interface alone, and which error is told how.
package teller
