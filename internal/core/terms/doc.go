// Package terms decides why a withdrawal or a transfer is refused.
//
// It belongs to the pure core. The engine decides by it. The edge checks a request with
// it first, on the view's state, so that a request is found good before a second factor
// is asked for, and a request without a name that would be refused is not journaled.
//
// Invariants: the order of the reasons is part of the exchange's rules. Equal values of
// [Case] get equal reasons, whether the engine or the edge fills them in.
//
// Not here: repeated requests (package custody), addresses of networks (package chain),
// sentences for clients (package api).
package terms
