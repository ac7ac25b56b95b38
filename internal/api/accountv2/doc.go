// Package accountv2 is the V2 interface of accounts, under /account/v2: signing up,
// sessions, API keys, addresses, passwords, second factors, and what happened.
//
// It stands at the edge, on the conventions of package v2; package account knows
// the rules. A file is a resource with its methods.
//
// Invariants: what changes who gets in needs a session, never a key; a request is
// found good in everything before a second factor is asked for; no answer tells a
// stranger whether an address has an account; a key, a session's secret and the
// secret of an authenticator application are in one answer each.
//
// Read account.go for the list, then sessions.go.
package accountv2
