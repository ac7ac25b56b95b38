// Package feed is the live fan-out: messages that were encoded once go to all
// who subscribed to their topic.
//
// It stands behind the view. A publisher stages the messages of a frame while
// the frame is applied; Deliver, on a goroutine of its own, hands them to the
// subscribers' queues, so that trading does not wait for the number of
// listeners; each subscriber's owner takes from its queue and writes.
//
// Invariants: a subscriber gets the messages of its topics in the order in which
// they were staged, each once, none skipped: one whose queue outgrows its bound
// is cut off instead. Bytes are shared between queues and never changed.
//
// What is not here: the form of messages and connections; api/stream has both.
package feed
