// Package v2 holds the conventions that the V2 interfaces share: REST paths,
// bearer keys, parameters, pages, order, and errors with a status and a code.
//
// It stands at the edge, on package api, which reads, limits and authenticates requests.
// An interface (walletv2, accountv2) is a list of [Endpoint]s, one file each.
//
// Invariants: every answer is a JSON object, including errors; a status other than 200
// has a code from the table in errors.go; a key is authenticated on every endpoint, even
// one that needs none; the output of an endpoint that returns an error is dropped.
//
// Read server.go, call.go, page.go, then errors.go.
package v2
