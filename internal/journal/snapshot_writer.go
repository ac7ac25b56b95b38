package journal

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
)

// snapshotBuffer is the size of a write in bytes.
const snapshotBuffer = 256 << 10

// SnapshotWriter writes one snapshot, into a file that has no reader before Commit. Not
// safe for concurrent use. Errors are sticky: after the first one nothing more is
// written, and Commit returns it.
type SnapshotWriter struct {
	store *Snapshots
	at    bourse.Seq
	file  disk.File
	buf   []byte
	// written is the number of bytes given to the file; buf follows them.
	written  int64
	sum      hash.Hash
	sections []section
	err      error
	done     bool
}

// Create begins the snapshot of the state after a command. Commit or Abort ends it.
func (s *Snapshots) Create(at bourse.Seq) (*SnapshotWriter, error) {
	if err := s.begin(at); err != nil {
		return nil, err
	}
	w := &SnapshotWriter{store: s, at: at, sum: sha256.New(), buf: make([]byte, 0, snapshotBuffer)}
	if err := w.open(); err != nil {
		s.end(at)
		return nil, fmt.Errorf("snapshot at %d: %w", at, err)
	}
	w.buf = appendPrefix(w.buf, s.id, at)
	return w, nil
}

// open creates the temporary file and removes the remains of an earlier attempt.
func (w *SnapshotWriter) open() error {
	d := w.store.disk
	if err := ensureDir(d, snapshotDir); err != nil {
		return err
	}
	if err := removeIfThere(d, temporaryName(w.at)); err != nil {
		return err
	}
	var err error
	w.file, err = d.Create(temporaryName(w.at))
	return err
}

// Section begins a section: later Writes belong to it. Its name has 1 to 255 bytes and is
// unique within the snapshot.
func (w *SnapshotWriter) Section(name string) {
	if len(name) == 0 || len(name) > maxSectionName || len(w.sections) == maxSections {
		bourse.Impossible("section %q, number %d of a snapshot", name, len(w.sections)+1)
	}
	for _, s := range w.sections {
		if s.name == name {
			bourse.Impossible("section %q of a snapshot begins twice", name)
		}
	}
	w.closeSection()
	w.sections = append(w.sections, section{name: name, offset: w.position()})
}

// closeSection sets the size of the last section.
func (w *SnapshotWriter) closeSection() {
	if last := len(w.sections) - 1; last >= 0 {
		w.sections[last].size = w.position() - w.sections[last].offset
	}
}

// position returns the offset of the next byte.
func (w *SnapshotWriter) position() int64 { return w.written + int64(len(w.buf)) }

// Write adds bytes to the last section. It does not keep b.
func (w *SnapshotWriter) Write(b []byte) (int, error) {
	if len(w.sections) == 0 || w.done {
		bourse.Impossible("a snapshot is written outside of its sections")
	}
	total := len(b)
	for len(b) > 0 && w.err == nil {
		n := min(len(b), cap(w.buf)-len(w.buf))
		w.buf, b = append(w.buf, b[:n]...), b[n:]
		if len(w.buf) == cap(w.buf) {
			w.flush()
		}
	}
	if w.err != nil {
		return 0, w.err
	}
	return total, nil
}

// flush writes the buffer to the file.
func (w *SnapshotWriter) flush() {
	if w.err != nil {
		return
	}
	w.sum.Write(w.buf)
	if _, w.err = w.file.WriteAt(w.buf, w.written); w.err == nil {
		w.written += int64(len(w.buf))
		w.buf = w.buf[:0]
	}
}

// Commit finishes the snapshot. Without error, it is durable under its name. After an
// error there is no snapshot, except after disk.ErrSync, when that is unknown. h.Tip.Last
// must be the sequence given to Create.
func (w *SnapshotWriter) Commit(h SnapshotHeader) error {
	if h.Tip.Last != w.at || w.done {
		bourse.Impossible("the snapshot at %d ends at %d", w.at, h.Tip.Last)
	}

	w.closeSection()
	w.buf = appendContents(w.buf, &contents{h, w.sections})
	w.flush()
	if w.err == nil {
		w.buf = w.sum.Sum(w.buf)
		_, w.err = w.file.WriteAt(w.buf, w.written)
	}

	w.install()
	err := w.err
	w.finish()

	if err != nil {
		return fmt.Errorf("snapshot at %d: %w", w.at, err)
	}
	if w.store.OnWritten != nil {
		w.store.OnWritten(h)
	}
	return nil
}

// install syncs the file and renames it to its final name.
func (w *SnapshotWriter) install() {
	if w.err != nil {
		return
	}
	if w.err = w.file.Sync(); w.err != nil {
		return
	}
	if w.err = w.store.disk.Rename(temporaryName(w.at), snapshotName(w.at)); w.err == nil {
		w.err = w.store.disk.SyncDir(snapshotDir)
	}
}

// Abort gives up the snapshot. After Commit it does nothing.
func (w *SnapshotWriter) Abort() {
	if w.done {
		return
	}
	w.err = errors.New("snapshot was given up")
	w.finish()
}

// finish closes the file, and removes it after an error. A failed removal is harmless:
// Trim tries again.
func (w *SnapshotWriter) finish() {
	_ = w.file.Close() // Commit has synced it
	if w.err != nil {
		_ = w.store.disk.Remove(temporaryName(w.at))
	}
	w.done = true
	w.store.end(w.at)
}
