// Package tellertest is an exchange for the tests of the wallet interfaces: an
// engine with all that stands behind it, whose networks make the blocks that the
// test says.
//
// It stands beside teller. Its sequencer applies each command at once, and checks
// all invariants after it.
package tellertest
