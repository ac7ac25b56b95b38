// Package pace makes messages that come at intervals: it collects what changed of markets
// between two beats, and posts the messages of a beat to a feed.
//
// It stands between the view and the interfaces. A publisher lets [Changes] observe each
// command after the view. At every beat, the goroutine of a pulse takes the collected changes,
// and [Beat] encodes and posts the messages. Packages api/stream and api/binance/live each
// have a pulse of their own messages.
//
// Invariants: the changes of a book that a beat takes have no gap; a message is encoded once
// for a topic and beat, off the line and without the lock of the feed; the changes that
// wait for a beat are bounded.
//
// Not here: the messages, and when each is due.
package pace
