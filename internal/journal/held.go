package journal

import "bytes"

// held are batches of a cluster's journal that no entry read so far proves to be committed. A later
// leader may refuse them, so a reader without a bound keeps them back.
type held struct {
	// commit is the last index that an entry read so far proves to be committed.
	commit  uint64
	batches []heldBatch
}

type heldBatch struct {
	index uint64
	batch Batch
}

// holds reports whether the reader keeps batches of this segment back. A bound is the log's commit,
// and all batches of archived segments are committed.
func (r *reader) holds() bool {
	return r.bound == nil && r.seg.head.Replica != nil && r.seg.file != nil
}

// hold keeps a batch back until release returns it.
func (h *held) hold(index uint64, b Batch) {
	b.Commands = bytes.Clone(b.Commands)
	h.batches = append(h.batches, heldBatch{index, b})
}

// release returns the first batch that is proven to be committed, and false if there is none.
func (h *held) release() (Batch, bool) {
	if len(h.batches) == 0 || h.batches[0].index > h.commit {
		return Batch{}, false
	}
	b := h.batches[0].batch
	h.batches = h.batches[1:]
	return b, true
}

// rewind goes back to the commit at the end of a cluster's journal. The entries behind the commit may be
// other ones when the caller tries again.
func (r *reader) rewind() error {
	if r.seg == nil || !r.holds() || r.seg.at.Index <= r.held.commit {
		return nil
	}
	err := r.seg.close()
	r.seg, r.held, r.doubt = nil, held{}, 0
	return err
}
