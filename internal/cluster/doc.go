// Package cluster connects the nodes of a cluster: it carries raft's messages between them, and drives
// the log that they share.
//
// Each node dials every other one and sends on that connection alone; it receives on the connections
// that the others dial. Both ends show certificates and know each other by the pinned keys, then
// compare exchange, epoch and node ids. After that the connection has frames, each a message of raft.
//
// Invariants: Send never waits. The queue to a node is bounded, and empty while there is no connection:
// other messages are dropped, and raft repeats what matters. A stranger's connection ends before any of
// its bytes is read as a message, and malformed bytes end their connection. A node has one connection to
// this one: a new one ends its predecessor.
//
// A node that lost its journal never comes back under its id: the leader admits it as a learner with the
// next life, and lets it vote once it has caught up (members.go). Members come with the changes in the log, and
// the configuration file follows them. Each node reads its live segments again and again (scrub.go).
//
// A hello has the newest records and rules that the node's program knows, and those that may be in its log. Nothing
// newer is proposed before an operator has ended an upgrade, when all programs know it (versions.go).
//
// A machine joins with a token of the leader (token.go), on a protocol that is there only while a token is not spent. On another one
// nodes ask each other for their standing and for changes of the cluster, and read each other's journal (serve.go, ask.go); no request
// of a client comes that way.
//
// Not here: which ids vote, which the log knows; snapshots and segments for a node that fell too far behind.
//
// Read frame.go and hello.go, then link.go, port.go, log.go, transfer.go, members.go, versions.go and token.go.
package cluster
