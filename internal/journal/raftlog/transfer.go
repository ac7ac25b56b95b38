package raftlog

import (
	"cmp"
	"errors"
	"slices"

	"go.etcd.io/raft/v3"

	"github.com/bourse-exchange/bourse/internal/journal"
)

// Errors of Transfer.
var (
	// ErrNoHeir means that a node cannot take over now. A leader clears its record of who answered once an election
	// timeout, so another call after the next heartbeats may succeed.
	ErrNoHeir = errors.New("no vote, no connection, or too far behind")
	errLeads  = errors.New("it leads already")
)

// Transfer asks the leader to hand over to another voter, and returns its id. Zero is the voter that lacks the
// fewest entries. The leader drops proposals from now on. The voter leads once it has all entries of the leader; if
// it does not within an election's time, the leader goes on. It belongs to the goroutine of Step.
func (l *Log) Transfer(to uint64) (uint64, error) {
	if err := l.usable(); err != nil {
		return 0, err
	}
	if !l.leads() {
		return 0, journal.ErrNotLeader
	}
	next := l.successors()
	if to == raft.None && len(next) > 0 {
		to = next[0]
	}
	switch {
	case to == l.voter.Node:
		return 0, errLeads
	case !slices.Contains(next, to):
		return 0, ErrNoHeir
	}
	l.node.TransferLeader(to)
	return to, nil
}

// successors returns the other voters that answer and keep up, that which lacks the fewest entries first.
func (l *Log) successors() (list []uint64) {
	progress := l.node.Status().Progress
	list = slices.DeleteFunc(l.Answering(), func(id uint64) bool { return id == l.voter.Node })
	slices.SortStableFunc(list, func(a, b uint64) int {
		return cmp.Compare(progress[b].Match, progress[a].Match)
	})
	return list
}
