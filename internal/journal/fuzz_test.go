package journal_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

const onlySegment = "journal/00000000000000000001.seg"

// patched returns bytes with others written over them.
func patched(b []byte, at uint16, patch []byte) []byte {
	b = bytes.Clone(b)
	copy(b[min(int(at), len(b)):], patch)
	return b
}

// sumAt writes the checksum of all bytes before an offset.
func sumAt(b []byte, from, at int) {
	if at+4 <= len(b) {
		binary.LittleEndian.PutUint32(b[at:], crc32.Checksum(b[from:at], crc32.MakeTable(crc32.Castagnoli)))
	}
}

// holding returns a disk with one file.
func holding(t *testing.T, name string, content []byte) *memdisk.Disk {
	t.Helper()
	d := memdisk.New(1)
	for _, dir := range []string{journal.LiveDir, journal.ArchiveDir} {
		if err := d.MkdirAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	f, err := d.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(content, 0); err != nil {
		t.Fatal(err)
	}
	return d
}

// segmentOf returns a segment of three frames.
func segmentOf(f *testing.F) []byte {
	f.Helper()
	d := memdisk.New(1)
	write(f, d, 1, 3)
	b, err := disk.ReadFile(d, onlySegment)
	if err != nil {
		f.Fatal(err)
	}
	return b
}

// gapless reads to the end: commands follow each other, or the reader returns an error.
func gapless(t *testing.T, files *journal.Files) {
	t.Helper()
	r, err := files.Read(1)
	if err != nil {
		return
	}
	defer func() { _ = r.Close() }()
	for next := bourse.Seq(1); ; {
		b, err := r.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				var damage *journal.DamageError
				if errors.As(err, &damage) && damage.File == "" {
					t.Errorf("damage of no file: %v", err)
				}
			}
			return
		}
		if b.First != next || b.Count == 0 {
			t.Fatalf("command %d came where %d should", b.First, next)
		}
		next = b.Last() + 1
	}
}

// FuzzSegment changes a segment and corrects its checksums, to reach envelopes, frames
// and headers that only a program could have written.
func FuzzSegment(f *testing.F) {
	whole := segmentOf(f)
	f.Add(uint16(12), []byte{1}, true)
	f.Add(uint16(journal.Block+6), []byte{3, 0}, true)
	f.Add(uint16(journal.Block+40), []byte{0, 0x20}, true)
	f.Add(uint16(journal.Block+56), []byte{255, 255, 255, 255}, true)
	f.Add(uint16(2*journal.Block), make([]byte, 64), false)
	f.Fuzz(func(t *testing.T, at uint16, patch []byte, sums bool) {
		b := patched(whole, at, patch)
		if sums {
			sumAt(b, 0, journal.Block-4)
			for off := journal.Block; off < len(b); off += journal.Block {
				sumAt(b[off:], 0, 52)
			}
		}
		d := holding(t, onlySegment, b)
		_, _, _ = journal.Identify(d)
		files := journal.NewFiles(d, ours)
		_, _, _ = files.End(nil)
		_, _ = files.Stat()
		gapless(t, files)
	})
}

// FuzzArchive reads an archived segment with arbitrary content.
func FuzzArchive(f *testing.F) {
	whole := segmentOf(f)
	pack, err := zstd.NewWriter(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint16(0), []byte{}, true)
	f.Add(uint16(journal.Block+1), []byte{7}, true)
	f.Add(uint16(0), []byte("BOURSEG"), true)
	f.Add(uint16(0), []byte{0x28, 0xb5, 0x2f, 0xfd, 0xff, 0xff}, false)
	f.Fuzz(func(t *testing.T, at uint16, patch []byte, packed bool) {
		b := patch
		if packed {
			b = pack.EncodeAll(patched(whole, at, patch), nil)
		}
		files := journal.NewFiles(holding(t, "archive/00000000000000000001.seg.zst", b), ours)
		_, _ = files.Stat()
		gapless(t, files)
	})
}

// FuzzStub reads arbitrary stubs.
func FuzzStub(f *testing.F) {
	f.Add([]byte("BOURSTUB\x01\x00\x00\x00\x01"))
	f.Add(make([]byte, 116))
	f.Fuzz(func(t *testing.T, b []byte) {
		sumAt(b, 0, max(len(b)-4, 0))
		stub, err := journal.NewFiles(holding(t, "archive/stub", b), ours).Stub()
		if (stub == nil) != (err != nil) {
			t.Errorf("%+v, %v", stub, err)
		}
	})
}

// FuzzVoids reads an arbitrary file of voids; if it is accepted, Append must work.
func FuzzVoids(f *testing.F) {
	d := memdisk.New(1)
	l, err := journal.LoadVoids(d, ours)
	if err == nil {
		err = l.Append(journal.Void{Seq: 3, Reason: "why", Operator: 1, Time: 2})
	}
	if err != nil {
		f.Fatal(err)
	}
	whole, err := disk.ReadFile(d, "voids")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:72])
	f.Add([]byte("BOURVOID"))
	f.Fuzz(func(t *testing.T, b []byte) {
		sumAt(b, 0, 68)
		d := holding(t, "voids", b)
		l, err := journal.LoadVoids(d, ours)
		if err != nil {
			return
		}
		if err := l.Append(journal.Void{Seq: 1 << 60, Reason: "more"}); err != nil && !errors.Is(err, journal.ErrVoided) {
			t.Fatal(err)
		}
		again, err := journal.LoadVoids(d, ours)
		if err != nil || len(again.All()) != len(l.All()) || !again.Has(1<<60) {
			t.Errorf("%d voids, and read again %v: %v", len(l.All()), again, err)
		}
	})
}
