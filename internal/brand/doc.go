// Package brand holds an exchange's name and look: name, logo, colours, terms,
// addresses and texts of letters, as an operator's block `brand` of the settings has them.
//
// It stands beside the edge: cmd reads the block, node hands the parts to the pages, the
// documentation and the accounts.
//
// Invariants: a brand that Parse returns is whole and bounded, and its colours can be read: each
// text has a contrast of at least leastText to its background. The defaults are Bourse's.
//
// Not here: the pages (internal/web), and when accounts accept terms (internal/account).
//
// Read brand.go, then colours.go.
package brand
