// Package node puts the parts of an exchange together and runs them.
//
// It starts the goroutines of the line, among them the journal's writer, the engine, the
// feed and the follower. It reads the clock, and hands every part its dependencies.
//
// [Options] name the differences between exchanges: the function that opens the journal's
// log, the networks to connect, and the sandbox, if the money is not real. Package cmd
// chooses them; node knows no adapter of a log, and no network but a sandbox's.
//
// Invariants: parts start in the order of their dependencies and stop in the reverse one;
// an error of the line ends the process without further answers; no listener opens before
// its handlers are complete.
//
// Read node.go first, then open.go, genesis.go, attach.go, line.go, follow.go, serve.go
// and stop.go.
package node
