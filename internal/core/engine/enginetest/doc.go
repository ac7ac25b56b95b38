// Package enginetest tests the engine: a second exchange that decides the same commands,
// random commands, and readable scripts.
//
// It stands beside the engine, and only tests import it. [Oracle] is written from the
// rules and not from the engine: slices, linear scans and big integers, no structure for
// speed. [Workload] draws commands from a [Source], which is a seed or the bytes of a
// fuzzer. [Pair] runs both exchanges and a third engine restored from snapshots, and
// reports the first difference. [Script] runs scenario files: one command per line, its
// effects below.
//
// Invariants: no code here reads a clock or an environment, so that a seed means the same
// commands everywhere; the oracle shares only the vocabulary with the engine.
//
// The oracle makes no decisions about the wallet: it accepts the engine's statuses of
// deposits and withdrawals, and derives the balances from them.
//
// The oracle knows no limits of approvals: the withdrawals of the workload need none.
//
// Read oracle.go first. Not here: API keys, which move no money in the engine; the tests
// themselves, which are in package engine.
package enginetest
