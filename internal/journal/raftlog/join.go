package raftlog

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/segments"
)

// mostBehind is the number of entries that a learner may lack and still become a voter. A leader under load
// has always sent some that are not acknowledged.
const mostBehind = 256

// Change is a change of the members that was applied.
type Change struct {
	// Index is the index of its entry, Context the bytes that its proposer gave it.
	Index   uint64
	Context []byte
	// Nodes are the ids of all members behind it: voters, learners, and voters that a joint change is
	// about to remove.
	Nodes []uint64
}

// nodesOf returns the ids of all members.
func nodesOf(s *raftpb.ConfState) []uint64 {
	return slices.Concat(s.GetVoters(), s.GetLearners(), s.GetVotersOutgoing())
}

// Join makes the journal of a node that joins a running cluster, in a data directory without one. It begins
// where a member's oldest live segment does, whose header base is, and gets the entries behind it from the
// leader. After a crash it can be called again.
//
// The id must be new. A node that lost its disk has forgotten its votes and entries that it acknowledged;
// under its old id it could elect a second leader of a term, or one that lacks committed entries.
func Join(d disk.Disk, base *journal.Header, node uint64, size int64) error {
	size, err := segmentSize(size)
	if err != nil {
		return err
	}
	if base.Replica == nil {
		return journal.ErrReplica
	}
	members, err := parseMembers(base.Replica.Members)
	if err != nil {
		return err
	}
	if node == raft.None || slices.Contains(nodesOf(members), node) {
		return fmt.Errorf("node %d was a member already", node)
	}

	lock, err := acquire(d)
	if err != nil {
		return err
	}
	s := &store{disk: d, identity: base.Identity, at: base.Replica.At, tip: base.Tip, commit: base.Replica.At.Index}
	s.members, s.membersAt = members, base.Replica.MembersAt
	if err := begun(d); err != nil {
		return errors.Join(err, lock.Close())
	}
	return errors.Join(s.create(node, size), lock.Close())
}

// create makes the first segment and the promise of a node, in a directory that is locked.
func (s *store) create(node uint64, size int64) error {
	if err := (journal.Voter{Node: node, Term: s.at.Term}).Save(s.disk, s.identity); err != nil {
		return err
	}
	s.spare = segments.NewSpare(s.disk, size, nil)
	return errors.Join(s.begin(), s.spare.Close(), s.seg.close())
}

var errThere = errors.New("there is a journal already")

// Base returns the header of the oldest live segment, for Join. It belongs to the goroutine of Step.
func (l *Log) Base() (journal.Header, error) {
	for len(l.parts) > 1 {
		file, err := l.disk.Open(l.parts[0].head.Name())
		if err == nil {
			return l.parts[0].head, file.Close()
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return journal.Header{}, err
		}
		l.parts = l.parts[1:] // it moved to the archive
	}
	return l.parts[0].head, nil
}

// Answering returns the voters that answer, this node among them; none at a node that does not lead. It belongs to
// the goroutine of Step. The record is cleared once an election timeout, and the next heartbeats fill it again.
func (l *Log) Answering() (list []uint64) {
	if l.usable() != nil || !l.leads() {
		return nil
	}
	progress := l.node.Status().Progress
	for _, id := range l.members.GetVoters() {
		if p := progress[id]; id == l.voter.Node || p.RecentActive && p.State == tracker.StateReplicate {
			list = append(list, id)
		}
	}
	return list
}

// CaughtUp returns the learners that answer and lack few entries; none at a node that does not lead. It
// belongs to the goroutine of Step.
func (l *Log) CaughtUp() (list []uint64) {
	if l.usable() != nil || !l.leads() {
		return nil
	}
	for _, id := range l.members.GetLearners() {
		p := l.node.Status().Progress[id]
		if p.RecentActive && p.State == tracker.StateReplicate && p.Match+mostBehind >= l.at.Index {
			list = append(list, id)
		}
	}
	return list
}
