// Package chaintest is the test suite for the adapters of networks.
//
// It stands beside the contract, package chain, and only tests import it. An adapter's
// test passes a [Rig]: the network as the wallet sees it, with controls for the outside
// world and the connection to the node. After each test the deposits and payments in the
// blocks must equal the network's balances, to the unit.
//
// Read chaintest.go, books.go, then the other files, one for each theme. The crediting of
// deposits is tested with the custody and the scanner.
package chaintest
