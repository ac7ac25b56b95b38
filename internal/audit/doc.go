// Package audit reads an exchange's data directory and recomputes its state from the
// journal alone.
//
// It is beside the follower, behind the journal, and serves the tools: it opens a
// directory read-only, whether or not an exchange runs there, replays it through the
// engine, and compares the result with snapshots, with the engine's own invariants, and
// with a second bookkeeping in another arithmetic ([Books]).
//
// Invariants: the directory is never changed, except by [Exchange.Prune]; a pruned range
// is reported, never skipped silently.
package audit
