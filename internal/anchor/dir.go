package anchor

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

const (
	recordName = "anchor"
	recordTemp = "anchor.tmp"
	// maxRecord bounds the size of a record that is read; written records have at most
	// some 100 KiB.
	maxRecord = 1 << 20
)

// Anchor keeps the record of one exchange outside of its data directory. Its methods are
// called one at a time, from any goroutine, and may block as long as the storage does.
type Anchor interface {
	// Load returns the record. The errors are ErrNone, a *journal.DamageError,
	// journal.ErrNewerFormat, and read errors.
	Load() (*Record, error)
	// Keep replaces the record durably. It writes nothing and returns ErrChanged if the
	// stored record is not the last one that Load or Keep of this Anchor saw: another
	// process writes there, or another disk is mounted.
	Keep(r *Record) error
}

// Dir is an anchor in a directory, meant to be on another disk.
type Dir struct {
	path string

	mu sync.Mutex
	// seen is the last record read or written, nil for none. tried is a record whose
	// write failed, but may have taken effect.
	seen, tried []byte
}

// NewDir returns an anchor in an existing directory.
func NewDir(path string) *Dir { return &Dir{path: path} }

// Load returns the record.
func (d *Dir) Load() (*Record, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	root, err := disk.OpenExisting(d.path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // nothing was written

	b, err := read(root)
	if err != nil {
		return nil, err
	}
	r, err := parse(b)
	switch {
	case errors.Is(err, journal.ErrNewerFormat):
		return nil, fmt.Errorf("%s: %w", d.file(), err)
	case err != nil:
		return nil, &journal.DamageError{File: d.file(), Cause: err}
	}
	d.seen = b
	return r, nil
}

// Keep replaces the record.
func (d *Dir) Keep(r *Record) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	// The directory is opened each time: a disk that was remounted has a new root.
	root, err := disk.OpenExisting(d.path)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // the data is already synced

	b, err := read(root)
	if err != nil && !errors.Is(err, ErrNone) {
		return err
	}
	if !bytes.Equal(b, d.seen) && (d.tried == nil || !bytes.Equal(b, d.tried)) {
		return fmt.Errorf("%s: %w", d.file(), ErrChanged)
	}

	next := r.bytes()
	d.seen, d.tried = b, next
	if err := disk.Replace(root, recordName, recordTemp, next); err != nil {
		return err
	}
	d.seen, d.tried = next, nil
	return nil
}

func (d *Dir) file() string { return filepath.Join(d.path, recordName) }

// read returns the bytes of the record, or ErrNone.
func read(d disk.Disk) ([]byte, error) {
	f, err := d.Open(recordName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if size > maxRecord {
		return nil, &journal.DamageError{File: recordName, Cause: fmt.Errorf("it has %d bytes", size)}
	}
	return disk.ReadFile(d, recordName)
}

// CheckPlace refuses a directory that is missing or inside the data directory. sameDisk
// reports that both are on one device, so that one failure or intruder reaches both.
func CheckPlace(path, data string) (sameDisk bool, err error) {
	anchor, err := filepath.EvalSymlinks(path)
	if err != nil {
		return false, err
	}
	if anchor, err = filepath.Abs(anchor); err != nil {
		return false, err
	}
	at, err := os.Stat(anchor)
	switch {
	case err != nil:
		return false, err
	case !at.IsDir():
		return false, fmt.Errorf("%s is no directory", path)
	}

	home, err := os.Stat(data)
	if err != nil {
		return false, err
	}
	for dir := anchor; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return false, err
		}
		if os.SameFile(info, home) {
			return false, fmt.Errorf(
				"%s is inside the data directory: whoever can change the journal can change it too", path)
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return disk.SameDevice(at, home), nil
}
