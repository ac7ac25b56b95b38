// Package stream is the WebSocket interface: one file per operation and per stream.
//
// It stands at the edge. A [Server] holds the connections. Each has its own reader; a few
// writers serve all connections with queued messages, and one whose socket is full gets a
// goroutine of its own until it has room, so that an idle connection costs little. A
// [Publisher] sees every command after the view, encodes each message once and stages it
// in the feed. Package binance gives the connections another [Protocol].
//
// Invariants: each request has exactly one answer, in order; a message is sent after
// every endpoint shows its contents; input and queues are bounded; a connection that
// cannot keep up is closed and never misses a message; the key in the auth operation is
// the only authority.
//
// Read server.go, conn.go, read.go and writers.go for connections, close.go for connections
// whose end cancels orders, protocol.go and session.go for the requests of a connection,
// request.go for operations, publish.go for the streams, and
// resume.go and late.go for clients that come back, and away.go for clients that authenticate at a node which has no accounts.
package stream
