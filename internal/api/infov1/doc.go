// Package infov1 is the information REST interface V1, which needs no account: one file per
// endpoint, named after it; those of notices share one.
//
// It stands at the edge, on api, and answers from view and the board of notices. A list
// reads memory alone. docs/spec/info.md is its contract.
//
// Not here: what depends on an account, such as its own fees, which are in spotv1; the verbs
// that write notices, which are in admin.
package infov1
