// Package sequencer is the single writer: it gathers commands, proposes them to the
// journal, and applies the committed ones.
//
// In front of it, interfaces turn requests into commands and wait on tickets; behind it,
// observers (views, the tail of the history, feeds) fold events into read models.
//
// It is a pipeline of two steps, without goroutines: Write gathers submitted commands,
// proposes them and steps the journal; Apply takes committed frames through the engine
// and the observers and resolves tickets. Two goroutines of the node run them, so that
// while one frame is synced, the previous one is applied and the next one gathers. The
// sync is the batch window; there are no timers in between. A simulator steps them in any
// order. During a replay, the observers may run on a goroutine that the caller starts.
//
// Invariants: only batches that the journal yielded are applied, and applying never reads
// a clock; a ticket is resolved after its frame is durable, applied, and seen by every
// observer; the intake is bounded, with a lane of its own for cancels.
//
// Read intake.go, then write.go and apply.go; replay.go for starts.
package sequencer
