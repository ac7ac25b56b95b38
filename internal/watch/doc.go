// Package watch shows a market in a terminal while it trades.
//
// It is a client of the public interfaces alone. [Run] subscribes to a market's book and
// trades by package client, and ends with the connection.
//
// Invariants: the book shown is the exchange's complete book at its sequence; text from
// the exchange is shown only as numbers and known words, so that no exchange can send
// control sequences to a terminal; the terminal is restored at the end.
//
// Read run.go, then book.go and screen.go.
package watch
