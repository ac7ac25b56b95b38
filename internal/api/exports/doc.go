// Package exports answers with an account's orders, trades, transfers and ledger as CSV, for
// people and their spreadsheets.
//
// It stands at the edge, on api, in V2's form, and answers from history. Each export has a file,
// named after it.
//
// Invariants: an export reads and sends a page at a time, never the whole, at the pace of its
// client and of its account's limit of reads; an account has one at a time; it has the rows up
// to the moment when it began.
//
// Not here: the form of cells (sheet), and lists by page (spotv1, walletv2).
package exports
