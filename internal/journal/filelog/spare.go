package filelog

import (
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

const (
	// spareName is a segment to be. It has no sequence yet.
	spareName = journal.LiveDir + "/spare"
	// chunk is how much of it is made at once: so little that the sync of an
	// entry meanwhile does not wait long behind it, and not so little that the
	// syncs become many.
	chunk = 1 << 20
)

// spare is the segment that will be written next.
type spare struct {
	disk disk.Disk
	size int64
	// used is how much of the segment in use is written.
	used atomic.Int64

	mu sync.Mutex
	// file is nil while there is none; made is how much of it is zero and
	// durable.
	file disk.File
	made int64
	// taken is true while the file has been taken and still has the spare's
	// name. behind receives when less is made than is due.
	taken  bool
	behind chan struct{}
	failed error
	closed bool
}

// due is how much of the spare is to be made by now: it grows twice as fast as the
// segment in use, so that it is whole when that one is half full. If it were made
// as fast as the device can, entries would wait behind it all the while.
func (s *spare) due() int64 { return min(s.size, 2*s.used.Load()+chunk) }

// use notes how much of the segment in use is written.
func (s *spare) use(off int64) {
	if was := s.used.Swap(off); 2*was/chunk != 2*off/chunk {
		s.wake()
	}
}

func (s *spare) wake() {
	select {
	case s.behind <- struct{}{}:
	default: // it is known already
	}
}

// Prepare makes a piece of the next segment, if one is due.
func (l *Log) Prepare() (more bool, err error) {
	s := &l.spare
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.taken || s.made >= s.due() {
		return false, nil
	}
	if err := s.extend(); err != nil {
		return false, err
	}
	return s.made < s.due(), nil
}

// Unprepared receives when there is something to prepare: the spare is in use, or
// the segment in use has been written on.
func (l *Log) Unprepared() <-chan struct{} { return l.spare.behind }

// extend makes a piece. When the disk is full it may be called again; after any
// other failure it gives the same error.
func (s *spare) extend() error {
	if s.failed != nil {
		return s.failed
	}
	if s.file == nil {
		if err := s.create(); err != nil {
			return err
		}
	}
	n := min(chunk, s.size-s.made)
	if _, err := s.file.WriteAt(zeros[:n], s.made); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		s.failed = err
		return err
	}
	s.made += n
	return nil
}

// zeros is what a segment is made of.
var zeros [chunk]byte

// create makes the file, in place of one that an earlier process left.
func (s *spare) create() error {
	if err := s.disk.Remove(spareName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := s.disk.Create(spareName)
	if err != nil {
		return err
	}
	s.file, s.made = file, 0
	return nil
}

// take hands the spare over, which it completes if that is necessary.
func (s *spare) take() (disk.File, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.file == nil || s.made < s.size {
		if err := s.extend(); err != nil {
			return nil, 0, err
		}
	}
	file := s.file
	s.file, s.made, s.taken = nil, 0, true
	return file, s.size, nil
}

// name gives what was taken the name of a segment.
func (s *spare) name(h *journal.Header) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.disk.Rename(spareName, h.Name()); err != nil {
		return err
	}
	s.taken = false
	s.used.Store(0)
	s.wake()
	return s.disk.SyncDir(journal.LiveDir)
}

func (s *spare) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.file == nil {
		return nil
	}
	file := s.file
	s.file = nil
	return file.Close()
}
