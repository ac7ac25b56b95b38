// Package audit reads an exchange's data directory and recomputes what it says,
// from the journal alone.
//
// It stands behind the journal, beside the follower, and serves the tools: it
// opens a directory for reading whether or not an exchange runs there, replays
// it through the engine, and holds the result against snapshots, against the
// engine's own invariants, and against a second bookkeeping in another
// arithmetic ([Books]).
//
// Invariants: nothing in the directory is changed; what was pruned is said, never
// passed over.
package audit
