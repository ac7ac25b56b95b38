// Package pages is what web pages read of the exchange beside its programs' interfaces: all
// markets at once, candles as rows, and the state of the exchange.
//
// It stands at the edge, on api, in V2's form, and answers from view, history and the board of
// notices. Each endpoint has a file, named after it.
//
// Invariants: it needs no key, and tells nothing of an account; the answers that all visitors
// share are encoded at most once a second, however many there are.
//
// Not here: streams (api/stream), and what needs an account, which pages read of spotv1,
// walletv2 and accountv2.
package pages
