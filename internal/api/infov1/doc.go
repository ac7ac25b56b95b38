// Package infov1 is the information REST interface V1, which needs no account. Each endpoint
// has a file, named after it; the endpoints of notices share one.
//
// It stands at the edge, on api, and answers from view and the board of notices. A list
// reads memory alone. docs/spec/info.md is its contract.
//
// Not here: the fees of an account (spotv1), and the verbs that write notices (admin).
package infov1
