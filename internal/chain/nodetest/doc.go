// Package nodetest runs real nodes for tests, and plays the world outside of the exchange on
// their chains.
//
// It stands beside the tests of the adapters. `make networks` brings the nodes; a test of a
// node that is not there is skipped and counted (package needs). Every node listens on loopback
// alone, has its own directory, and ends with its test.
//
// Reading order: node.go (a process), proxy.go (the faults between a client and its node),
// outside.go (miner and payer of the Bitcoin family), ether.go (that of Ethereum's), anvil.go and geth.go (how each
// program makes blocks). Out of scope: what an adapter must do
// (package chaintest).
package nodetest
