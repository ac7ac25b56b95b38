// Package rpc is a client of nodes that speak JSON-RPC over HTTP.
//
// It is below the adapters of real networks (bitcoin). A node is a stranger: its answers are
// bounded in size and time, and are refused unless they have the form of an answer to the
// request.
//
// Invariants:
//
//   - Every request ends within Options.Timeout. A node that accepts connections and never
//     answers is [chain.ErrSilent]; an answer without the form of one is [chain.ErrOdd].
//   - No error and no log has the user's password. It is sent to the configured host alone:
//     redirects are not followed, and proxies of the environment are not used.
//   - Numbers keep their digits ([Number]); no amount passes through a float.
//
// Reading order: client.go, answer.go, number.go. Out of scope: the methods' meaning.
package rpc
