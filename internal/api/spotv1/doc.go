// Package spotv1 is the spot REST interface V1: one file per endpoint, named
// after it.
//
// It stands at the edge, on api: requests for the public and for accounts come
// in as calls, orders and cancels leave as commands to the sequencer, and
// answers are read from view and history. docs/spec/spot.md is its contract.
//
// Invariants: what a request and the market's definition alone can refuse is
// refused here, before the journal; everything else is for the engine to decide.
package spotv1
