// Package api implements the parts that all HTTP interfaces share: transport, strict
// parsing of requests, authentication, limits, and errors.
//
// It stands at the edge: requests become commands for the sequencer or queries to view
// and history. An interface (spotv1, walletv1, ...) is a list of [Endpoint]s, one file
// each. One [Server] takes the requests of all interfaces through the same steps; a
// [Dialect] finds the key in a request and writes the answer.
//
// Invariants: a request that was taken in V1 has status 200; a refusal changes nothing;
// no key appears in an answer or a log; a body is read to its bound and no further.
//
// Read form.go, call.go, server.go, v1.go, then transport.go.
package api
