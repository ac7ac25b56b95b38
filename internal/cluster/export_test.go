package cluster

import (
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"time"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

// MostStrangers is the bound of connections whose node is not proven.
const MostStrangers = mostStrangers

// Queued returns the size of the messages that wait, in bytes.
func (t *Transport) Queued() (n int) {
	for _, l := range t.links {
		l.mu.Lock()
		n += l.bytes
		l.mu.Unlock()
	}
	return n
}

// Connected reports whether messages to a node are queued. Without a connection they are dropped.
func (t *Transport) Connected(node uint64) bool {
	return t.links[node].connected()
}

// Greet says hello to a node on a connection, and reports whether the answer is an alert.
func (t *Transport) Greet(node uint64, conn net.Conn) bool { return refused(t.links[node].greet(conn)) }

// Allow sets the versions that may be in the log.
func (n *Node) Allow(v Versions) error {
	config := *n.Config()
	config.Versions = v
	n.config.Store(&config)
	return config.Save(n.disk)
}

// ScrubEvery is the time between two pieces of a scrub, ScrubPiece the size of one, in bytes.
const (
	ScrubEvery = scrubEvery
	ScrubPiece = scrubPiece
)

// After returns the members behind a change.
func (c *Config) After(change *raftlog.Change) ([]Member, error) { return c.after(change) }

// Staying returns an error unless the voters that stay can lead.
func Staying(number uint64, voters, answering []uint64) error {
	return staying(number, voters, answering)
}

// MayLeave returns an error if a voter cannot leave now.
func (c *Config) MayLeave(number uint64, voters []uint64) error { return c.mayLeave(number, voters) }

// Next returns the member that a newcomer becomes.
func (c *Config) Next(n *Newcomer) (*Member, error) { return c.next(n) }

// Seating returns the change that gives a learner a vote.
func (c *Config) Seating(learner *Member) *raftpb.ConfChangeV2 { return c.seating(learner) }

// MayJoin returns an error if a leader cannot let a member join.
func (m *Member) MayJoin(s raftlog.Status) error { return m.mayJoin(s) }

// NewHolds returns the look of holds.
func NewHolds() func(learners []uint64, now time.Time) bool { return new(holds).look }

// StalledAfter is the number of looks after which a step is stalled.
const StalledAfter = stalledAfter

// Look notes whether the log is stalled.
func (l *Log) Look() { l.look() }

// Seat adds learners to the configuration, and asks for the vote of one of them.
func (n *Node) Seat(learners ...Member) error {
	config := *n.Config()
	config.Nodes = append(slices.Clone(config.Nodes), learners...)
	n.config.Store(&config)
	var ids []uint64
	for _, m := range learners {
		ids = append(ids, m.Node)
	}
	return n.Log.reach(func(l *raftlog.Log) error { return n.seatOne(l, ids) })
}

// Knows returns what the program of a connected node knows.
func (t *Transport) Knows(node uint64) (Versions, bool) { return t.knows(node) }

// Port returns the address of the node port.
func (n *Node) Port() string { return n.listener.Addr().String() }

// MostTokens is the bound of tokens that are not spent, TokenFor their time.
const (
	MostTokens = mostTokens
	TokenFor   = tokenFor
)

// The protocols of TLS on the node port.
const (
	ProtocolNodes = protocolNodes
	ProtocolJoin  = protocolJoin
)

// PieceRest is the rest behind a piece of a file, PieceWithin the time for it.
const (
	PieceRest   = pieceRest
	PieceWithin = pieceWithin
)

// Handler returns the handler of the questions of other nodes.
func (n *Node) Handler() http.Handler { return n.handler() }

// StreamBuffer bounds the kernel's buffers of a stream between nodes.
const StreamBuffer = streamBuffer

// Bare returns the connection below TLS on which a node sends or takes requests.
func Bare(conn net.Conn) *net.TCPConn {
	conn = conn.(*tls.Conn).NetConn()
	if w, ok := conn.(*watched); ok {
		conn = w.Conn
	}
	return conn.(*net.TCPConn)
}
