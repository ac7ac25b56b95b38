package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/raftlog"
	"github.com/bourse-exchange/bourse/internal/pinned"
)

// lookEvery is the time between two looks of a leader at its learners.
const lookEvery = 100 * time.Millisecond

// Newcomer is a node with an empty disk and a new key: one that lost its disk, or one of a new machine.
type Newcomer struct {
	Number uint64 `json:"number"`
	// Pin names its new key: its old one is another node's.
	Pin string `json:"pin"`
	// Address is the node port of a new machine, Listen its address of clients. A node that comes back has
	// those of its former life.
	Address string `json:"address,omitempty"`
	Listen  string `json:"listen,omitempty"`
	// Replaces is the number of the node whose place a new machine takes; zero for none. Running lets that node, or the
	// former life of this one, be one that still answers.
	Replaces uint64 `json:"replaces,omitempty"`
	Running  bool   `json:"running,omitempty"`
	// Records and Rules are the versions that its program knows.
	Records bourse.CommandKind `json:"records"`
	Rules   uint32             `json:"rules"`
}

// Admission lets a newcomer begin.
type Admission struct {
	// Config is its configuration, Base the header block of the segment that its journal begins with.
	Config Config `json:"config"`
	Base   []byte `json:"base"`
	// Secrets are the files beside the journal that a node which brings a token gets.
	Secrets []Secret `json:"secrets,omitempty"`
	// From is the leader's disk, from which Settle copies the archived segments before Base.
	From disk.Disk `json:"-"`
	// Segment is the size of the files of the newcomer's journal, in bytes; zero for the default.
	Segment int64 `json:"-"`
}

// Errors of Admit.
var (
	// ErrNotLeader: only the leader changes the members, and hands over.
	ErrNotLeader = errors.New("this node does not lead")
	// ErrPruned: the leader's archive lacks commands that the newcomer would lack.
	ErrPruned = errors.New("the leader's journal was pruned: put the pruned segments back into its archive, and remove the stub there")
)

// errUnchanged means that the members do not allow a change, as while another one is applied.
var errUnchanged = errors.New("the members do not change now")

// Admit makes a newcomer a learner under a new id, and returns once that is committed. The leader makes it a
// voter in the place of its former life once it has caught up. Only the leader admits nodes.
//
// The authority is the caller's: whoever reaches the leader's administrative socket.
func (n *Node) Admit(ctx context.Context, c Newcomer) (*Admission, error) {
	if knows, allowed := (Versions{c.Records, c.Rules}), n.Config().Allowed(); !knows.Covers(allowed) {
		return nil, fmt.Errorf("the program of node %d knows %v, and the journal may have %v: start it with a newer one", c.Number, knows, allowed)
	}
	old := c.Replaces
	if c.Address == "" {
		old = c.Number // its former life
	}
	if old != 0 && !c.Running && slices.Contains(n.Config().Answering(ctx), old) {
		return nil, fmt.Errorf("node %d still answers at its node port: end its process first, or say --running, if it is to be replaced nevertheless", old)
	}
	for {
		if a, err := n.admitted(c); a != nil || err != nil {
			return a, err
		}
		err := n.Log.reach(func(l *raftlog.Log) error { return n.propose(l, c) })
		if err != nil && !errors.Is(err, errUnchanged) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		case <-n.after(lookEvery): // a change may be lost, and is proposed again
		}
	}
}

// admitted returns the admission of a newcomer whose change was applied.
func (n *Node) admitted(c Newcomer) (a *Admission, err error) {
	config := n.Config()
	for _, m := range config.Nodes {
		if m.Pin == c.Pin && Number(m.Node) == c.Number {
			a = &Admission{Config: *config}
			a.Config.Node = m.Node
		}
	}
	if a == nil {
		return nil, nil
	}
	err = n.Log.reach(func(l *raftlog.Log) error {
		base, err := l.Base()
		a.Base = base.Bytes()
		return err
	})
	return a, err
}

// propose asks for the change that makes a newcomer a learner. Learners of the same number leave: they lost
// their disks, too.
func (n *Node) propose(l *raftlog.Log, c Newcomer) error {
	config := n.Config()
	if slices.ContainsFunc(config.Nodes, func(m Member) bool { return m.Pin == c.Pin }) {
		return nil // its change was applied meanwhile
	}
	if !l.Status().Open {
		return ErrNotLeader
	}
	m, err := config.next(&c)
	if err != nil {
		return err
	}
	if err := m.mayJoin(l.Status()); err != nil {
		return err
	}
	if stub, err := n.files.Stub(); err != nil || stub != nil {
		return cmp.Or(err, ErrPruned)
	}

	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	change := &raftpb.ConfChangeV2{Context: text}
	add(change, raftpb.ConfChangeAddLearnerNode, m.Node)
	for _, other := range config.Nodes {
		if Number(other.Node) == c.Number && !slices.Contains(l.Status().Voters, other.Node) {
			add(change, raftpb.ConfChangeRemoveNode, other.Node)
		}
	}
	return askFor(l, change)
}

// askFor asks the leader's log for a change. The error is ErrNotLeader, or wraps errUnchanged.
func askFor(l *raftlog.Log, change *raftpb.ConfChangeV2) error {
	switch err := l.Change(change); {
	case errors.Is(err, journal.ErrNotLeader):
		return ErrNotLeader
	case err != nil:
		return fmt.Errorf("%w: %w", errUnchanged, err)
	default:
		return nil
	}
}

func add(c *raftpb.ConfChangeV2, kind raftpb.ConfChangeType, node uint64) {
	c.Changes = append(c.Changes, &raftpb.ConfChangeSingle{Type: kind.Enum(), NodeId: new(node)})
}

// promote lets a leader make learners that have caught up voters, each in the place of its former life or of the node
// that it replaces.
func (n *Node) promote(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.after(lookEvery):
		}
		err := n.Log.reach(func(l *raftlog.Log) error { return n.seatOne(l, l.CaughtUp()) })
		if err != nil && !errors.Is(err, journal.ErrNotLeader) && !errors.Is(err, raftlog.ErrNoHeir) && ctx.Err() == nil {
			n.log.Warn("a node that has caught up gets no vote yet", slog.Any("error", err))
		}
	}
}

// seatOne asks for the vote of the first learner that can get one now: raft takes one change at a time. A learner whose
// vote is refused does not keep the others from theirs.
func (n *Node) seatOne(l *raftlog.Log, learners []uint64) error {
	var refused error
	for _, id := range learners {
		err := n.seat(l, id)
		if err == nil {
			return nil
		}
		refused = errors.Join(refused, err)
	}
	return refused
}

// seat asks for the change that gives a learner its vote. A leader that is to be replaced by it hands over before, so
// that the exchange is not without a leader: the next one asks for the change.
func (n *Node) seat(l *raftlog.Log, learner uint64) error {
	m := n.Config().Member(learner)
	if m.succeeds(l.Status().Node) {
		_, err := l.Transfer(raft.None)
		return err
	}
	return l.Change(n.Config().seating(m))
}

// seating returns the change that gives a learner a vote, and removes the members that it succeeds. It is one change:
// the learner counts from the moment on at which they do not.
func (c *Config) seating(learner *Member) *raftpb.ConfChangeV2 {
	change := new(raftpb.ConfChangeV2)
	add(change, raftpb.ConfChangeAddNode, learner.Node)
	for _, m := range c.Nodes {
		if learner.succeeds(m.Node) {
			add(change, raftpb.ConfChangeRemoveNode, m.Node)
		}
	}
	return change
}

// changed brings the configuration and the connections up to a change of the members. The log calls it in a
// step, before anything else is applied.
func (n *Node) changed(c *raftlog.Change) error {
	config := *n.Config()
	nodes, err := config.after(c)
	if err != nil {
		return fmt.Errorf("members of entry %d: %w", c.Index, err)
	}
	raised, err := raisedBy(c)
	if err != nil {
		return fmt.Errorf("versions of entry %d: %w", c.Index, err)
	}
	versions := config.Versions.or(raised)
	if slices.Equal(nodes, config.Nodes) && versions == config.Versions {
		return nil
	}
	config.Versions = versions
	config.Lives = config.lives() // before members leave
	config.Nodes, config.Changed = nodes, max(config.Changed, c.Index)
	if err := config.Save(n.disk); err != nil {
		return err
	}
	n.config.Store(&config)
	return n.transport.Set(config.peers())
}

// after returns the members behind a change. A node that joins, or starts, sees changes again that are older
// than its configuration: members that came later stay.
func (c *Config) after(change *raftlog.Change) ([]Member, error) {
	nodes := slices.DeleteFunc(slices.Clone(c.Nodes), func(m Member) bool {
		return m.Since <= change.Index && m.Node != c.Node && !slices.Contains(change.Nodes, m.Node)
	})
	if len(change.Context) == 0 {
		return nodes, nil
	}
	m := Member{Since: change.Index}
	if err := json.Unmarshal(change.Context, &m); err != nil {
		return nil, err
	}
	if m.Node == 0 { // no member comes with a raise of the versions
		return nodes, nil
	}
	if slices.ContainsFunc(nodes, func(other Member) bool { return other.Node == m.Node }) {
		return nodes, nil
	}
	return append(nodes, m), nil
}

// raisedBy returns the versions that a change raises the log's to; zero for a change of members.
func raisedBy(change *raftlog.Change) (Versions, error) {
	if len(change.Context) == 0 {
		return Versions{}, nil
	}
	var to raise
	err := json.Unmarshal(change.Context, &to)
	return to.Versions, err
}

// Prepare makes a newcomer's key, in memory.
func Prepare(number uint64, now time.Time) (c Newcomer, cert, key []byte, err error) {
	cert, key, pin, err := pinned.Certify(now)
	known := Known()
	return Newcomer{Number: number, Pin: pin, Records: known.Records, Rules: known.Rules}, cert, key, err
}

// Settle makes the node of a newcomer in a data directory without one. The last file that it writes is the
// configuration, without which the directory is no node's. The end of ctx ends it within a copy of the archive.
func Settle(ctx context.Context, d disk.Disk, a *Admission, cert, key []byte) error {
	base, err := journal.ParseHeader(a.Base)
	if err != nil {
		return fmt.Errorf("the leader's oldest segment: %w", err)
	}
	id, err := a.Config.Identity()
	if err != nil {
		return err
	}
	if err := id.Check(base.Identity); err != nil {
		return err
	}
	if err := errors.Join(write(d, certFile, cert), write(d, keyFile, key)); err != nil {
		return err
	}
	if err := raftlog.Join(d, &base, a.Config.Node, a.Segment); err != nil {
		return err
	}
	if base.Tip.Last > 0 {
		// The leader sends entries of live segments alone.
		from := journal.NewFiles(a.From, base.Identity)
		if err := journal.NewFiles(d, base.Identity).CopyArchive(ctx, from, &base); err != nil {
			return fmt.Errorf("the leader's archive: %w", err)
		}
	}
	return a.Config.Save(d)
}
