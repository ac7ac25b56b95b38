package disk

import (
	"errors"
	"io"
)

// ErrLocked says that another process holds a lock.
var ErrLocked = errors.New("locked by another process")

// ErrSync says that what a Sync or SyncDir should have made durable is unknown:
// the process must stop, and never try again.
var ErrSync = errors.New("sync failed")

// Disk is a directory. Its methods may be called by anybody. Errors for what is
// missing or already there are fs.ErrNotExist and fs.ErrExist; a full disk is
// syscall.ENOSPC.
type Disk interface {
	// Open opens a file for reading.
	Open(name string) (File, error)
	// Edit opens a file that exists for reading and writing.
	Edit(name string) (File, error)
	// Create makes a new, empty file.
	Create(name string) (File, error)
	// Rename gives a file another name, in place of a file that has it.
	Rename(from, to string) error
	// Remove removes a file.
	Remove(name string) error
	// MkdirAll makes a directory and those above it, unless they are there.
	MkdirAll(dir string) error
	// List returns the names in a directory, ascending, without its own.
	List(dir string) ([]string, error)
	// SyncDir makes the names in a directory durable. Every error is ErrSync.
	SyncDir(dir string) error
	// Lock takes a lock on a file, which it makes if it is missing, until the
	// returned closer is closed or the process ends. ErrLocked if it is taken.
	Lock(name string) (io.Closer, error)
	// Free returns how many bytes may still be written.
	Free() (uint64, error)
}

// File is an open file. ReadAt may be called by anybody, the rest belongs to one
// goroutine.
type File interface {
	io.ReaderAt
	io.WriterAt
	// Size returns the file's length in bytes.
	Size() (int64, error)
	// Truncate cuts the file, or lengthens it with zeros.
	Truncate(size int64) error
	// Sync makes the file's bytes and length durable. Every error is ErrSync.
	Sync() error
	// Close releases the file and makes nothing durable.
	Close() error
}

// ReadFile returns what a file holds.
func ReadFile(d Disk, name string) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // nothing was written
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	b := make([]byte, size)
	if _, err := f.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b, nil
}
