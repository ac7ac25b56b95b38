// Package node puts the parts of an exchange together and runs them.
//
// It is the only package, beside cmd, that reads the clock, the environment and
// the configuration, and the only one that starts the goroutines of the line:
// one that writes the journal, one that applies, one that delivers the feed, one
// that follows. Everything else is handed what it needs.
//
// Invariants: parts are started in the order in which they depend on each other
// and stopped in the opposite one; an error of the line ends the process without
// answering anybody; nothing listens before what it serves is complete.
//
// Read node.go first, then open.go, line.go, follow.go and serve.go.
package node
