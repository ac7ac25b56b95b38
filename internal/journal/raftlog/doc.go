// Package raftlog is the journal of a cluster's node, replicated by etcd's raft.
//
// It implements the contract of package journal on the segment files of package journal:
// raft's entries are entries of the segments, and a batch's entry has the bytes of its frame.
// The leader stamps sequence, time, term and chain when it proposes. Every node checks them,
// and the checksum, before it writes and acknowledges. The package is a step machine without
// goroutines and clock: its owner hands it messages ([Log.Receive]) and ticks, and sends what
// [Options.Send] gets.
//
// A step is one write and one fdatasync. A leader's entries go out before them, all other
// messages after them: a leader whose disk hangs sends no heartbeats and is replaced. What is
// committed and on this node's disk goes to Next. A failed write, sync or read ends the
// process.
//
// Term and vote are in a file of their own (journal.Voter). The known commit is in each entry,
// and in the marks that follow when the log is idle. A start replays up to it; what follows
// waits until a leader says that it is committed, or replaces it. Replaced entries are copied
// to torn/ and zeroed last to first (cut.go).
//
// Invariants: what Next yields is on a majority's disks, this one included; no entry at or
// below the commit is cut; a message that promises something leaves after the promise is
// durable. A proposal gets exactly one notice: Committed; Dropped, which proves that it never
// will be; or Lost when the log is closed first. After a failed step it gets none, and its fate
// is unknown.
//
// Not here: the connections between nodes; snapshots for nodes that are too far behind, which
// wait meanwhile; a full disk that heals: here it ends the process, and the others continue.
//
// Read log.go and step.go, then entry.go, store.go, write.go, cut.go, open.go, join.go and transfer.go.
package raftlog
