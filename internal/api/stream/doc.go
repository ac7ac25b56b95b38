// Package stream is the WebSocket interface: one file per operation and per
// stream.
//
// It stands at the edge. A [Server] holds the connections: each has a reader of
// its own; a few writers walk those that have something to send, and one whose
// socket is full has a writer of its own until it is not, so that an idle
// connection costs little. A [Publisher] sees every command behind the view,
// encodes each message once and stages it in the feed.
//
// Invariants: exactly one answer for each request, in order; nothing is sent
// before every endpoint shows it; what is read and what is queued is bounded; a
// connection that cannot keep up is ended, never skipped; authority comes from
// the key in the auth operation alone.
//
// Read server.go, conn.go, read.go and writers.go for connections, request.go for
// operations, and publish.go for the streams.
package stream
