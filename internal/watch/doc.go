// Package watch shows a market in a terminal while it trades.
//
// It stands outside an exchange, as any client does: it speaks to one over the public
// interfaces alone. [Run] subscribes to a market's book and trades, loads the book, and
// brings it up to date by the messages behind it.
//
// Invariants: the book shown is the exchange's at its sequence, never a part of it; what
// the exchange sends is shown as numbers and known words alone, so that no exchange can
// send a terminal commands; the terminal is left as it was.
//
// Read run.go, then client.go, book.go and screen.go.
package watch
