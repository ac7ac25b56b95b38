// Package journal makes commands durable and puts them into one total order.
//
// The sequencer proposes batches; observers read the committed ones. The journal carries
// bytes and does not interpret commands.
//
// This package is the contract: a [Log] takes proposals and yields committed batches, the
// same ones in the same order to every reader, for ever. Adapters: filelog on local
// files; memlog, a twin for tests that delays, drops, changes leader, truncates and
// installs snapshots; raftlog, replicated by raft. All pass one suite, journaltest.
//
// The package also holds the parts that adapters share: the frame (the bytes of a batch,
// with checksum and hash chain), [Snapshots], the archive of sealed segments, and the
// [VoidList] of commands that operators took out of effect.
//
// Invariants: sequence numbers are gapless; a batch that was yielded is yielded again
// after any crash; time and term never go back; only durable batches are yielded. The
// formats are in docs/format: journal.md, snapshot.md, voids.md.
//
// Read journal.go and open.go, then frame.go, entry.go and header.go (the bytes),
// segment.go and reader.go (reading them back), end.go (torn or damaged), archive.go and
// stub.go; snapshot.go, voids.go and voter.go stand on their own.
package journal
