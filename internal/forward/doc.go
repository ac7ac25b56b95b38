// Package forward lets any node of a cluster take requests: one that does not lead sends them to the leader over the
// node port, and passes the answer on.
//
// A request is sent at most once, and no further than one node: what another node has sent is served or refused, and
// never sent again. A request that was not sent is refused as not taken. Of one that was sent and has no answer the outcome is
// unknown, and the client is told so.
//
// The leader sees the request as its own listener would: with the client's address, which it believes of
// nodes alone, so that each client counts against the leader's limits whichever node it asks. A request holds a place
// at this node only from when its body is here until its answer is written.
//
// A node's own answers have to be as current as the leader's: it asks the leader for a bound first.
//
// Not here: the answers; which node leads, and the keys of nodes, which package cluster knows; the forms of refusals.
//
// Read forward.go, then dial.go, gate.go and bound.go.
package forward
