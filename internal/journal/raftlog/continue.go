package raftlog

import (
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

var errRan = errors.New("there is the journal of a node that has run: it is no exchange on one machine")

// Continue makes the first node of a cluster of the exchange of a single node, whose process has ended: the journal of the cluster
// follows that of the single node, which moves to the archive. Nothing is lost by a crash, after which Continue can be called again.
func Continue(d disk.Disk, id journal.Identity, node uint64, size int64) (err error) {
	if size, err = segmentSize(size); err != nil {
		return err
	}
	lock, err := journal.Lock(d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	files := journal.NewFiles(d, id)
	end, ok, err := files.End(nil)
	switch {
	case err != nil:
		return err
	case !ok:
		return errors.New("there is no journal to continue")
	case end.Torn != nil:
		return fmt.Errorf("%s ends in the middle of an entry: start the exchange once, and end it", end.Segment.Name())
	}

	before := end.Tip.Last + 1
	if begun := end.Segment.Replica; begun != nil {
		// An earlier call was cut short, unless the node has run since.
		v, err := journal.LoadVoter(d, id)
		if err != nil || v.Node != node || v.Term != begun.At.Term {
			return errors.Join(err, errRan)
		}
	} else {
		// A last segment without entries has the name of the cluster's first one, which replaces it.
		c := &Cluster{Identity: id, Tip: end.Tip, Nodes: []uint64{node}}
		if err := create(d, c, node, size); err != nil {
			return err
		}
	}
	for moved := true; moved && err == nil; {
		moved, err = files.ArchiveNext(before)
	}
	return err
}
