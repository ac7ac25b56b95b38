package segments

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
	// spareName is the file of the next segment, which has no sequence yet.
	spareName = journal.LiveDir + "/spare"
	// chunk is the size of one piece of preparation: small enough that the sync of an
	// entry does not wait long behind it, large enough to keep syncs few.
	chunk = 1 << 20
)

// Spare is the next segment of a log, in preparation. Prepare belongs to a goroutine of its
// own, the other methods to the log's.
type Spare struct {
	disk disk.Disk
	size int64
	// reserve, if not nil, returns the bytes of disk space left to other files.
	reserve func() uint64
	// used is the number of bytes written to the current segment.
	used atomic.Int64

	mu sync.Mutex
	// file is nil before create; made is the length that is zero and durable, held the
	// length allocated on disk.
	file       disk.File
	made, held int64
	// taken is true from Take until Name: the file in use still has the spare's name.
	// behind receives when made falls below due.
	taken  bool
	behind chan struct{}
	failed error
	closed bool
}

// NewSpare returns the spare of a log whose segments have that size. reserve, if not nil,
// returns the bytes of disk space left to other files.
func NewSpare(d disk.Disk, size int64, reserve func() uint64) *Spare {
	return &Spare{disk: d, size: size, reserve: reserve, behind: make(chan struct{}, 1)}
}

// due returns the length to have been made by now. It grows twice as fast as the current
// segment, so that the spare is whole when that is half full. Preparing at full speed
// would delay entries all the while.
func (s *Spare) due() int64 { return min(s.size, 2*s.used.Load()+chunk) }

// Use records the number of bytes written to the current segment.
func (s *Spare) Use(off int64) {
	if was := s.used.Swap(off); 2*was/chunk != 2*off/chunk {
		s.wake()
	}
}

func (s *Spare) wake() {
	select {
	case s.behind <- struct{}{}:
	default: // already signalled
	}
}

// Prepare makes one piece of the next segment, if one is due.
func (s *Spare) Prepare() (more bool, err error) {
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

// Behind returns a channel that receives when a piece may be due: the spare was taken, or
// the current segment has grown.
func (s *Spare) Behind() <-chan struct{} { return s.behind }

// extend makes one piece of a spare of the given size. Without room on the disk it
// returns a *roomError and may be called again; any other failure is final.
func (s *Spare) extend(size int64) error {
	if s.failed != nil {
		return s.failed
	}
	if s.file == nil {
		if err := s.create(); err != nil {
			return NoRoom(err)
		}
	}

	n := min(chunk, size-s.made)
	if err := s.allows(s.made + n - s.held); err != nil {
		return err
	}
	if _, err := s.file.WriteAt(zeros[:n], s.made); err != nil {
		return NoRoom(err)
	}
	if err := s.file.Sync(); err != nil {
		s.failed = err
		return err
	}
	s.made += n
	s.held = max(s.held, s.made)
	return nil
}

// allows returns a *roomError if that many more bytes would use reserved space.
func (s *Spare) allows(bytes int64) error {
	if s.reserve == nil || bytes <= 0 {
		return nil
	}
	reserve := s.reserve()
	if free, err := s.disk.Free(); err == nil && free < reserve+uint64(bytes) {
		return &roomError{fmt.Errorf("%d bytes are free and %d reserved: %w", free, reserve, syscall.ENOSPC)}
	}
	return nil // if Free fails, the write reports a full disk
}

// roomError means that the disk is full.
type roomError struct{ cause error }

func (e *roomError) Error() string { return "no room on the disk: " + e.cause.Error() }
func (e *roomError) Unwrap() error { return e.cause }

// IsFull reports whether an error means that the disk is full and the log may go on.
func IsFull(err error) bool {
	if err == nil {
		return false
	}
	full := (*roomError)(nil)
	return errors.As(err, &full)
}

// NoRoom marks an error of a full disk for IsFull, and returns others unchanged.
func NoRoom(err error) error {
	if disk.IsFull(err) {
		return &roomError{err}
	}
	return err
}

// create opens the spare that an earlier process left, for its allocated space and not
// its bytes, or creates one.
func (s *Spare) create() error {
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

// Complete makes the rest of the spare, of at least least bytes.
func (s *Spare) Complete(least int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for size := max(s.size, least); s.file == nil || s.made < size; {
		if err := s.extend(size); err != nil {
			return err
		}
	}
	return nil
}

// Take hands over the spare, which must be whole.
func (s *Spare) Take() (disk.File, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	file, size := s.file, s.made
	s.file, s.made, s.held, s.taken = nil, 0, 0, true
	return file, size
}

// Name renames the taken file to the segment's name.
func (s *Spare) Name(h *journal.Header) error {
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

// Close releases the spare, whose file stays for the next process.
func (s *Spare) Close() error {
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

// Grow writes zeros behind a file's end until it has a size, within the bytes that the
// reserve leaves, and returns the size that it has.
func (s *Spare) Grow(file disk.File, size, to int64) (int64, error) {
	for size < to {
		n := min(chunk, to-size)
		if err := s.allows(n); err != nil {
			return size, err
		}
		if _, err := file.WriteAt(zeros[:n], size); err != nil {
			return size, NoRoom(err)
		}
		size += n
	}
	return size, nil
}
