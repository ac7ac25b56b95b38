// Package chaintest is the suite that every adapter of a network passes: the
// rules that a good wallet keeps, as far as a network shows them.
//
// It stands beside the contract, package chain, and is imported by tests alone.
// An adapter's test hands it a [Rig]: the network as the wallet sees it, and the
// means to play the outside world and the way to the node. After each test the
// books are closed: what the blocks say that we got and gave must be, to the
// unit, what the network says that we have.
//
// Reading order: chaintest.go, books.go, then one file for each theme. Not here:
// whose money is credited when, which is the custody's and the scanner's.
package chaintest
