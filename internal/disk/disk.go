package disk

import (
	"errors"
	"io"
	"syscall"
)

// ErrLocked means that another process holds a lock.
var ErrLocked = errors.New("locked by another process")

// ErrSync means that a Sync or SyncDir failed, and durability is unknown: the process
// must stop and never try again.
var ErrSync = errors.New("sync failed")

// IsFull reports whether an error means a full disk, after which the operation may be tried
// again. A failed sync is final, whatever its cause.
func IsFull(err error) bool { return errors.Is(err, syscall.ENOSPC) && !errors.Is(err, ErrSync) }

// Disk is a directory. Safe for concurrent use. Errors for a missing or an existing file
// are fs.ErrNotExist and fs.ErrExist; for a full disk, syscall.ENOSPC.
type Disk interface {
	// Open opens a file for reading.
	Open(name string) (File, error)
	// Edit opens a file that exists for reading and writing.
	Edit(name string) (File, error)
	// Create makes a new, empty file.
	Create(name string) (File, error)
	// Rename renames a file, and replaces the target if it exists.
	Rename(from, to string) error
	// Remove removes a file.
	Remove(name string) error
	// MkdirAll makes a directory and its parents, unless they exist.
	MkdirAll(dir string) error
	// List returns the base names in a directory, ascending.
	List(dir string) ([]string, error)
	// SyncDir makes the names in a directory durable. Every error is ErrSync.
	SyncDir(dir string) error
	// Lock locks a file, created if missing, until the closer is closed or the process
	// ends. ErrLocked if another process holds it.
	Lock(name string) (io.Closer, error)
	// Free returns how many more bytes may be written.
	Free() (uint64, error)
}

// File is an open file. ReadAt is safe for concurrent use; the other methods are not.
type File interface {
	io.ReaderAt
	io.WriterAt
	// Size returns the file's length in bytes.
	Size() (int64, error)
	// Truncate shortens the file, or extends it with zeros.
	Truncate(size int64) error
	// Sync makes the file's bytes and length durable. Every error is ErrSync.
	Sync() error
	// Close closes the file and makes nothing durable.
	Close() error
}

// ReadFile returns a file's content.
func ReadFile(d Disk, name string) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
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
