// Package live implements the WebSocket part of the interface that bots of Binance speak:
// market streams, user data and order entry.
//
// It stands at the edge, beside package binance, whose endpoints answer the requests of order
// entry as well. Package stream has the connections. A [Publisher] sees every command after
// the view and stages messages in a feed of its own; a [Pulse] posts the messages at intervals:
// depth, tickers and candles.
//
// Invariants: updates of a book have all numbers of its level changes, in order; a message is
// sent after every endpoint shows its contents; requests of a connection are taken in order,
// before the answers to earlier ones, and answered in order; a connection's queue is bounded in
// number and bytes, and a connection with a full queue is not read; a connection that does not
// read its messages is closed.
//
// Read live.go, names.go and streams.go, publish.go and pulse.go, then entry.go, flight.go and
// listen.go.
package live
