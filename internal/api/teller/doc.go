// Package teller implements the parts that both wallet interfaces share: routes of assets
// over networks, owners of addresses, formats of amounts, transactions and refusals, and
// common fields.
//
// It stands at the edge, below walletv1 and walletv2, so that both describe the same
// money alike. [Networks] provides the facts of a network: addresses, memos, payment URLs
// and whether it operates.
//
// Invariants: an address is passed on in its network's canonical form, and one of the
// exchange's own with the account that it names. Decisions are left to the engine.
//
// Read teller.go, then route.go, fields.go and listing.go. The interfaces themselves have
// the fields of their answers and the codes of their errors.
package teller
