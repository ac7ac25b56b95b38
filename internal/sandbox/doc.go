// Package sandbox surrounds an exchange whose money is not real with a demo catalogue,
// simulated traders and their past, and networks in the same process.
//
// It stands beside the interfaces. All its effects on the exchange are commands to the
// sequencer, like every client's orders; the wallet meets its networks as attachments,
// like real ones. [World] offers the calls of node, and the controls of the networks that
// the admin socket serves. [Bots] are a step machine: Plan returns commands, and Learn
// takes their outcomes, so that the same traders make the past at the first start and the
// present afterwards.
//
// Invariants: the traders own their credits and never more than a bounded number of open
// orders; with the same seed they do the same things.
//
// Read world.go, then past.go, traders.go and bots.go; networks.go and controls.go stand
// on their own. Not here: the networks' behaviour (chain/devnet), and connections to nodes
// of real ones (connect).
package sandbox
