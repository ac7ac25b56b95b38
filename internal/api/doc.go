// Package api is what all HTTP interfaces share: the transport, reading
// requests strictly, asking who is there, limits, and errors on the wire.
//
// It stands at the edge: requests come in here, become commands for the
// sequencer or questions to view and history, and their answers leave. An
// interface (spotv1, walletv1, ...) is a list of [Endpoint]s, one file each;
// what belongs to one endpoint is in its file and shared with nobody.
//
// Invariants: a request that was taken is never answered with another status
// than 200; a refusal changes nothing; no key comes back in an answer or gets
// into a log; a body is read to its bound and no further.
//
// Read request.go, call.go, v1.go, then transport.go.
package api
