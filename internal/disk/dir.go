package disk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// Modes of new files and directories: only the exchange's own user has access.
const (
	fileMode = 0o600
	dirMode  = 0o700
)

// Dir is a directory of the operating system.
type Dir struct{ root *os.Root }

// Open returns the directory at a path, and creates it if it is missing.
func Open(path string) (*Dir, error) {
	if err := os.MkdirAll(path, dirMode); err != nil {
		return nil, err
	}
	return OpenExisting(path)
}

// OpenExisting returns the directory at a path.
func OpenExisting(path string) (*Dir, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Dir{root}, nil
}

// Close releases the directory.
func (d *Dir) Close() error { return d.root.Close() }

// Open opens a file for reading.
func (d *Dir) Open(name string) (File, error) { return file(d.root.Open(name)) }

// Edit opens a file that exists for reading and writing.
func (d *Dir) Edit(name string) (File, error) {
	return file(d.root.OpenFile(name, os.O_RDWR, 0))
}

// Create makes an empty file for reading and writing. It fails if the file exists.
func (d *Dir) Create(name string) (File, error) {
	return file(d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode))
}

// Rename gives a file another name.
func (d *Dir) Rename(from, to string) error { return d.root.Rename(from, to) }

// Remove removes a file or an empty directory.
func (d *Dir) Remove(name string) error { return d.root.Remove(name) }

// MkdirAll makes a directory and its parents.
func (d *Dir) MkdirAll(dir string) error { return d.root.MkdirAll(dir, dirMode) }

// List returns the names in a directory, ascending.
func (d *Dir) List(dir string) ([]string, error) {
	f, err := d.root.Open(dir)
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	slices.Sort(names)
	return names, nil
}

// SyncDir makes the names in a directory durable.
func (d *Dir) SyncDir(dir string) error {
	f, err := d.root.Open(dir)
	if err != nil {
		return unsynced(err)
	}
	return unsynced(errors.Join(f.Sync(), f.Close()))
}

func unsynced(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrSync, err)
}

// Lock locks a file.
func (d *Dir) Lock(name string) (io.Closer, error) {
	f, err := d.root.OpenFile(name, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrLocked
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	return f, nil
}

// Free returns how many more bytes may be written.
func (d *Dir) Free() (uint64, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return 0, err
	}

	var s unix.Statfs_t
	err = unix.Fstatfs(int(f.Fd()), &s)
	if err := errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}

// osFile is a file of the operating system.
type osFile struct{ *os.File }

func file(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// Size returns the file's length in bytes.
func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Sync makes the file's bytes and length durable. It is fdatasync: nothing needs access
// times after a crash.
func (f osFile) Sync() error { return unsynced(SyncData(f.File)) }
