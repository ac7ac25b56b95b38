// Package v2 holds the conventions that the V2 interfaces share: REST paths,
// bearer keys, parameters, pages, order, and errors with a status and a code.
//
// It stands at the edge, above package api, whose requests, limits and keys it
// uses. An interface (walletv2, accountv2) is a list of [Endpoint]s, one file
// each.
//
// Invariants: every answer is a JSON object, also those with an error; a status
// other than 200 has a code from one table (errors.go); a key that is shown is
// looked at on every endpoint; nothing of what an endpoint wrote is sent when it
// returns an error.
//
// Read server.go, call.go, page.go, then errors.go.
package v2
