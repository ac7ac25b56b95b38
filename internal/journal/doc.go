// Package journal makes commands durable and gives them their one order.
//
// It stands between the sequencer, which proposes, and everything that reads
// what was committed. It carries bytes and knows no orders.
//
// This package is the contract: a [Log] takes proposals and yields committed
// batches, the same ones in the same order to everybody, for ever. Adapters
// fulfil it: filelog on local files, memlog as a twin for tests that delays,
// drops, changes leader, truncates and installs snapshots, raftlog later. They
// pass one suite, journaltest.
//
// Beside the contract it holds what all adapters share: the frame (the bytes of
// a batch, with checksum and hash chain), [Snapshots], the archive of sealed
// segments, and the [VoidList] of commands that operators took out of effect.
//
// Invariants: sequence numbers are gapless; a batch that was yielded is yielded
// again after any crash; time and term never go back; nothing that was not
// durable is yielded. docs/format has the formats: journal.md, snapshot.md,
// voids.md.
//
// Read journal.go, then frame.go, entry.go and header.go (the bytes), segment.go
// and reader.go (reading them back), end.go (torn or damaged), archive.go and
// stub.go; snapshot.go and voids.go stand on their own.
package journal
