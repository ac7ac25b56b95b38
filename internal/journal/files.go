package journal

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
)

// Files reads a data directory's journal, also while a log appends to it, and keeps its
// archive. Safe for concurrent use, except ArchiveNext and Prune: only one of them may
// run at a time.
type Files struct {
	disk disk.Disk
	id   Identity
	// anybody lets it open segments of every exchange.
	anybody bool
}

// NewFiles returns the files of an exchange's journal.
func NewFiles(d disk.Disk, id Identity) *Files { return &Files{disk: d, id: id} }

// Identify returns the identity of the journal in a directory, and false if there is
// none.
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

// Live returns the number of live segments.
func (f *Files) Live() (int, error) {
	names, err := f.names(LiveDir, liveExt)
	return len(names), err
}

// kept lists the first sequences of the segments, ascending. A segment that moves to the
// archive is in both lists meanwhile.
type kept struct{ live, archived []bourse.Seq }

func (k *kept) none() bool { return len(k.live)+len(k.archived) == 0 }

// last returns the newest segment. There must be one.
func (k *kept) last() bourse.Seq {
	if n := len(k.live); n > 0 {
		return k.live[n-1]
	}
	return k.archived[len(k.archived)-1]
}

// first returns the oldest segment. There must be one.
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

// kept lists the segments: the live ones first, so that a segment that moves meanwhile is
// not missed.
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

// open opens the segment that begins with a command, live or archived.
func (f *Files) open(first bourse.Seq) (*segment, error) {
	s, err := f.openLive(first)
	if errors.Is(err, fs.ErrNotExist) {
		s, err = f.openArchived(first)
	}
	return s, err
}

// holder returns the last segment that begins at or below seq.
func holder(firsts []bourse.Seq, seq bourse.Seq) (bourse.Seq, bool) {
	for i := len(firsts) - 1; i >= 0; i-- {
		if firsts[i] <= seq {
			return firsts[i], true
		}
	}
	return 0, false
}

// Read returns a reader of the batches from sequence from on, archived and live. io.EOF
// follows the last whole frame: a torn end is not an error, damage before it is a
// *DamageError. ErrCompacted if from was pruned.
//
// In a cluster's journal it ends at the last batch that the entries prove to be committed. The node's
// log may cut entries behind it, so a reader beside a log uses ReadBehind.
func (f *Files) Read(from bourse.Seq) (Reader, error) {
	return f.read(&reader{files: f, from: from, archive: true})
}

// ReadLive is Read without the archive.
func (f *Files) ReadLive(from bourse.Seq) (Reader, error) {
	return f.read(&reader{files: f, from: from})
}

// ReadDurable is ReadLive beside a log that appends: the reader yields only batches that
// begin at or below durable(), and any unreadable entry there is damage.
func (f *Files) ReadDurable(from bourse.Seq, durable func() bourse.Seq) (Reader, error) {
	return f.read(&reader{files: f, from: from, bound: durable})
}

// ReadBehind is ReadDurable with the archive, for a reader that is far behind.
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

func compacted(since bourse.Seq) error {
	return fmt.Errorf("%w: it is kept since %d", ErrCompacted, since)
}
