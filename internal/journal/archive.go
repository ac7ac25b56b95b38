package journal

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math/bits"

	"github.com/klauspost/compress/zstd"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
)

// ArchiveNext moves the oldest live segment to the archive, compressed, if another
// segment follows it and all of its commands are below before. In a cluster's journal the
// following segment must have one below before too: otherwise a later leader may refuse that
// segment, and the node continues in this one. ArchiveNext verifies the segment first and the
// copy afterwards. A crash in between leaves both; the next call continues.
func (f *Files) ArchiveNext(before bourse.Seq) (moved bool, err error) {
	k, err := f.kept()
	if err != nil || len(k.live) < 2 || k.live[1] > before {
		return false, err
	}
	s, err := f.openLive(k.live[0])
	if err != nil {
		return false, err
	}
	if s.head.Replica != nil && k.live[1] == before {
		return false, s.close()
	}
	err = f.archive(s, k.live[1])
	if err := errors.Join(err, s.close()); err != nil {
		return false, fmt.Errorf("archiving %s: %w", s.name, err)
	}
	if err := f.disk.Remove(s.name); err != nil {
		return false, err
	}
	return true, f.disk.SyncDir(LiveDir)
}

// archive copies a segment into the archive.
func (f *Files) archive(s *segment, following bourse.Seq) error {
	if err := s.verify(following); err != nil {
		return err
	}
	if err := ensureDir(f.disk, ArchiveDir); err != nil {
		return err
	}

	name := archiveName(s.head.First())
	sum, err := s.sum()
	if err != nil {
		return err
	}

	switch err := f.compare(name, sum); {
	case errors.Is(err, fs.ErrNotExist):
		return f.putAway(s, name, sum)
	case err != nil && !f.isCopy(s, following):
		return err
	default:
		return f.disk.SyncDir(ArchiveDir) // only the removal of the live segment is missing
	}
}

// isCopy reports whether the archive has the entries of a verified segment in other bytes: the segment was mended after
// it was copied.
func (f *Files) isCopy(s *segment, following bourse.Seq) bool {
	copied, err := f.openArchived(s.head.First())
	return err == nil && copied.verify(following) == nil && copied.tip == s.tip && copied.at == s.at
}

// putAway writes a segment with a sum, compressed, under a name in the archive.
func (f *Files) putAway(s *segment, name string, sum Hash) error {
	if err := f.pack(s, name+tempExt); err != nil {
		return err
	}
	if err := f.compare(name+tempExt, sum); err != nil {
		return err
	}

	if err := f.disk.Rename(name+tempExt, name); err != nil {
		return err
	}
	return f.disk.SyncDir(ArchiveDir)
}

// verify reads the whole segment, leaves it behind its last entry, and checks that it
// ends right before the command following.
func (s *segment) verify(following bourse.Seq) error {
	err := s.toEnd()
	if !noEntry(err) {
		return err
	}
	rest, failed := s.remains()
	switch {
	case failed != nil:
		return failed
	case rest.to > rest.from || !errors.Is(err, errEnd) || s.tip.Last+1 != following:
		return s.damage(err)
	}
	return nil
}

// content returns the segment's bytes without padding.
func (s *segment) content() io.Reader { return io.NewSectionReader(s.file, 0, s.off) }

func (s *segment) sum() (Hash, error) {
	h := sha256.New()
	_, err := io.Copy(h, s.content())
	return hashOf(h), err
}

func hashOf(h hash.Hash) Hash {
	var sum Hash
	h.Sum(sum[:0])
	return sum
}

// pack writes a segment's content, compressed, into a new file.
func (f *Files) pack(s *segment, name string) error {
	return disk.Write(f.disk, name, func(file disk.File) error {
		return compress(&appender{file: file}, s.content(), s.off)
	})
}

// leastWindow and mostWindow bound the compression window, as powers of two.
const leastWindow, mostWindow = 10, 20

// compress compresses size bytes. The size in the frame header lets readers
// allocate once.
func compress(to io.Writer, from io.Reader, size int64) error {
	window := 1 << min(max(bits.Len64(uint64(size)), leastWindow), mostWindow)
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window),
		zstd.WithLowerEncoderMem(true))
	if err != nil {
		return err
	}
	z.ResetContentSize(to, size)
	_, err = io.Copy(z, from)
	return errors.Join(err, z.Close())
}

// compare returns an error unless the archived segment has the content hash want.
func (f *Files) compare(name string, want Hash) error {
	file, err := f.disk.Open(name)
	if err != nil {
		return err
	}
	got, err := unpackedSum(file)
	switch err := errors.Join(err, file.Close()); {
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case got != want:
		return fmt.Errorf("%s: %w", name, errChecksum)
	}
	return nil
}

func unpackedSum(file disk.File) (Hash, error) {
	size, err := file.Size()
	if err != nil {
		return Hash{}, err
	}
	z, err := zstd.NewReader(io.NewSectionReader(file, 0, size), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true))
	if err != nil {
		return Hash{}, err
	}

	defer z.Close()
	h := sha256.New()
	_, err = io.Copy(h, z)
	return hashOf(h), err
}

// appender writes a file sequentially.
type appender struct {
	file disk.File
	off  int64
}

func (a *appender) Write(b []byte) (int, error) {
	n, err := a.file.WriteAt(b, a.off)
	a.off += int64(n)
	return n, err
}
