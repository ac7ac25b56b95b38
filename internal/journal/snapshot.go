package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
)

const (
	snapshotDir = "snapshots"
	// snapshotExt ends the name of a snapshot, temporaryExt that of one which is
	// being written.
	snapshotExt  = ".snap"
	temporaryExt = ".tmp"
	// keepSnapshots is how many good snapshots are kept at least: recovery needs
	// one, and the two before it are for a disk that damages files.
	keepSnapshots = 3
)

func snapshotName(at bourse.Seq) string {
	return fmt.Sprintf("%s/%020d%s", snapshotDir, at, snapshotExt)
}
func temporaryName(at bourse.Seq) string {
	return fmt.Sprintf("%s/%020d%s", snapshotDir, at, temporaryExt)
}

// Snapshots are the snapshot files in a data directory, each of the moment after
// one command. Anybody may call the methods.
type Snapshots struct {
	disk disk.Disk
	id   Identity
	// OnDamage is told of each damaged snapshot that was passed over. It is set
	// before the first call, or nil.
	OnDamage func(*DamageError)
	// OnWritten is told of each snapshot that became durable. It is set before the
	// first call, or nil.
	OnWritten func(SnapshotHeader)
	// Anchored reports whether a start may restore the snapshot at a command: its state
	// is anchored durably. It is set before the first call; nil without an anchor, when a
	// start may restore any.
	Anchored func(bourse.Seq) bool

	mu sync.Mutex
	// verified says of snapshots that were read since they were written whether
	// they are good.
	verified map[bourse.Seq]bool
	// writing are the snapshots whose writers are at work.
	writing map[bourse.Seq]bool
	// settled is true once the names found at the start are durable.
	settled bool
}

// NewSnapshots returns the snapshots of an exchange in a directory, which it
// does not touch yet.
func NewSnapshots(d disk.Disk, id Identity) *Snapshots {
	return &Snapshots{disk: d, id: id, verified: map[bourse.Seq]bool{}, writing: map[bourse.Seq]bool{}}
}

// Snapshot is a snapshot in memory, every byte of it verified.
type Snapshot struct {
	Header   SnapshotHeader
	bytes    []byte
	sections []section
}

// Section returns a part of the snapshot by its name; false if it has none.
func (s *Snapshot) Section(name string) ([]byte, bool) {
	for _, p := range s.sections {
		if p.name == name {
			end := p.offset + p.size
			return s.bytes[p.offset:end:end], true
		}
	}
	return nil, false
}

// List returns the snapshots there are, good or not, oldest first.
func (s *Snapshots) List() ([]bourse.Seq, error) { return s.list(snapshotExt) }

// list returns the sequences in the names with an ending.
func (s *Snapshots) list(ext string) ([]bourse.Seq, error) {
	names, err := s.disk.List(snapshotDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("snapshots: %w", err)
	}
	var list []bourse.Seq
	for _, name := range names {
		digits, ok := strings.CutSuffix(name, ext)
		at, err := strconv.ParseUint(digits, 10, 64)
		if ok && err == nil && len(digits) == 20 {
			list = append(list, bourse.Seq(at))
		}
	}
	return list, nil
}

// NewestBytes returns the length of the newest snapshot, good or not; zero if there is
// none.
func (s *Snapshots) NewestBytes() (int64, error) {
	list, err := s.List()
	if err != nil || len(list) == 0 {
		return 0, err
	}
	f, err := s.disk.Open(snapshotName(list[len(list)-1]))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // it was removed since
	}
	if err != nil {
		return 0, fmt.Errorf("snapshots: %w", err)
	}
	size, err := f.Size()
	return size, errors.Join(err, f.Close())
}

// Newest returns the newest good snapshot of a moment not after a command; false
// if there is none. Damaged ones are passed over, which OnDamage is told. The
// errors are of reading, and ErrNewerFormat, ErrOtherExchange and ErrSandbox: a
// file that is whole and not for us is never passed over.
func (s *Snapshots) Newest(upTo bourse.Seq) (*Snapshot, bool, error) {
	list, err := s.List()
	if err != nil {
		return nil, false, err
	}
	for _, at := range slices.Backward(list) {
		if at > upTo {
			continue
		}
		snapshot, err := s.Load(at)
		if s.passesOver(err) {
			continue
		}
		return snapshot, err == nil, err
	}
	return nil, false, nil
}

// passesOver reports whether the next snapshot is to be looked at in place of one
// that could not be read: it is damaged, or who runs the exchange has removed it
// since it was listed.
func (s *Snapshots) passesOver(err error) bool {
	damage := (*DamageError)(nil)
	if !errors.As(err, &damage) {
		return errors.Is(err, fs.ErrNotExist)
	}
	if s.OnDamage != nil {
		s.OnDamage(damage)
	}
	return true
}

// Load reads the snapshot of the moment after a command. The errors are a
// *DamageError, fs.ErrNotExist, and those of Newest.
func (s *Snapshots) Load(at bourse.Seq) (*Snapshot, error) {
	name := snapshotName(at)
	b, err := disk.ReadFile(s.disk, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c, damaged, err := parseSnapshot(bytes.NewReader(b), int64(len(b)), s.id, at)
	if err := s.judge(at, damaged, err); err != nil {
		return nil, err
	}
	return &Snapshot{Header: c.header, bytes: b, sections: c.sections}, nil
}

// Verify reads the snapshot without keeping it. The errors are those of Load.
func (s *Snapshots) Verify(at bourse.Seq) error {
	name := snapshotName(at)
	f, err := s.disk.Open(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	size, err := f.Size()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	_, damaged, err := parseSnapshot(f, size, s.id, at)
	return s.judge(at, damaged, err)
}

// judge notes what reading a snapshot has shown, and dresses the error.
func (s *Snapshots) judge(at bourse.Seq, damaged bool, err error) error {
	if damaged {
		err = &DamageError{File: snapshotName(at), Seq: at, Cause: err}
	} else if err != nil {
		return fmt.Errorf("%s: %w", snapshotName(at), err)
	}
	s.mu.Lock()
	s.verified[at] = !damaged
	s.mu.Unlock()
	return err
}

// Good returns the snapshots that are good, newest first. Each is verified by
// reading it once, and its name is durable; damaged ones are passed over, which
// OnDamage is told then.
func (s *Snapshots) Good() ([]bourse.Seq, error) {
	list, err := s.List()
	if err != nil || len(list) == 0 {
		return nil, err
	}
	if err := s.settle(); err != nil {
		return nil, err
	}
	var good []bourse.Seq
	for _, at := range slices.Backward(list) {
		ok, err := s.good(at)
		if err != nil {
			return nil, err
		}
		if ok {
			good = append(good, at)
		}
	}
	return good, nil
}

// settle makes the names of the snapshots durable, once: who wrote the newest may
// have died before that, and what is older is removed on the strength of it.
func (s *Snapshots) settle() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settled {
		return nil
	}
	if err := s.disk.SyncDir(snapshotDir); err != nil {
		return err
	}
	s.settled = true
	return nil
}

// good reports whether a snapshot is good.
func (s *Snapshots) good(at bourse.Seq) (bool, error) {
	s.mu.Lock()
	good, known := s.verified[at]
	s.mu.Unlock()
	if known {
		return good, nil
	}
	err := s.Verify(at)
	if s.passesOver(err) {
		return false, nil
	}
	return err == nil, err
}

// Trim removes snapshots that nothing needs any more, given the least cursor of
// what is durable behind the journal, and what writers that are no more have
// left. It keeps the three newest good ones, beyond these every one that the
// cursor may still have to start from, and the newest that a start may restore.
// It returns how many it removed.
func (s *Snapshots) Trim(cursor bourse.Seq) (removed int, err error) {
	if err := s.removeStale(); err != nil {
		return 0, err
	}
	good, err := s.Good()
	if err != nil {
		return 0, err
	}

	restorable := s.restorable(good, cursor)
	for i := keepSnapshots - 1; i < len(good); i++ {
		if good[i] <= cursor {
			return s.removeAll(func(at bourse.Seq) bool { return at < good[i] && at != restorable })
		}
	}
	return 0, nil
}

// Needed returns the earliest snapshot that a start may begin with: the older of the
// two newest good ones, or an earlier one if that is the newest that a start may
// restore. Zero if there are no two, or a start may have to begin with the first command.
func (s *Snapshots) Needed(cursor bourse.Seq) (bourse.Seq, error) {
	good, err := s.Good()
	if err != nil || len(good) < 2 {
		return 0, err
	}
	return min(good[1], s.restorable(good, cursor)), nil
}

// restorable returns the newest of these snapshots, newest first, that the cursor has
// reached and that a start may restore; zero if there is none.
func (s *Snapshots) restorable(good []bourse.Seq, cursor bourse.Seq) bourse.Seq {
	for _, at := range good {
		if at <= cursor && (s.Anchored == nil || s.Anchored(at)) {
			return at
		}
	}
	return 0
}

// RemoveFrom removes the snapshots of moments at or after a command, which is to
// be taken out of effect: they hold what it did. It returns how many it removed,
// durably.
func (s *Snapshots) RemoveFrom(seq bourse.Seq) (removed int, err error) {
	return s.removeAll(func(at bourse.Seq) bool { return at >= seq })
}

// removeAll removes some snapshots.
func (s *Snapshots) removeAll(some func(bourse.Seq) bool) (removed int, err error) {
	list, err := s.List()
	if err != nil {
		return 0, err
	}
	for _, at := range list {
		if !some(at) {
			continue
		}
		if err := s.disk.Remove(snapshotName(at)); err != nil {
			return removed, fmt.Errorf("snapshots: %w", err)
		}
		s.forget(at)
		removed++
	}
	if removed == 0 {
		return 0, nil
	}
	return removed, s.disk.SyncDir(snapshotDir)
}

// removeStale removes temporary files that nobody writes.
func (s *Snapshots) removeStale() error {
	list, err := s.list(temporaryExt)
	if err != nil {
		return err
	}
	for _, at := range list {
		s.mu.Lock()
		busy := s.writing[at]
		s.mu.Unlock()
		if busy {
			continue
		}
		if err := removeIfThere(s.disk, temporaryName(at)); err != nil {
			return fmt.Errorf("snapshots: %w", err)
		}
	}
	return nil
}

// begin notes that a snapshot is being written.
func (s *Snapshots) begin(at bourse.Seq) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writing[at] {
		return fmt.Errorf("snapshot at %d: is being written already", at)
	}
	s.writing[at] = true
	return nil
}

// end notes that nobody writes a snapshot any more, and that what was known of
// an older file of its name is void.
func (s *Snapshots) end(at bourse.Seq) {
	s.mu.Lock()
	delete(s.writing, at)
	delete(s.verified, at)
	s.mu.Unlock()
}

func (s *Snapshots) forget(at bourse.Seq) {
	s.mu.Lock()
	delete(s.verified, at)
	s.mu.Unlock()
}

// ensureDir makes a directory in the data directory, durably, also if it is
// there: who made it may not have come to that.
func ensureDir(d disk.Disk, dir string) error {
	if err := d.MkdirAll(dir); err != nil {
		return err
	}
	return d.SyncDir(".")
}

// removeIfThere removes a file if there is one.
func removeIfThere(d disk.Disk, name string) error {
	if err := d.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
