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
	// snapshotExt is the extension of snapshots, temporaryExt that of unfinished ones.
	snapshotExt  = ".snap"
	temporaryExt = ".tmp"
	// keepSnapshots is the least number of good snapshots kept: recovery needs one; the
	// two before it guard against a disk that damages files.
	keepSnapshots = 3
)

func snapshotName(at bourse.Seq) string {
	return fmt.Sprintf("%s/%020d%s", snapshotDir, at, snapshotExt)
}
func temporaryName(at bourse.Seq) string {
	return fmt.Sprintf("%s/%020d%s", snapshotDir, at, temporaryExt)
}

// Snapshots are the snapshot files in a data directory, each of the state after one
// command. Safe for concurrent use.
type Snapshots struct {
	disk disk.Disk
	id   Identity
	// OnDamage, if not nil, is called for each damaged snapshot that is skipped. Set it
	// before the first call.
	OnDamage func(*DamageError)
	// Reads, if not nil, reports whether this program reads the sections of a snapshot. Newest skips others, such as those
	// of an older program. Set it before the first call.
	Reads func(*Snapshot) bool
	// OnWritten, if not nil, is called for each snapshot that became durable. Set it
	// before the first call.
	OnWritten func(SnapshotHeader)
	// Anchored, if not nil, reports whether the state at a command is anchored durably,
	// so that a start may restore its snapshot. Without it a start may restore any. Set
	// it before the first call.
	Anchored func(bourse.Seq) bool

	mu sync.Mutex
	// verified has the verdict on each snapshot that was read since it was written: true
	// if it is good.
	verified map[bourse.Seq]bool
	// writing has the snapshots that a SnapshotWriter is writing.
	writing map[bourse.Seq]bool
	// settled is true once the names found at the start are durable.
	settled bool
}

// NewSnapshots returns an exchange's snapshots in a directory. It does no I/O.
func NewSnapshots(d disk.Disk, id Identity) *Snapshots {
	return &Snapshots{disk: d, id: id, verified: map[bourse.Seq]bool{}, writing: map[bourse.Seq]bool{}}
}

// Snapshot is a verified snapshot in memory.
type Snapshot struct {
	Header   SnapshotHeader
	bytes    []byte
	sections []section
}

// Section returns a section by its name; false if there is none.
func (s *Snapshot) Section(name string) ([]byte, bool) {
	for _, p := range s.sections {
		if p.name == name {
			end := p.offset + p.size
			return s.bytes[p.offset:end:end], true
		}
	}
	return nil, false
}

// List returns all snapshots, good or not, oldest first.
func (s *Snapshots) List() ([]bourse.Seq, error) { return s.list(snapshotExt) }

// list returns the sequences of the files with an extension.
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

// NewestBytes returns the size of the newest snapshot, good or not; zero if there is
// none.
func (s *Snapshots) NewestBytes() (int64, error) {
	list, err := s.List()
	if err != nil || len(list) == 0 {
		return 0, err
	}
	f, err := s.disk.Open(snapshotName(list[len(list)-1]))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // removed meanwhile
	}
	if err != nil {
		return 0, fmt.Errorf("snapshots: %w", err)
	}
	size, err := f.Size()
	return size, errors.Join(err, f.Close())
}

// Newest returns the newest good snapshot at or below upTo; false if there is none. It
// skips damaged ones and reports them to OnDamage, and those that are not of Reads. The errors are those of reading,
// ErrNewerFormat, ErrOlderFormat, ErrOtherExchange and ErrSandbox: an intact file that does
// not belong here is never skipped.
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
		if s.passesOver(err) || err == nil && s.Reads != nil && !s.Reads(snapshot) {
			continue
		}
		return snapshot, err == nil, err
	}
	return nil, false, nil
}

// passesOver reports whether to skip a snapshot that could not be read: it is damaged, or
// an operator removed it since it was listed.
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

// Load reads the snapshot after a command. The errors are a *DamageError, fs.ErrNotExist,
// and those of Newest.
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
	defer func() { _ = f.Close() }() // read only
	size, err := f.Size()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	_, damaged, err := parseSnapshot(f, size, s.id, at)
	return s.judge(at, damaged, err)
}

// judge records the verdict on a snapshot and returns its error with the file's name.
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

// Good returns the good snapshots, newest first. Each was verified by reading it once,
// and its name is durable. It skips damaged ones and reports them to OnDamage.
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

// settle makes the names of the snapshots durable, once: the writer of the newest may
// have crashed before that, and Trim removes older ones because of it.
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

// Trim removes the snapshots that are no longer needed, and unfinished files without a
// writer. cursor is the least durable cursor of the observers. It keeps the three newest
// good snapshots, older ones back to the newest at or below cursor, and the newest that a
// start may restore. It returns the number removed.
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

// Needed returns the earliest snapshot that a start may begin with: the second newest
// good one, or an earlier one if that is the newest that a start may restore. Zero if
// there are fewer than two, or a start may have to begin with the first command.
func (s *Snapshots) Needed(cursor bourse.Seq) (bourse.Seq, error) {
	good, err := s.Good()
	if err != nil || len(good) < 2 {
		return 0, err
	}
	return min(good[1], s.restorable(good, cursor)), nil
}

// restorable returns the newest of the snapshots good, newest first, that is at or below
// cursor and that a start may restore; zero if there is none.
func (s *Snapshots) restorable(good []bourse.Seq, cursor bourse.Seq) bourse.Seq {
	for _, at := range good {
		if at <= cursor && (s.Anchored == nil || s.Anchored(at)) {
			return at
		}
	}
	return 0
}

// RemoveFrom durably removes the snapshots at or after a command that is to be voided,
// because they contain its effect. It returns the number removed.
func (s *Snapshots) RemoveFrom(seq bourse.Seq) (removed int, err error) {
	return s.removeAll(func(at bourse.Seq) bool { return at >= seq })
}

// removeAll removes the snapshots for which some returns true.
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

// removeStale removes temporary files that have no writer.
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

// begin records that a snapshot is being written.
func (s *Snapshots) begin(at bourse.Seq) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writing[at] {
		return fmt.Errorf("snapshot at %d: is being written already", at)
	}
	s.writing[at] = true
	return nil
}

// end records that a snapshot is no longer being written, and forgets the verdict on an
// older file of its name.
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

// ensureDir makes a directory in the data directory and its name durable, even if it
// exists: its maker may have crashed before the sync.
func ensureDir(d disk.Disk, dir string) error {
	if err := d.MkdirAll(dir); err != nil {
		return err
	}
	return d.SyncDir(".")
}

func removeIfThere(d disk.Disk, name string) error {
	if err := d.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
