// Package enginetest proves the engine: a second exchange that decides the same
// commands, random commands to decide, and scripts that people can read.
//
// It stands beside the engine and is imported by tests alone. [Oracle] is
// written from the rules and not from the engine: slices, linear scans and
// big integers, no structure that is there for speed. [Workload] draws commands
// from a [Source], which is a seed or the bytes of a fuzzer. [Pair] runs both
// exchanges, and a third engine restored from snapshots, and says where they
// part. [Script] carries out scenario files: one command per line, what it did
// below.
//
// Invariants: nothing here reads a clock or an environment, so that a seed
// means the same commands everywhere; the oracle shares nothing with the engine
// but the vocabulary.
//
// Of the wallet the oracle decides nothing: it takes the engine's word for what
// becomes of a deposit or withdrawal, and works out what that does to balances.
//
// Read oracle.go first. What is not here: API keys, which move no money in the
// engine; the tests themselves, which stand in package engine.
package enginetest
