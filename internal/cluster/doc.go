// Package cluster connects the nodes of a cluster: it carries raft's messages between them, and drives
// the log that they share.
//
// Each node dials every other one and sends on that connection alone; what others say comes on the
// connections that they dial. Both ends show certificates and know each other by the pinned keys, then
// compare exchange, epoch and node ids. After that the connection has frames, each a message of raft.
//
// Invariants: Send never waits. The queue to a node is bounded, and so is what waits while it is away:
// messages are dropped, and raft repeats what matters. A connection that is not of a node ends before
// any of its bytes is read as a message, and a frame that is none ends its connection. A node has one
// connection to this one: a new one ends the one before.
//
// Not here: who the members are, which the log knows; snapshots and segments for a node that fell too
// far behind; the versions of records that a node knows.
//
// Read frame.go and hello.go, then link.go, port.go and log.go.
package cluster
