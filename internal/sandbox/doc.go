// Package sandbox is what makes an empty exchange worth looking at: a demo
// catalogue, simulated traders, and a past.
//
// It stands beside the interfaces: all it does goes through the sequencer as
// commands, like anybody's orders. [Bots] are a step machine: Plan returns
// commands, whoever carried them out tells Learn what became of them, so that
// the same traders make the past at the first start and the present afterwards.
//
// Invariants: the traders own what they were credited and never more than a
// bounded number of open orders; with the same seed they do the same things.
package sandbox
