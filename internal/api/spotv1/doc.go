// Package spotv1 is the spot REST interface V1: one file per endpoint, named
// after it.
//
// It stands at the edge, on api: orders and cancels become commands for the sequencer,
// and answers come from view and history. docs/spec/spot.md is its contract.
//
// Invariants: errors that follow from the request and the market's definition alone are
// found here, before the journal; the engine decides everything else.
package spotv1
