package raftlog

import (
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// End is the end of a stopped node's log. Other nodes may have more.
type End struct {
	// Last is the position of the last entry, and Tip the journal's tip behind it.
	Last journal.Position
	Tip  journal.Tip
	// Commit is the last index that the node knows to be committed, and Committed the tip behind it.
	Commit    uint64
	Committed journal.Tip
	// Voters are the nodes that vote behind the last entry.
	Voters []uint64
	// Files are the files that Recover changes, by their names in the data directory.
	Files []string
}

// Inspect verifies the journal of a stopped node, and returns its end. It changes nothing.
func Inspect(d disk.Disk, id journal.Identity) (_ *End, err error) {
	lock, err := journal.Lock(d)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()

	l := &Log{files: journal.NewFiles(d, id), store: store{disk: d, identity: id}}
	_, committed, err := l.read(nil)
	if err != nil {
		return nil, err
	}
	end := &End{Last: l.at, Tip: l.tip, Commit: l.commit, Committed: committed}
	if err := l.settleMembers(); err != nil {
		return nil, err
	}
	end.Voters, end.Files = l.members.GetVoters(), []string{l.part().head.Name(), journal.VoterFile}
	return end, nil
}

// Recover makes a node the only member of its cluster, under a new id: a majority of the members is lost for good.
// All entries of its journal count as committed. Entries of a new term, with the context that Options.Changed gets,
// tell of the change. It returns the index of the change. After a crash it can be called again.
func Recover(d disk.Disk, o journal.Options, node uint64, context []byte) (index uint64, err error) {
	l, _, err := load(d, &Options{Options: o})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, l.release()) }()
	if err := l.settleMembers(); err != nil {
		return 0, err
	}
	if err := l.takeID(node); err != nil {
		return 0, err
	}

	l.commitTo(l.at.Index)
	if l.at.Term < l.voter.Term {
		if err := l.force(raftpb.EntryNormal, nil); err != nil {
			return 0, err
		}
	}
	for !l.alone() {
		change := new(raftpb.ConfChangeV2) // it ends a joint change
		if len(l.members.GetVotersOutgoing()) == 0 {
			change = l.only(context)
		}
		if err := l.forceChange(change); err != nil {
			return 0, err
		}
	}
	return l.membersAt, l.mark(journal.EntrySeal)
}

// settleMembers sets the members to those behind the last entry.
func (l *Log) settleMembers() (err error) {
	head := l.part().head.Replica
	l.membersAt = head.MembersAt
	if l.members, err = parseMembers(head.Members); err != nil || l.at == head.At {
		return err
	}
	failed := l.store.read(head.At.Index+1, func(e *raftpb.Entry) bool {
		if e.GetType() != raftpb.EntryConfChangeV2 {
			return true
		}
		var c *raftpb.ConfChangeV2
		if c, err = changeOf(e); err == nil {
			err = l.become(c, e.GetIndex())
		}
		return err == nil
	})
	return errors.Join(failed, err)
}

// become sets the members to those behind a change, which has an index.
func (l *Log) become(c *raftpb.ConfChangeV2, index uint64) error {
	after, err := becomes(l.members, c)
	if err != nil {
		return fmt.Errorf("entry %d: %w", index, err)
	}
	l.members, l.membersAt = after.ConfState(), index
	return nil
}

// takeID makes the promise of a node with a new id, in a term that its log does not have.
func (l *Log) takeID(node uint64) error {
	voters := l.members.GetVoters()
	switch {
	case slices.Contains(nodesOf(l.members), node) && (l.voter.Node != node || len(voters) != 1):
		return fmt.Errorf("node %d was a member already", node)
	case l.voter.Node == node:
		return nil // an earlier call was cut short
	}
	l.voter = journal.Voter{Node: node, Term: l.voter.Term + 1}
	return l.voter.Save(l.disk, l.identity)
}

// alone reports whether the node is the only member.
func (l *Log) alone() bool {
	all := nodesOf(l.members)
	return len(all) == 1 && all[0] == l.voter.Node
}

// only returns the change that leaves the node as the only member.
func (l *Log) only(context []byte) *raftpb.ConfChangeV2 {
	c := &raftpb.ConfChangeV2{Context: context}
	for _, id := range nodesOf(l.members) {
		if id != l.voter.Node {
			c.Changes = append(c.Changes, &raftpb.ConfChangeSingle{Type: raftpb.ConfChangeRemoveNode.Enum(), NodeId: new(id)})
		}
	}
	c.Changes = append(c.Changes, &raftpb.ConfChangeSingle{Type: raftpb.ConfChangeAddNode.Enum(), NodeId: new(l.voter.Node)})
	return c
}

// forceChange appends a change of members without asking the others.
func (l *Log) forceChange(c *raftpb.ConfChangeV2) error {
	if _, err := becomes(l.members, c); err != nil {
		return err
	}
	data, err := proto.Marshal(c)
	if err != nil {
		return err
	}
	if err := l.force(raftpb.EntryConfChangeV2, data); err != nil {
		return err
	}
	return l.become(c, l.at.Index)
}

// force appends an entry of the promised term, and takes it for committed.
func (l *Log) force(kind raftpb.EntryType, data []byte) error {
	e := &raftpb.Entry{Type: kind.Enum(), Index: new(l.at.Index + 1), Term: new(l.voter.Term), Data: data}
	if err := l.append([]*raftpb.Entry{e}); err != nil {
		return err
	}
	l.commitTo(l.at.Index)
	return nil
}
