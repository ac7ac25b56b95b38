package journal

import (
	"errors"
	"io/fs"

	"github.com/bourse-exchange/bourse"
)

// Stats are figures of a journal in a directory.
type Stats struct {
	Segments, Archives      int
	LiveBytes, ArchiveBytes int64
	// First is the oldest command, Live the oldest one in a live segment, Last the
	// newest. Zero if there is none.
	First, Live, Last bourse.Seq
	// Proven is the last command that is proven to have been durable: the watermark.
	Proven bourse.Seq
	// Sealed is true if the log was closed cleanly and not opened since.
	Sealed bool
}

// Stat lists the directory and reads the last segment.
func (f *Files) Stat() (Stats, error) {
	var st Stats
	k, err := f.kept()
	if err != nil || k.none() {
		return st, err
	}
	st.Segments, st.Archives, st.First = len(k.live), len(k.archived), k.first()
	if st.LiveBytes, err = f.total(k.live, liveName); err != nil {
		return st, err
	}
	if st.ArchiveBytes, err = f.total(k.archived, archiveName); err != nil {
		return st, err
	}
	if len(k.live) > 0 {
		st.Live = k.live[0]
	}
	return st, f.statEnd(k.last(), &st)
}

// total returns the total size of some segments. A missing one has moved to the archive.
func (f *Files) total(firsts []bourse.Seq, name func(bourse.Seq) string) (int64, error) {
	var total int64
	for _, first := range firsts {
		n, err := f.sizeOf(name(first))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// statEnd reads the last segment to its end.
func (f *Files) statEnd(first bourse.Seq, st *Stats) error {
	s, err := f.open(first)
	if err != nil {
		return err
	}
	err = s.toEnd()
	st.Last, st.Proven, st.Sealed = s.tip.Last, s.proven, s.last == EntrySeal
	if noEntry(err) {
		err = nil
	}
	return errors.Join(err, s.close())
}
