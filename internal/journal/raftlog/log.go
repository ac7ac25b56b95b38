package raftlog

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

const (
	// slots bounds the proposals from Propose until the caller of Next is done with them.
	slots = 4
	// mostMessages bounds the messages that wait for a step, mostNotices the notices
	// beyond which a follower takes no more entries.
	mostMessages = 1024
	mostNotices  = 256
)

// exchanged are the types of messages between nodes. Proposals are not forwarded, and nobody asks
// for snapshots.
var exchanged = []raftpb.MessageType{
	raftpb.MsgApp, raftpb.MsgAppResp, raftpb.MsgVote, raftpb.MsgVoteResp, raftpb.MsgPreVote, raftpb.MsgPreVoteResp,
	raftpb.MsgHeartbeat, raftpb.MsgHeartbeatResp, raftpb.MsgTransferLeader, raftpb.MsgTimeoutNow,
}

// Log is a journal.Log that a cluster replicates.
type Log struct {
	store
	node  *raft.RawNode
	files *journal.Files
	lock  io.Closer
	send  func([]*raftpb.Message)
	// changed is Options.Changed.
	changed func(*Change) error

	// Owned by the goroutine of Propose and Step. queue are the proposals that raft does
	// not have yet; flying are those in its log, in order.
	queue  []proposal
	flying []proposal
	ticks  int
	// opened is the term in which this node leads and has applied its first entry.
	opened uint64
	// led is the term of the last Role notice with Leads, zero once one without it followed.
	led uint64
	// begun is the last sequence that was committed at the start.
	begun bourse.Seq
	// confirmed is the highest round of Ask in which a majority answered.
	confirmed uint64
	failed    error
	closed    bool

	durable atomic.Uint64
	// own is the number of proposals between Propose and the end of their notices.
	own atomic.Int64

	mu      sync.Mutex
	inbox   []*raftpb.Message
	wake    chan struct{}
	notices []journal.Notice
	ready   chan struct{}
	status  Status

	// Owned by the goroutine that calls Next.
	notice journal.Notice
}

var _ journal.Log = (*Log)(nil)

// proposal is a proposal of this process.
type proposal struct {
	journal.Proposal
	// at is the position of its entry in the log of raft, once it has one.
	at journal.Position
}

// Role is the part of a node in its cluster.
type Role uint8

// The roles.
const (
	Replica Role = iota + 1
	Candidate
	Leader
	// Learner has no vote, as far as the node knows.
	Learner
)

// Status describes a node as of its last step.
type Status struct {
	Node, Term uint64
	// Leader is the leader that the node knows, zero if none.
	Leader uint64
	Role   Role
	// Open is true for a leader that takes proposals.
	Open bool
	// Commit and Applied are indexes in the log of raft, Last its last position.
	Commit, Applied uint64
	Last            journal.Position
	// Voters are the ids of the nodes that vote, as far as changes were applied.
	Voters []uint64
}

// Status returns the node's status. Safe for concurrent use.
func (l *Log) Status() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status
}

// Receive takes messages of other nodes for the next step. It drops them if too many wait:
// raft sends what matters again. If no node sends one of them to this node, it takes none and
// returns an error. Safe for concurrent use.
//
// The caller knows that the senders are members. Their entries and commits are believed as raft
// believes them, and false ones end the node, in a step: entries that do not continue its
// journal, and a commit beyond its last entry, which a node has that forgot entries.
func (l *Log) Receive(messages ...*raftpb.Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range messages {
		if err := addressed(m, l.status.Node); err != nil {
			return err
		}
	}
	room := mostMessages - len(l.inbox)
	l.inbox = append(l.inbox, messages[:min(room, len(messages))]...)
	signal(l.wake)
	return nil
}

// addressed returns an error unless another node sends messages such as m to this one. Raft takes
// a message without a term, and one of its own storage threads, for a local one.
func addressed(m *raftpb.Message, node uint64) error {
	from, kind := m.GetFrom(), m.GetType()
	switch {
	case m.GetTo() != node:
		return fmt.Errorf("a message to node %d came to node %d", m.GetTo(), node)
	case from == raft.None || from == node || raft.IsLocalMsgTarget(from) || m.GetTerm() == 0:
		return fmt.Errorf("a message of node %d, term %d, is of no other node", from, m.GetTerm())
	case !slices.Contains(exchanged, kind):
		return fmt.Errorf("a message of type %v, which nodes do not exchange", kind)
	default:
		return nil
	}
}

// Wake returns a channel that receives when messages wait for a step.
func (l *Log) Wake() <-chan struct{} { return l.wake }

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // already signalled
	}
}

// Tick counts a tick for the next step. It belongs to the goroutine of Step.
func (l *Log) Tick() { l.ticks++ }

// Change asks the leader to change the members. Status tells once that is done; the change is
// lost if the leader changes before, or if the change before it was not applied. A change that
// the members do not allow is an error. It belongs to the goroutine of Step.
func (l *Log) Change(c *raftpb.ConfChangeV2) error {
	if err := l.usable(); err != nil {
		return err
	}
	if !l.leads() {
		return journal.ErrNotLeader
	}
	if err := allows(l.members, c); err != nil {
		return err
	}
	return l.node.ProposeConfChange(c)
}

// Ask begins a round in which a majority says whether this node still leads a term. A node that lost that term does not,
// even if it leads a later one. Rounds have rising numbers, and Confirmed tells which of them it has won; one that it cannot
// win any more is not told. It belongs to the goroutine of Step.
func (l *Log) Ask(round, term uint64) error {
	if err := l.usable(); err != nil {
		return err
	}
	if !l.leads() || l.opened != term {
		return journal.ErrNotLeader
	}
	l.node.ReadIndex(binary.BigEndian.AppendUint64(nil, round))
	return nil
}

// Confirmed returns the highest round that this node has won. It belongs to the goroutine of Step.
func (l *Log) Confirmed() uint64 { return l.confirmed }

// usable returns an error if the log has stopped.
func (l *Log) usable() error {
	switch {
	case l.failed != nil:
		return l.failed
	case l.closed:
		return journal.ErrClosed
	default:
		return nil
	}
}

// Propose implements [journal.Log].
func (l *Log) Propose(p journal.Proposal) error {
	switch err := l.usable(); {
	case err != nil:
		return err
	case p.Count < 1 || len(p.Commands) < p.Count || len(p.Commands) > journal.MaxFrame:
		return journal.ErrTooLarge
	case !l.leads():
		return journal.ErrNotLeader
	case l.own.Load() >= slots:
		return journal.ErrBusy
	}
	l.own.Add(1)
	p.Commands = slices.Clone(p.Commands)
	l.queue = append(l.queue, proposal{Proposal: p})
	return nil
}

// leads reports whether this node is the leader, and has applied all that earlier leaders
// committed.
func (l *Log) leads() bool {
	s := l.node.BasicStatus()
	return s.RaftState == raft.StateLeader && l.opened == s.GetTerm()
}

// notify adds a notice.
func (l *Log) notify(n journal.Notice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notices = append(l.notices, n)
	signal(l.ready)
}

// Next returns the next notice.
func (l *Log) Next() (*journal.Notice, bool) {
	if l.notice.Proposal != 0 {
		l.own.Add(-1)
	}
	l.notice = journal.Notice{}

	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.notices) == 0 {
		return nil, false
	}
	l.notice = l.notices[0]
	l.notices = slices.Delete(l.notices, 0, 1)
	return &l.notice, true
}

// Noticed reports whether Next has a notice. Safe for concurrent use.
func (l *Log) Noticed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.notices) > 0
}

// Ready returns a channel that receives when Next may have notices.
func (l *Log) Ready() <-chan struct{} { return l.ready }

// Durable returns the last sequence that is committed and on this node's disk.
func (l *Log) Durable() bourse.Seq { return bourse.Seq(l.durable.Load()) }

// Read returns a reader of the live segments up to Durable.
func (l *Log) Read(from bourse.Seq) (journal.Reader, error) {
	return l.files.ReadDurable(from, l.Durable)
}

// Prepare makes one piece of the next segment, if one is due.
func (l *Log) Prepare() (more bool, err error) { return l.spare.Prepare() }

// Unprepared receives when a piece of the next segment may be due.
func (l *Log) Unprepared() <-chan struct{} { return l.spare.Behind() }

// Mark proves that everything before it was durable, and keeps the commit for the next
// start.
func (l *Log) Mark() error {
	if err := l.usable(); err != nil {
		return err
	}
	return l.fail(l.mark(journal.EntryMark))
}

// fail makes an error final.
func (l *Log) fail(err error) error {
	if err != nil {
		l.failed = err
	}
	return err
}
