package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// mendAgain is the time after which a damaged node looks again for a node with its missing entries.
const mendAgain = 100 * milliseconds

// spot is an entry in a node's journal.
type spot struct {
	name      string
	off, size int64
	index     uint64
}

// rot damages a byte of an entry on the node's disk that another node has, so that it can be mended. A start then finds
// the damage.
func (n *member) rot() {
	w := n.world
	if w.calm || n.rotten != "" || !w.chance.oneIn(w.shape.rot) {
		return
	}
	spots := n.spots()
	if len(spots) == 0 {
		return
	}

	s := pick(w.chance, spots...)
	off := s.off + int64(w.chance.Below(uint64(s.size)))
	want(n.disk.Damage(s.name, off, byte(w.chance.between(1, 255))), s.name)
	n.rotten = s.name
	n.refuses(n.disk.Clone(), s.name, fmt.Sprintf("byte %d has rotted", off))
	w.counts.Rotted++
	w.trail.note("%d: byte %d of entry %d in %s of node %d rots", w.now, off, s.index, s.name, n.id)
}

// spots returns the entries below the watermark that another node has, with the entry of raft behind each. A node whose
// journal ends torn has none: it may have acknowledged what is behind its damage.
func (n *member) spots() (list []spot) {
	w := n.world
	var shared uint64
	var synced int64 // of the last segment
	end, _, err := journal.NewFiles(n.disk, w.identity).Walk(nil,
		func(h *journal.Header, off int64, e *journal.Entry, tip *journal.Tip) {
			list, synced = append(list, spot{h.Name(), off, int64(e.Size), e.Index}), e.Synced
			if e.Kind == journal.EntryBatch && tip.Last <= n.elsewhere() && w.truth.has(tip) {
				shared = e.Index
			}
		})
	want(err, "the journal's entries")
	if end.Torn != nil {
		return nil
	}
	return slices.DeleteFunc(list, func(s spot) bool {
		return s.index >= shared || s.name == end.Segment.Name() && s.off+s.size > synced
	})
}

// elsewhere returns the last command that is on the disk of another node without damage.
func (n *member) elsewhere() (last bourse.Seq) {
	for _, other := range n.world.running() {
		if other != n && other.rotten == "" {
			last = max(last, other.seen)
		}
	}
	return last
}

// repair mends the rotten segment from the other nodes, whether they run or not, also after it was cut short, and
// reports whether it could.
func (n *member) repair() bool {
	w := n.world
	files := func(m *member) *journal.Files { return journal.NewFiles(m.disk, w.identity) }
	var others []*journal.Files
	for _, other := range w.running() {
		if other != n {
			others = append(others, journal.NewFiles(other.disk.Clone(), w.identity))
		}
	}
	if w.chance.percent(30) {
		n.disk.StopAt(int(w.chance.between(1, 12)))
		if _, err := files(n).Mend(others); err != nil {
			w.counts.HalfMended++
		}
		// A machine that lost its power as well would have two faults at once: damage, and a torn end.
		if n.unsynced {
			n.disk = n.disk.Clone()
		} else {
			n.disk = n.disk.Crash()
		}
	}

	mended, err := files(n).Mend(others)
	switch {
	case errors.Is(err, journal.ErrNoSource):
		return false
	case err != nil:
		fail("node %d does not mend %s: %w", n.id, n.rotten, err)
	case len(mended) > 1 || len(mended) == 1 && mended[0] != n.rotten:
		fail("node %d mends %v, and %s is damaged", n.id, mended, n.rotten)
	}
	w.counts.Mended++
	w.trail.note("%d: node %d has %v again", w.now, n.id, mended)
	n.rotten = ""
	return true
}
