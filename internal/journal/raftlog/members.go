package raftlog

import (
	"encoding/binary"
	"errors"
	"fmt"

	"go.etcd.io/raft/v3/confchange"
	"go.etcd.io/raft/v3/quorum"
	"go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"
)

// mostNodes bounds a cluster's members, and so each list of them.
const mostNodes = 16

var errMembers = errors.New("members are malformed")

// appendMembers appends the encoding of members in a segment's header.
func appendMembers(b []byte, s *raftpb.ConfState) []byte {
	for _, list := range [][]uint64{s.GetVoters(), s.GetLearners(), s.GetVotersOutgoing(), s.GetLearnersNext()} {
		b = append(b, byte(len(list)))
		for _, id := range list {
			b = binary.LittleEndian.AppendUint64(b, id)
		}
	}
	if s.GetAutoLeave() {
		return append(b, 1)
	}
	return append(b, 0)
}

// parseMembers reads the members of a segment's header.
func parseMembers(b []byte) (*raftpb.ConfState, error) {
	s := new(raftpb.ConfState)
	for _, list := range []*[]uint64{&s.Voters, &s.Learners, &s.VotersOutgoing, &s.LearnersNext} {
		if len(b) == 0 || b[0] > mostNodes || len(b) < 1+8*int(b[0]) {
			return nil, errMembers
		}
		n := int(b[0])
		for i := range n {
			*list = append(*list, binary.LittleEndian.Uint64(b[1+8*i:]))
		}
		b = b[1+8*n:]
	}
	if len(b) != 1 || b[0] > 1 || len(s.Voters) == 0 {
		return nil, errMembers
	}
	s.AutoLeave = new(b[0] == 1)
	return s, nil
}

// FewVoters is the number of voters below which none may lose its vote.
const FewVoters = 3

// becomes returns the members behind a change. Raft panics when it applies another one, on every node and at
// every start.
func becomes(s *raftpb.ConfState, c *raftpb.ConfChangeV2) (*tracker.ProgressTracker, error) {
	changer := confchange.Changer{Tracker: tracker.MakeProgressTracker(inflightMessages, mostInflight)}
	config, nodes, err := confchange.Restore(changer, s)
	if err == nil {
		changer.Tracker.Config, changer.Tracker.Progress = config, nodes
		autoLeave, joint := c.EnterJoint()
		switch {
		case c.LeaveJoint():
			config, nodes, err = changer.LeaveJoint()
		case joint:
			config, nodes, err = changer.EnterJoint(autoLeave, c.Changes...)
		default:
			config, nodes, err = changer.Simple(c.Changes...)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("members cannot change so: %w", err)
	}
	changer.Tracker.Config, changer.Tracker.Progress = config, nodes
	return &changer.Tracker, nil
}

// allows returns an error unless members can become others by a change.
//
// A majority of the voters keeps its votes. Those that lose theirs apply that first, and cannot lead any more. The
// others may not know yet that the change is committed, and need a majority of the old voters: of nodes that lost their
// votes, which refuse them if their logs are longer, they would never get it. So two voters keep both votes, and of
// three one can be lost.
func allows(s *raftpb.ConfState, c *raftpb.ConfChangeV2) error {
	after, err := becomes(s, c)
	switch {
	case err != nil:
		return err
	case len(after.Progress) > mostNodes:
		return fmt.Errorf("members cannot change so: %d nodes are more than %d", len(after.Progress), mostNodes)
	case kept(s.GetVoters(), after.Voters[0]) <= len(s.GetVoters())/2:
		return fmt.Errorf("members cannot change so: of %d voters a majority keeps its votes", len(s.GetVoters()))
	default:
		return nil
	}
}

// kept returns the number of voters that keep their votes.
func kept(voters []uint64, after quorum.MajorityConfig) (n int) {
	for _, id := range voters {
		if _, votes := after[id]; votes {
			n++
		}
	}
	return n
}
