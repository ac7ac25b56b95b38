package cluster

import (
	"slices"
	"sync"
	"time"
)

const (
	// mostHeld is the size of the live journal, in bytes, from which on it is archived although a learner may lack it.
	mostHeld = 4 << 30
	// heldFor is the time for which one learner keeps segments from the archive.
	heldFor = 24 * time.Hour
)

// holds are the learners that keep segments from the archive. Safe for concurrent use.
type holds struct {
	mu sync.Mutex
	// since are the times at which learners were seen first, by id.
	since map[uint64]time.Time
}

// look notes the learners at a time, and reports whether one of them was seen first within heldFor.
func (h *holds) look(learners []uint64, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	holds, since := false, map[uint64]time.Time{}
	for _, id := range learners {
		first, known := h.since[id]
		if !known {
			first = now
		}
		since[id] = first
		holds = holds || now.Sub(first) < heldFor
	}
	h.since = since
	return holds
}

// Holds reports whether the archive is to wait, of a live journal of so many bytes: a learner may lack entries of live
// segments, which alone a leader sends. Any node may lead before it has caught up, so that all of them wait.
func (n *Node) Holds(live int64) bool {
	voters := n.Log.Status().Voters
	var learners []uint64
	for _, m := range n.Config().Nodes {
		if !slices.Contains(voters, m.Node) {
			learners = append(learners, m.Node)
		}
	}
	return n.holds.look(learners, n.clock()) && live < mostHeld
}
