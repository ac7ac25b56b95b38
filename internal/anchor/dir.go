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
	// maxRecord is the longest record that is read: some 100 KiB are written at most.
	maxRecord = 1 << 20
)

// Anchor keeps the record of one exchange outside of its data directory. Its methods may
// be called by any goroutine, one at a time, and may take as long as the place does.
type Anchor interface {
	// Load returns the record. The errors are ErrNone, a *journal.DamageError,
	// journal.ErrNewerFormat, and those of reading.
	Load() (*Record, error)
	// Keep replaces the record, durably. ErrChanged, and nothing is written, if the
	// record is not the one that Load or an earlier Keep of this Anchor saw last:
	// somebody else writes there, or the disk behind the place is another one.
	Keep(r *Record) error
}

// Dir is an anchor in a directory of another disk.
type Dir struct {
	path string

	mu sync.Mutex
	// seen is the record that was read or written last, nil for none; tried is one
	// whose writing failed and may have taken place all the same.
	seen, tried []byte
}

// NewDir returns an anchor in a directory, which must exist.
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
	// The directory is opened each time: a disk that went and came back is another one
	// to the system.
	root, err := disk.OpenExisting(d.path)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // what counts is synced

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

// read returns the bytes of a record; ErrNone if there is none.
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
// reports that both are on one device: whoever has that has both.
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
			return false, fmt.Errorf("%s is inside the data directory: whoever can change the journal can change it too", path)
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return disk.SameDevice(at, home), nil
}
