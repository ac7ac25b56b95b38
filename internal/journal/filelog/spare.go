package filelog

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"

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
	// reserve returns how many bytes of the disk are left to others; it may be nil.
	reserve func() uint64
	// used is how much of the segment in use is written.
	used atomic.Int64

	mu sync.Mutex
	// file is nil while there is none; made is how much of it is zero and
	// durable, held how much of the disk it has.
	file       disk.File
	made, held int64
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
	if err := s.extend(s.size); err != nil {
		return false, err
	}
	return s.made < s.due(), nil
}

// Unprepared receives when there is something to prepare: the spare is in use, or
// the segment in use has been written on.
func (l *Log) Unprepared() <-chan struct{} { return l.spare.behind }

// extend makes a piece, of a spare that is to have so many bytes. Without room on
// the disk it returns a *roomError and may be called again; after any other failure
// it gives the same error.
func (s *spare) extend(size int64) error {
	if s.failed != nil {
		return s.failed
	}
	if s.file == nil {
		if err := s.create(); err != nil {
			return noRoom(err)
		}
	}

	n := min(chunk, size-s.made)
	if err := s.allows(s.made + n - s.held); err != nil {
		return err
	}
	if _, err := s.file.WriteAt(zeros[:n], s.made); err != nil {
		return noRoom(err)
	}
	if err := s.file.Sync(); err != nil {
		s.failed = err
		return err
	}
	s.made += n
	s.held = max(s.held, s.made)
	return nil
}

// allows returns a *roomError if so many bytes more would take what is reserved.
func (s *spare) allows(bytes int64) error {
	if s.reserve == nil || bytes <= 0 {
		return nil
	}
	reserve := s.reserve()
	if free, err := s.disk.Free(); err == nil && free < reserve+uint64(bytes) {
		return &roomError{fmt.Errorf("%d bytes are free and %d reserved: %w", free, reserve, syscall.ENOSPC)}
	}
	return nil // what cannot be told, the write tells
}

// roomError says that the disk has no room.
type roomError struct{ cause error }

func (e *roomError) Error() string { return "no room on the disk: " + e.cause.Error() }
func (e *roomError) Unwrap() error { return e.cause }

// isFull reports whether an error is a *roomError.
func isFull(err error) bool {
	if err == nil {
		return false
	}
	full := (*roomError)(nil)
	return errors.As(err, &full)
}

// noRoom returns a *roomError for an error of a full disk, and others as they are.
func noRoom(err error) error {
	if errors.Is(err, syscall.ENOSPC) && !errors.Is(err, disk.ErrSync) {
		return &roomError{err}
	}
	return err
}

// zeros is what a segment is made of.
var zeros [chunk]byte

// create opens the file that an earlier process left, whose bytes mean nothing and
// whose room on the disk is kept, or makes one.
func (s *spare) create() error {
	file, err := s.disk.Edit(spareName)
	if errors.Is(err, fs.ErrNotExist) {
		file, err = s.disk.Create(spareName)
	}
	if err != nil {
		return err
	}

	held, err := file.Size()
	if err == nil && held > s.size {
		held, err = s.size, file.Truncate(s.size)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	s.file, s.made, s.held = file, 0, held
	return nil
}

// complete makes what is missing of the spare, which is to have at least so many
// bytes.
func (s *spare) complete(least int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for size := max(s.size, least); s.file == nil || s.made < size; {
		if err := s.extend(size); err != nil {
			return err
		}
	}
	return nil
}

// take hands over the spare, which is whole.
func (s *spare) take() (disk.File, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	file, size := s.file, s.made
	s.file, s.made, s.held, s.taken = nil, 0, 0, true
	return file, size
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
