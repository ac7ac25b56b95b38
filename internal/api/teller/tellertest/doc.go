// Package tellertest provides an exchange for the tests of the wallet interfaces: an
// engine with its observers, whose networks have the blocks that the test mines.
//
// It stands beside teller. Its sequencer applies each command at once and then checks all
// invariants.
package tellertest
