package journal

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// replicated calls take with the entries from one index of raft to another, and the marks between them, until it returns
// false, also of a node that runs. Damage is an error, and so is an entry that is missing. The bytes of an entry are valid
// until take returns.
func (f *Files) replicated(from, to uint64, take func(*Entry) (more bool)) error {
	s, err := f.holding(from)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }() // it was only read
	for {
		e := new(Entry)
		switch err := s.next(e); {
		case noEntry(err):
			following, err := f.open(s.tip.Last + 1)
			if err != nil {
				return err
			}
			_ = s.close() // it was only read
			last := s
			if s = following; s.head.First() == last.head.First() {
				return fmt.Errorf("it has no entry %d", to)
			}
			if err := s.continues(last); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		if (e.Index >= from && !take(e)) || e.Index >= to {
			return nil
		}
	}
}

// hasCommitted reports whether the entries prove that the one of an index is committed.
func (f *Files) hasCommitted(index uint64) (committed bool) {
	// Without a proof it reads to an error, behind the last entry.
	_ = f.replicated(index, math.MaxUint64, func(e *Entry) bool {
		committed = e.Commit >= index
		return !committed
	})
	return committed
}

// holding returns the newest segment that begins before an entry of raft.
func (f *Files) holding(index uint64) (*segment, error) {
	k, err := f.kept()
	if err != nil {
		return nil, err
	}
	failed := []error{fmt.Errorf("it has no entry %d", index)}
	for _, first := range slices.Backward(slices.Concat(k.archived, k.live)) {
		s, err := f.open(first)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if from, ok := s.head.at(); ok && from.Index < index {
			return s, nil
		}
		_ = s.close() // it was only read
	}
	return nil, errors.Join(failed...)
}
