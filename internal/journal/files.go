package journal

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
)

// Files reads the journal of a data directory, whether a log appends to it at
// the time or not, and keeps its archive. Its methods may be called by anybody,
// but those that change files (ArchiveNext, Prune) by one at a time.
type Files struct {
	disk disk.Disk
	id   Identity
	// anybody is true if segments of every exchange may be opened.
	anybody bool
}

// NewFiles returns access to an exchange's journal in a directory.
func NewFiles(d disk.Disk, id Identity) *Files { return &Files{disk: d, id: id} }

// Identify returns which exchange's journal is in a directory, and false if
// there is none.
func Identify(d disk.Disk) (Identity, bool, error) {
	f := &Files{disk: d, anybody: true}
	k, err := f.kept()
	if err != nil || k.none() {
		return Identity{}, false, err
	}
	s, err := f.open(k.last())
	if err != nil {
		return Identity{}, false, err
	}
	return s.head.Identity, true, s.close()
}

// kept are the sequences that the segments begin with, ascending. While a
// segment moves to the archive, it is in both.
type kept struct{ live, archived []bourse.Seq }

func (k *kept) none() bool { return len(k.live)+len(k.archived) == 0 }

// last returns the newest segment; there is one.
func (k *kept) last() bourse.Seq {
	if n := len(k.live); n > 0 {
		return k.live[n-1]
	}
	return k.archived[len(k.archived)-1]
}

// first returns the oldest segment; there is one.
func (k *kept) first() bourse.Seq {
	switch {
	case len(k.archived) == 0:
		return k.live[0]
	case len(k.live) == 0:
		return k.archived[0]
	default:
		return min(k.archived[0], k.live[0])
	}
}

// kept lists the segments. The live ones come first, so that none is missed that
// moves to the archive meanwhile.
func (f *Files) kept() (kept, error) {
	live, err := f.names(LiveDir, liveExt)
	if err != nil {
		return kept{}, err
	}
	archived, err := f.names(ArchiveDir, archiveExt)
	return kept{live, archived}, err
}

func (f *Files) names(dir, ext string) ([]bourse.Seq, error) {
	files, err := f.disk.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []bourse.Seq
	for _, file := range files {
		if seq, ok := parseName(file, ext); ok {
			list = append(list, seq)
		}
	}
	return list, err
}

// open opens the segment that begins with a command, wherever it is.
func (f *Files) open(first bourse.Seq) (*segment, error) {
	s, err := f.openLive(first)
	if errors.Is(err, fs.ErrNotExist) {
		s, err = f.openArchived(first)
	}
	return s, err
}

// holder returns the last of the segments that begin with this command or before it.
func holder(firsts []bourse.Seq, seq bourse.Seq) (bourse.Seq, bool) {
	for i := len(firsts) - 1; i >= 0; i-- {
		if firsts[i] <= seq {
			return firsts[i], true
		}
	}
	return 0, false
}

// Read returns a reader of the batches that hold this sequence and later ones,
// from the archive and the live segments. Its io.EOF is the last whole frame; a
// torn end counts as not written, damage before it is a *DamageError.
// ErrCompacted if what is asked for was pruned.
func (f *Files) Read(from bourse.Seq) (Reader, error) {
	return f.read(&reader{files: f, from: from, archive: true})
}

// ReadLive is Read without the archive.
func (f *Files) ReadLive(from bourse.Seq) (Reader, error) {
	return f.read(&reader{files: f, from: from})
}

// ReadDurable is ReadLive behind a log that appends to the segments at the time:
// the reader stays at or below what durable returns, and whatever cannot be read
// there is damage.
func (f *Files) ReadDurable(from bourse.Seq, durable func() bourse.Seq) (Reader, error) {
	return f.read(&reader{files: f, from: from, bound: durable})
}

// ReadBehind is ReadDurable with the archive: for one that has fallen far behind.
func (f *Files) ReadBehind(from bourse.Seq, durable func() bourse.Seq) (Reader, error) {
	return f.read(&reader{files: f, from: from, archive: true, bound: durable})
}

func (f *Files) read(r *reader) (Reader, error) {
	r.from = max(r.from, 1)
	if err := r.start(); err != nil {
		return nil, err
	}
	return r, nil
}

// compacted says what is left.
func compacted(since bourse.Seq) error {
	return fmt.Errorf("%w: it is kept since %d", ErrCompacted, since)
}
