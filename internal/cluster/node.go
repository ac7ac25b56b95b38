package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
)

// Node is a node of a cluster: its log, and its connections to the others.
type Node struct {
	Log *Log
	// config is replaced with each change of the members.
	config atomic.Pointer[Config]
	disk   disk.Disk
	files  *journal.Files
	others Others
	clock  func() time.Time
	after  func(time.Duration) <-chan time.Time
	log    *slog.Logger
	holds  holds
	// tokens let nodes join. secrets returns the shared files for a node that joins; nil if the nodes take no tokens.
	tokens  tokens
	secrets func() ([]Secret, error)
	// standing returns the node's answer to AskStatus.
	standing func() any
	// failed receives the first error of the log's driver and of the scrubber.
	failed    chan error
	transport *Transport
	listener  net.Listener
}

// Parts are the disk, clock and log that a process gives its node.
type Parts struct {
	// Data is the path of Disk.
	Data  string
	Disk  disk.Disk
	Clock func() time.Time
	After func(time.Duration) <-chan time.Time
	Log   *slog.Logger
	// Others has the journals of the other nodes, from which archived segments are mended; nil to read them over the node ports.
	Others Others
	// Secrets returns the files that a node which joins gets beside the journal; nil if none joins by a token.
	Secrets func() ([]Secret, error)
	// Standing tells other nodes of this one; nil for its Status alone.
	Standing func() any
}

// Others calls a function with the journals of the other nodes, which are open until it returns.
type Others func(use func([]*journal.Files) error) error

// Open opens the node of a data directory and its port. Its log takes no step before Run.
func Open(ctx context.Context, p *Parts, c *Config, o journal.Options) (_ *Node, err error) {
	if c.Recovering != nil {
		return nil, ErrRecovering
	}
	if err := c.reads(Known()); err != nil {
		return nil, err
	}
	n := &Node{
		disk: p.Disk, others: p.Others, clock: p.Clock, after: p.After, log: p.Log, secrets: p.Secrets, standing: p.Standing,
		failed: make(chan error, 1),
	}
	n.config.Store(c)
	if n.standing == nil {
		n.standing = func() any { return n.Status() }
	}
	if n.others == nil {
		asker, err := OpenAsker(p.Data)
		if err != nil {
			return nil, err
		}
		n.others = func(use func([]*journal.Files) error) error { return asker.Others(n.Config())(use) }
	}
	if o.Identity, err = c.Identity(); err != nil {
		return nil, err
	}
	n.files = journal.NewFiles(p.Disk, o.Identity)
	raft, _, err := raftlog.Open(p.Disk, raftlog.Options{
		Options: o, Send: func(m []*raftpb.Message) { n.transport.Send(m) }, Changed: n.changed,
	})
	if err != nil {
		return nil, fmt.Errorf("journal in %s: %w", p.Data, err)
	}
	n.Log = NewLog(raft, p.Clock)
	defer func() {
		if err != nil {
			_ = n.Log.Close() // the error that counts is the first
		}
	}()

	t, err := c.options(p.Data)
	if err != nil {
		return nil, err
	}
	t.Receive, t.Clock, t.After, t.Log = raft.Receive, p.Clock, p.After, p.Log
	t.Known, t.Allowed, t.Outdated = Known(), func() Versions { return n.Config().Allowed() }, n.fail
	if n.secrets != nil {
		t.Expects, t.Welcome = func() bool { return n.tokens.any(p.Clock()) }, n.welcome
	}
	if n.transport, err = NewTransport(t); err != nil {
		return nil, err
	}
	if n.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", c.Member(c.Node).Address); err != nil {
		return nil, fmt.Errorf("node port: %w", err)
	}
	return n, nil
}

// Run connects the node and drives its log until ctx ends.
func (n *Node) Run(ctx context.Context, ticks <-chan time.Time) {
	var running sync.WaitGroup
	running.Go(func() { n.transport.Run(ctx, n.listener) })
	running.Go(func() { n.serve(ctx) })
	running.Go(func() { n.promote(ctx) })
	running.Go(func() { n.watch(ctx) })
	running.Go(func() {
		if err := n.Log.Run(ctx, ticks); err != nil {
			n.fail(err)
		}
	})
	running.Go(func() {
		if err := n.scrub(ctx); err != nil {
			n.fail(err)
		}
	})
	running.Wait()
}

// fail reports the first error of a part that has stopped.
func (n *Node) fail(err error) {
	select {
	case n.failed <- err:
	default: // another part was first
	}
}

// Config returns the node's configuration. It must not be changed.
func (n *Node) Config() *Config { return n.config.Load() }

// Failed returns a channel that receives the error with which the log has stopped, or
// the damage that was found in it.
func (n *Node) Failed() <-chan error { return n.failed }

// Status describes the node.
func (n *Node) Status() Status {
	s := n.Log.Describe()
	s.Listen = n.Config().Member(s.Node).Listen
	// A node without a vote begins no election, and knows the last leader that it heard of for ever.
	if n.transport.Outcast(s.Leader) {
		s.Role = "removed"
	}
	if n.Log.Stalled() {
		s.Role = "stalled"
	}
	s.Node, s.Leader = Number(s.Node), Number(s.Leader)
	return s
}

// Leader returns the leader that the node knows; nil if it knows none, or leads itself.
func (n *Node) Leader() *Member {
	s := n.Log.Status()
	if s.Leader == 0 || s.Leader == s.Node {
		return nil
	}
	return n.Config().Member(s.Leader)
}

// Recovery returns the journal's end. It is for a node that has begun to lead, when no other node proposes.
func (n *Node) Recovery() (*journal.Recovery, error) {
	r := new(journal.Recovery)
	last := n.Log.Durable()
	if last == 0 {
		return r, nil
	}
	reader, err := n.Log.Read(last)
	if errors.Is(err, journal.ErrCompacted) { // all of it is archived, as that of a single exchange is
		reader, err = n.files.ReadBehind(last, n.Log.Durable)
	}
	if err != nil {
		return nil, err
	}
	b, err := reader.Next()
	if err == nil {
		r.Tip = b.Tip()
	}
	if closing := reader.Close(); err == nil {
		err = closing
	}
	return r, err
}
