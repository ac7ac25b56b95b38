package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// reader reads segment after segment.
type reader struct {
	files *Files
	// from is the first command that the caller has not got.
	from bourse.Seq
	// bound, if not nil, returns the last sequence that may be read.
	bound func() bourse.Seq
	// bounded is the last result of bound.
	bounded bourse.Seq
	// archive is true if the reader may open archived segments.
	archive bool

	// seg is nil while there are no segments.
	seg   *segment
	entry Entry
	batch Batch
	held  held
	// doubt is the offset of an entry that looked damaged once. A log may have been
	// writing it, so it is read again before it counts as damage.
	doubt int64
	err   error
}

// start opens the segment that holds from.
func (r *reader) start() error {
	k, err := r.files.kept()
	if err != nil {
		return err
	}
	stub, err := r.files.Stub()
	if err != nil {
		return err
	}

	if !r.archive {
		k.archived = nil
	}

	switch {
	case stub != nil && r.from <= stub.Seq:
		return compacted(stub.Seq + 1)
	case k.none():
		return nil
	}

	from := r.begin(&k)
	first, ok := holder(k.live, from)
	if !ok {
		first, ok = holder(k.archived, from)
	}
	if !ok {
		return compacted(k.first())
	}

	r.seg, err = r.open(first)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r.start() // it moved to the archive meanwhile
	case err != nil:
		return err
	}
	return stub.joins(r.seg)
}

// begin returns the command whose segment the reader opens. It is at most the bound: a
// segment beyond it may be replaced by another of the same name.
func (r *reader) begin(k *kept) bourse.Seq {
	if r.bound == nil || len(k.live) == 0 {
		return r.from
	}
	return min(r.from, max(r.bound(), k.live[0]))
}

// open opens a segment that this reader may read.
func (r *reader) open(first bourse.Seq) (*segment, error) {
	if r.archive {
		return r.files.open(first)
	}
	return r.files.openLive(first)
}

// Next returns the next batch, or io.EOF when there is none yet.
func (r *reader) Next() (*Batch, error) {
	if r.err != nil {
		return nil, r.err
	}
	for {
		if b, ok := r.held.release(); ok {
			return r.yield(b), nil
		}

		more, err := r.step()
		if err == nil && !more {
			err = r.rewind()
		}
		if err != nil {
			r.err = err
			return nil, err
		}
		if !more {
			return nil, io.EOF
		}

		if b, ok := r.read(); ok {
			return r.yield(b), nil
		}
	}
}

// read returns the batch of the entry that was read, and false if the caller does not want one or
// does not get it yet.
func (r *reader) read() (Batch, bool) {
	holds := r.holds()
	if holds {
		r.held.commit = max(r.held.commit, r.entry.Commit, r.seg.head.Replica.MembersAt)
	}
	if r.entry.Kind != EntryBatch {
		return Batch{}, false
	}

	b := r.entry.Batch()
	switch {
	case b.Last() < r.from:
		return b, false
	case holds:
		r.held.hold(r.entry.Index, b)
		return b, false
	default:
		return b, true
	}
}

// yield returns a batch to the caller, who gets those behind it from now on.
func (r *reader) yield(b Batch) *Batch {
	r.batch, r.from = b, b.Last()+1
	return &r.batch
}

// step reads an entry, from the next segment if this one has ended. It returns false if
// there is none.
func (r *reader) step() (bool, error) {
	for {
		if r.seg == nil {
			if err := r.start(); r.seg == nil || err != nil {
				return false, err
			}
		}
		if r.bound != nil && !r.below() {
			return false, nil
		}

		err := r.seg.next(&r.entry)
		if err == nil {
			r.doubt = 0
			return true, nil
		}
		if !noEntry(err) {
			return false, err
		}
		if again, err := r.onward(err); !again || err != nil {
			return false, err
		}
	}
}

// below reports whether the next entry is within the bound. In a cluster's journal, entries
// beyond the bound may be replaced, so the buffer is dropped when the bound rises.
func (r *reader) below() bool {
	bound := r.bound()
	if bound != r.bounded && r.seg.head.Replica != nil {
		r.seg.win.drop()
	}
	r.bounded = bound
	return r.seg.tip.Last < bound
}

// onward decides why the next entry cannot be read: the end of the segment, the end of
// the journal, or damage. It returns true if step should try again.
func (r *reader) onward(why error) (bool, error) {
	following, err := r.open(r.seg.tip.Last + 1)
	switch {
	case err == nil && following.head.First() == r.seg.head.First():
		// The segment is empty and begins with the sequence that follows it.
		if err := following.close(); err != nil {
			return false, err
		}
	case err == nil:
		return r.cross(following, why)
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	}

	rest, err := r.seg.remains()
	if err != nil {
		return false, err
	}

	gap, moved, err := r.gap()
	if err != nil {
		return false, err
	}

	if !rest.proof && gap == 0 && r.bound == nil {
		return false, nil
	}
	if !r.doubtful() {
		return true, nil // a log may have appended meanwhile
	}

	if gap != 0 && !r.archive && moved {
		return false, compacted(gap)
	}
	if gap != 0 && errors.Is(why, errEnd) {
		why = fmt.Errorf("segment is missing before %s", liveName(gap))
	}
	return false, r.seg.damage(why)
}

// doubtful records a doubt at this offset, and returns true if it was recorded before.
func (r *reader) doubtful() bool {
	before := r.doubt
	r.doubt = r.seg.off
	return before == r.seg.off
}

// cross moves to the following segment if this one was read to its end.
func (r *reader) cross(following *segment, why error) (bool, error) {
	rest, err := r.seg.remains()
	if err != nil {
		return false, errors.Join(err, following.close())
	}

	if rest.to > rest.from || !errors.Is(why, errEnd) {
		// A mark may have been written meanwhile.
		if err := following.close(); err != nil || !r.doubtful() {
			return err == nil, err
		}
		return false, r.seg.damage(why)
	}

	if err := following.continues(r.seg); err != nil {
		return false, errors.Join(err, following.close())
	}

	err = r.seg.close()
	r.seg, r.doubt = following, 0
	return true, err
}

// continues returns an error unless s begins at the tip where before ends. The first segment of a cluster may continue the
// journal of a single node.
func (s *segment) continues(before *segment) error {
	from, replicated := s.head.at()
	_, was := before.head.at()
	same := replicated == was && from == before.at || replicated && !was && from.Index == FirstIndex
	if s.head.Tip != before.tip || !same {
		return &DamageError{s.name, 0, s.head.First(), fmt.Errorf("it does not continue %s", before.name)}
	}
	return nil
}

// FirstIndex is the index of the entry behind which the log of a cluster begins.
const FirstIndex = 1

// at returns the position before the segment, and false in the journal of a single node.
func (h *Header) at() (Position, bool) {
	if h.Replica == nil {
		return Position{}, false
	}
	return h.Replica.At, true
}

// gap returns the first segment beyond the next expected one, or zero, and whether the segment that is read moved to
// the archive. Segments move in order, so that none behind a live one has moved.
func (r *reader) gap() (first bourse.Seq, moved bool, err error) {
	k, err := r.files.kept()
	if err != nil {
		return 0, false, err
	}
	moved = !slices.Contains(k.live, r.seg.head.First())
	if !r.archive {
		k.archived = nil
	}
	for _, list := range [][]bourse.Seq{k.archived, k.live} {
		for _, first := range list {
			if first > r.seg.tip.Last+1 {
				return first, moved, nil
			}
		}
	}
	return 0, moved, nil
}

// Close releases the reader.
func (r *reader) Close() error {
	r.err = ErrClosed
	if r.seg == nil {
		return nil
	}
	return r.seg.close()
}
