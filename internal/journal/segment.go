package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
)

// errEnd: no entry was written at this offset yet.
var errEnd = errors.New("no entry")

// segment reads the entries of one segment, live or archived, and checks that each
// follows the one before.
type segment struct {
	// file is the open file; nil for an archived segment, which is in memory.
	file disk.File
	name string
	head Header
	win  window
	// off is the offset of the next entry, tip the journal's tip there, last the kind of
	// the entry before it, if any.
	off  int64
	tip  Tip
	last EntryKind
	// proven is the last command that an entry's watermark proves durable.
	proven bourse.Seq
	// at is the position of the last entry of raft, commit the last index that an entry
	// says is committed. Both are zero in the journal of a single node.
	at     Position
	commit uint64
}

// openLive opens the live segment that begins with a command.
func (f *Files) openLive(first bourse.Seq) (*segment, error) {
	file, err := f.disk.Open(liveName(first))
	if err != nil {
		return nil, err
	}
	size, err := file.Size()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	s, err := f.newSegment(file, size, liveName(first), first)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	s.file = file
	return s, nil
}

// openArchived opens the archived segment that begins with a command.
func (f *Files) openArchived(first bourse.Seq) (*segment, error) {
	packed, err := disk.ReadFile(f.disk, archiveName(first))
	if err != nil {
		return nil, err
	}
	return f.unpacked(first, packed)
}

// unpacked opens the archived segment that begins with a command, from the bytes of its file.
func (f *Files) unpacked(first bourse.Seq, packed []byte) (*segment, error) {
	plain, err := unpack(packed)
	if err != nil {
		return nil, &DamageError{archiveName(first), 0, first, err}
	}
	return f.newSegment(bytes.NewReader(plain), int64(len(plain)), archiveName(first), first)
}

// mostPlain bounds the unpacked size of an archived segment, above the largest segment.
const mostPlain = 2 << 30

func unpack(packed []byte) ([]byte, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostPlain))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.DecodeAll(packed, nil)
}

// newSegment reads a segment's header. The next entry is its first.
func (f *Files) newSegment(r io.ReaderAt, size int64, name string, first bourse.Seq) (*segment, error) {
	s := &segment{name: name, win: window{file: r, size: size}, off: Block}
	b, err := s.win.get(0, Block)
	if err != nil {
		return nil, err
	}
	if err := s.head.parse(b); isOtherFormat(err) {
		return nil, fmt.Errorf("%s: %w", name, err)
	} else if err != nil {
		return nil, &DamageError{name, 0, first, err}
	}
	if s.head.First() != first {
		return nil, &DamageError{name, 0, first, errors.New("it is another segment")}
	}
	if err := f.id.Check(s.head.Identity); err != nil && !f.anybody {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s.tip, s.proven = s.head.Tip, s.head.Tip.Last
	if r := s.head.Replica; r != nil {
		s.at = r.At
	}
	return s, nil
}

// next reads the next entry. Without one, the error is errEnd if nothing was written
// there, or a *brokenError if the bytes are no whole entry; a *DamageError and any other
// error are final.
func (s *segment) next(e *Entry) error {
	kept := s.win.holds(s.off)
	err := s.head.parseEntry(s.win.get, s.off, e)
	if broken := (*brokenError)(nil); kept && err != nil || errors.As(err, &broken) {
		// The buffer may be older than the entry, and a read that failed once must not
		// make an entry count as torn.
		s.win.drop()
		err = s.head.parseEntry(s.win.get, s.off, e)
	}

	switch {
	case errors.Is(err, ErrNewerFormat):
		return fmt.Errorf("%s: %w", s.name, err)
	case errors.Is(err, errMalformed):
		return s.damage(err)
	case err != nil:
		return err
	}

	if err := e.Frame.Follows(&s.tip); err != nil {
		return s.damage(err)
	}
	if s.head.Replica != nil {
		if err := s.place(e); err != nil {
			return s.damage(err)
		}
	}

	if e.Synced == s.off {
		s.proven = s.tip.Last
	}
	if e.Kind == EntryBatch {
		b := e.Batch()
		s.tip = b.Tip()
	}
	s.off += int64(e.Size)
	s.last = e.Kind
	return nil
}

// toEnd reads entries until there is none, and returns why.
func (s *segment) toEnd() error {
	var e Entry
	err := s.next(&e)
	for err == nil {
		err = s.next(&e)
	}
	return err
}

// place moves the position to an entry, which must follow the one before it in the log of
// raft.
func (s *segment) place(e *Entry) error {
	next := s.at
	if e.Kind.Replicated() {
		next = Position{s.at.Index + 1, e.Frame.Term}
	}
	switch {
	case e.Index != next.Index:
		return fmt.Errorf("entry has index %d, not %d", e.Index, next.Index)
	case next.Term < s.at.Term:
		return fmt.Errorf("term %d after %d", next.Term, s.at.Term)
	case e.Commit < s.commit:
		return fmt.Errorf("commit goes back from %d to %d", s.commit, e.Commit)
	}
	s.at, s.commit = next, e.Commit
	return nil
}

// Batch returns the entry's frame as a batch.
func (e *Entry) Batch() Batch { return e.Frame.Batch(e.Chain) }

// damage returns a DamageError at the next entry.
func (s *segment) damage(cause error) error {
	if already := (*DamageError)(nil); errors.As(cause, &already) {
		return cause
	}
	return &DamageError{s.name, s.off, s.tip.Last + 1, cause}
}

// remains describes the bytes of a segment from the unreadable entry on.
type remains struct {
	// from and to enclose all non-zero blocks.
	from, to int64
	// proof is true if that entry is known to have been durable.
	proof bool
}

// remains scans the rest of the segment.
func (s *segment) remains() (remains, error) {
	// Every segment but the journal's first is named only after its first entry is
	// durable.
	r := remains{from: s.off, to: s.off, proof: s.off == Block && s.head.Tip.Last > 0}
	s.win.drop()
	defer s.win.drop()
	for off := s.off; ; off += restAhead {
		b, err := s.win.get(off, int(min(restAhead, max(s.win.size-off, 0))))
		if err != nil || len(b) == 0 {
			return r, err
		}
		if !isZero(b) {
			s.look(b, off, &r)
		}
	}
}

// look scans a stretch of the rest, block by block.
func (s *segment) look(b []byte, off int64, r *remains) {
	for len(b) > 0 {
		block := b[:min(Block, len(b))]
		if !isZero(block) {
			if r.to == s.off {
				r.from = off
			}
			r.to = off + int64(len(block))
			var e Entry
			err := s.head.parseEnvelope(block, off, &e)
			r.proof = r.proof || err == nil && e.Synced > s.off || errors.Is(err, ErrNewerFormat)
		}
		b, off = b[len(block):], off+int64(len(block))
	}
}

// close releases the segment.
func (s *segment) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

const (
	// leastAhead and mostAhead bound a read: small at a live end, where the buffer is
	// soon outdated, large in a long run.
	leastAhead = 16 << 10
	mostAhead  = 512 << 10
	// restAhead is the read size of remains, which expects zeros.
	restAhead = 128 << 10
)

// window is a read buffer over a file, read from front to back.
type window struct {
	file  io.ReaderAt
	size  int64
	buf   []byte
	at    int64
	ahead int
}

func (w *window) holds(off int64) bool { return off >= w.at && off < w.at+int64(len(w.buf)) }

// get returns n bytes at an offset, fewer only at the file's end. They are valid until
// the next call.
func (w *window) get(off int64, n int) ([]byte, error) {
	if off >= w.at && off+int64(n) <= w.at+int64(len(w.buf)) {
		return w.buf[off-w.at:][:n], nil
	}
	w.ahead = min(max(2*w.ahead, leastAhead), mostAhead)
	size := max(n, int(min(int64(w.ahead), w.size-off)))
	if cap(w.buf) < size {
		w.buf = make([]byte, 0, size)
	}
	got, err := w.file.ReadAt(w.buf[:size], off)
	w.at, w.buf = off, w.buf[:got]
	if err != nil && !errors.Is(err, io.EOF) {
		w.drop()
		return nil, err
	}
	return w.buf[:min(n, got)], nil
}

// drop discards the buffer.
func (w *window) drop() { w.buf, w.ahead = w.buf[:0], 0 }
