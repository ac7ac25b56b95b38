// Package feed is the live fan-out: messages are encoded once and go to all subscribers
// of their topic.
//
// A publisher behind the view stages the messages of a frame while the frame is applied.
// Deliver, on its own goroutine, moves them to the subscribers' queues, so that trading
// does not wait for the number of subscribers. Each subscriber's owner takes from its
// queue and writes.
//
// A counted topic numbers its messages without gaps. A subscriber that names its last message
// gets the later ones from the line's memory ([Feed.Resume]). If the line no longer has them,
// the caller reads them elsewhere while the topic waits ([Feed.Release]).
//
// A subscriber that takes its messages too slowly loses those of paced topics, and gets a state
// in the same way once it has taken the others.
//
// Invariants: a subscriber gets the messages of its topics in the order of Stage, each
// once and none skipped but for a state in their place; a subscriber whose queue exceeds its bound
// is cut off instead.
// Bytes are shared between queues and never changed.
//
// Not here: the form of messages, and connections; api/stream has both.
package feed
