package journal

import (
	"errors"
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// End describes the end of the live segments of a stopped journal, where a log continues.
type End struct {
	// Segment is the header of the last segment.
	Segment Header
	// Offset is the offset of the next entry, Size the segment's length.
	Offset, Size int64
	// Tip is the journal's tip.
	Tip Tip
	// First is the oldest command in the live segments, Frames the number of their frames
	// with commands.
	First  bourse.Seq
	Frames int
	// Proven is the last command that is proven to have been durable.
	Proven bourse.Seq
	// Last is the kind of the last entry, LastOffset its offset. Both are zero if the
	// segment has no entry.
	Last       EntryKind
	LastOffset int64
	// At is the position of the last entry in the log of raft, zero in the journal of a
	// single node.
	At Position
	// Torn describes the bytes behind the end, none of which was known to be durable; nil
	// if there are none.
	Torn *Torn
}

// Torn describes the bytes that a crash left of an entry being written.
type Torn struct {
	File string
	// From and To enclose the non-zero bytes, in whole blocks.
	From, To int64
	// Seq is the first command of the torn entry.
	Seq bourse.Seq
}

// End verifies every live segment: checksums, the hash chain, and that each segment
// continues the one before. It returns false if there are no segments. The journal must
// not be appended to meanwhile. Damage is a *DamageError. progress, if not nil, gets the
// bytes verified so far and in total.
func (f *Files) End(progress func(done, total int64)) (End, bool, error) {
	return f.Walk(progress, nil)
}

// Visit gets each entry of a Walk: the header of its segment, its offset, and the tip behind
// it. The arguments are valid until it returns.
type Visit func(h *Header, off int64, e *Entry, tip *Tip)

// Walk is End, and calls visit, if not nil, with each entry in order.
func (f *Files) Walk(progress func(done, total int64), visit Visit) (End, bool, error) {
	k, err := f.kept()
	if err != nil {
		return End{}, false, err
	}

	if len(k.live) == 0 {
		return End{}, false, f.empty(&k)
	}

	w := walk{files: f, progress: progress, visit: visit}
	if w.total, err = f.total(k.live, liveName); err != nil {
		return End{}, false, err
	}

	w.end.First = k.live[0]
	for i, first := range k.live {
		if err := w.segment(first, i == len(k.live)-1); err != nil {
			return End{}, false, err
		}
	}
	return w.end, true, f.joins(&k)
}

// empty refuses a journal whose live segments are gone while older ones exist.
func (f *Files) empty(k *kept) error {
	stub, err := f.Stub()
	if err != nil || len(k.archived) == 0 && stub == nil {
		return err
	}
	return &DamageError{LiveDir, 0, 0, errors.New("it has no segment, and there are older ones in " + ArchiveDir)}
}

// joins refuses live segments that are older than an archived one.
func (f *Files) joins(k *kept) error {
	if n := len(k.archived); n > 0 && k.archived[n-1] > k.last() {
		return &DamageError{LiveDir, 0, k.last(), fmt.Errorf("%s is newer", archiveName(k.archived[n-1]))}
	}
	return nil
}

func (f *Files) sizeOf(name string) (int64, error) {
	file, err := f.disk.Open(name)
	if err != nil {
		return 0, err
	}
	size, err := file.Size()
	return size, errors.Join(err, file.Close())
}

// walk verifies the live segments in order.
type walk struct {
	files       *Files
	progress    func(done, total int64)
	visit       Visit
	done, total int64
	end         End
	before      *segment
}

// segment verifies one segment.
func (w *walk) segment(first bourse.Seq, last bool) error {
	s, err := w.files.openLive(first)
	if err != nil {
		return err
	}
	if w.before != nil {
		err = s.continues(w.before)
	}
	if err == nil {
		err = w.read(s, last)
	}
	w.before = s
	return errors.Join(err, s.close())
}

// read reads a segment's entries and decides whether the bytes behind them are torn or
// damaged.
func (w *walk) read(s *segment, last bool) error {
	var e Entry
	var err error
	begin := int64(0)

	for err = s.next(&e); err == nil; err = s.next(&e) {
		if e.Kind == EntryBatch {
			w.end.Frames++
		}
		begin = s.off - int64(e.Size)
		if w.visit != nil {
			w.visit(&s.head, begin, &e, &s.tip)
		}
		w.tell(s.off)
	}

	if !noEntry(err) {
		return err
	}

	rest, failed := s.remains()
	if failed != nil {
		return failed
	}

	dirty := rest.to > rest.from
	if rest.proof || !last && dirty {
		return s.damage(err)
	}

	w.done += s.win.size
	w.tell(0)
	end := &w.end
	end.Segment, end.Offset, end.Size, end.Tip, end.At = s.head, s.off, s.win.size, s.tip, s.at
	end.Proven, end.Last, end.LastOffset = s.proven, s.last, begin
	if dirty {
		end.Torn = &Torn{s.name, rest.from, rest.to, s.tip.Last + 1}
	}
	return nil
}

func (w *walk) tell(within int64) {
	if w.progress != nil {
		w.progress(w.done+within, w.total)
	}
}
