// Package accountv2 is the V2 interface of accounts, under /account/v2: sign-up,
// sessions, API keys, e-mail addresses, passwords, second factors and activity.
//
// It stands at the edge, on the conventions of package v2; package account has the rules.
// Each resource with its methods is a file.
//
// Invariants: changes to the ways into an account need a session, never a key; a second
// factor is demanded only for a request without other errors; no answer reveals whether
// an address has an account; the secret of a key, a session or an authenticator
// application appears in one answer.
//
// Read account.go for the list, then sessions.go.
package accountv2
