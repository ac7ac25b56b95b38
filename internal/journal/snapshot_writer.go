package journal

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
)

// snapshotBuffer is how much is written at once.
const snapshotBuffer = 256 << 10

// SnapshotWriter writes one snapshot, into a file that nobody reads before
// Commit. It belongs to one goroutine. Errors are kept: after the first one
// nothing more is written, and Commit returns it.
type SnapshotWriter struct {
	store *Snapshots
	at    bourse.Seq
	file  disk.File
	buf   []byte
	// written is how many bytes were given to the file; buf follows them.
	written  int64
	sum      hash.Hash
	sections []section
	err      error
	done     bool
}

// Create begins the snapshot of the moment after a command. Commit or Abort ends
// it.
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

// open makes the temporary file, in place of what an earlier try left.
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

// Section begins a part of the snapshot: what is written from now on belongs to
// it. Its name has at most 255 bytes and is used once.
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

// closeSection notes where the last section ends.
func (w *SnapshotWriter) closeSection() {
	if last := len(w.sections) - 1; last >= 0 {
		w.sections[last].size = w.position() - w.sections[last].offset
	}
}

// position is where the next byte goes.
func (w *SnapshotWriter) position() int64 { return w.written + int64(len(w.buf)) }

// Write adds bytes to the section that was begun last. It does not keep them.
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

// flush gives the buffer to the file.
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

// Commit ends the snapshot: it is durable, under its name, when Commit returns
// without error. With an error nothing is there, or disk.ErrSync says that it is not
// known. Tip.Last is the sequence given to Create.
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

// install makes the file durable and gives it its name.
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

// Abort gives the snapshot up. After Commit it does nothing.
func (w *SnapshotWriter) Abort() {
	if w.done {
		return
	}
	w.err = errors.New("snapshot was given up")
	w.finish()
}

// finish releases the file, and removes it if it has not got its name. That it
// cannot be removed matters to nobody: Trim tries again.
func (w *SnapshotWriter) finish() {
	_ = w.file.Close() // what counts was synced
	if w.err != nil {
		_ = w.store.disk.Remove(temporaryName(w.at))
	}
	w.done = true
	w.store.end(w.at)
}
