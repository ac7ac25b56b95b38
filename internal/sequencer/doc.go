// Package sequencer is the one writer: it gathers commands, proposes them to the
// journal, and applies what the journal commits.
//
// It stands in the middle of the line. In front of it, interfaces turn requests
// into commands and wait on tickets; behind it, observers (views, the tail of
// the history, feeds) fold events into what people read.
//
// It is a pipeline of two steps, without goroutines of its own: Write gathers
// what has arrived, proposes it and lets the journal make it durable; Apply
// takes what was committed through the engine and the observers and resolves
// tickets. Two goroutines of the node run them, so that while one frame is
// being synced, the one before it is applied and the next one gathers. The sync
// is the batch window; there are no timers in between. A simulator steps them
// in any order. A replay may have the observers on a goroutine that its caller
// starts.
//
// Invariants: only what the journal yielded is applied; from there on nothing
// asks a clock; a ticket is resolved after its frame is durable, applied, and
// seen by every observer; the intake is bounded, with a lane of its own for
// cancels.
//
// Read intake.go, then write.go and apply.go; replay.go for starts.
package sequencer
