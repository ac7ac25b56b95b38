// Package accountv1 is the account REST interface V1, under /account: log-in, log-out and
// API keys, for clients of V1. Each endpoint has a file; the endpoints of API keys share one.
//
// It stands at the edge, on api; package account has the rules, which V2 shares. Its sessions
// and keys are V2's as well.
//
// Invariants: a key's secret appears in the answer that makes it and in no other; passwords
// and keys are taken in the body alone.
//
// Not here: sign-up, recovery, second factors and addresses, which only accountv2 has.
package accountv1
