// Package pages serves the public data that web pages need beside the interfaces for programs:
// all markets at once, candles as rows, and the state of the exchange.
//
// It stands at the edge, on api, in V2's form, and answers from view, history and the board of
// notices. Each endpoint has a file, named after it.
//
// Invariants: no endpoint needs a key or shows data of an account; the answers that all visitors
// share are encoded at most once a second.
//
// Not here: streams (api/stream), and data of accounts (spotv1, walletv2 and accountv2).
package pages
