package filelog_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// overwrite changes a file's bytes.
func overwrite(t *testing.T, d disk.Disk, name string, b []byte, off int64) {
	t.Helper()
	f, err := d.Edit(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(b, off); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, d disk.Disk, name string) []byte {
	t.Helper()
	b, err := disk.ReadFile(d, name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// stride is the step in bytes of a quick test.
func stride() int {
	if testing.Short() {
		return 37
	}
	return 1
}

const firstSegment = "journal/00000000000000000001.seg"

// killed returns a journal of these batches, in one large segment, whose process was
// killed.
func killed(t *testing.T, batches int) *memdisk.Disk {
	t.Helper()
	d := memdisk.New(1)
	s, _ := mustOpen(t, d, 64<<10)
	s.mustWrite(t, 1, batches)
	return d.Clone()
}

// TestTornAnywhere tears the last entry at every byte.
func TestTornAnywhere(t *testing.T) {
	whole := killed(t, 3)
	file := read(t, whole, firstSegment)
	end, _, err := journal.NewFiles(whole, identity).End(nil)
	if err != nil {
		t.Fatal(err)
	}
	entry := file[end.LastOffset:end.Offset]
	used := len(bytes.TrimRight(entry, "\x00"))
	for n := 0; n < len(entry); n += stride() {
		d := whole.Clone()
		overwrite(t, d, firstSegment, make([]byte, len(entry)-n), end.LastOffset+int64(n))
		s, r, err := open(d, 64<<10)
		if err != nil {
			t.Fatalf("torn at %d: %v", n, err)
		}
		if n >= used {
			if r.Tip.Last != 3 || r.Torn != nil {
				t.Fatalf("torn in the padding, at %d: %+v", n, r)
			}
			continue
		}
		if r.Tip.Last != 2 || (n > 0) != (r.Torn != nil) {
			t.Fatalf("torn at %d: %+v", n, r)
		}
		if r.Torn != nil {
			copied := read(t, d, r.Torn.Copy)
			if r.Torn.Seq != 3 || !bytes.Equal(bytes.TrimRight(copied, "\x00"), bytes.TrimRight(entry[:n], "\x00")) {
				t.Fatalf("torn at %d: %+v, a copy of %d bytes", n, r.Torn, len(copied))
			}
		}
		s.mustWrite(t, 3, 4)
		holds(t, d.Crash(), make([][]byte, 4))
	}
}

// TestTornOnce starts twice on a torn entry: the second start finds it cut.
func TestTornOnce(t *testing.T) {
	d := killed(t, 3)
	end, _, err := journal.NewFiles(d, identity).End(nil)
	if err != nil {
		t.Fatal(err)
	}
	overwrite(t, d, firstSegment, make([]byte, journal.Block), end.LastOffset)
	for start := range 2 {
		_, r, err := open(d, 64<<10)
		if err != nil || r.Tip.Last != 2 || (r.Torn != nil) != (start == 0) {
			t.Fatalf("start %d: %+v, %v", start+1, r, err)
		}
		d = d.Crash()
	}
}

// TestForeignEntry puts an entry of another history into a journal: it is whole, but the
// next entry follows the entry that it replaced.
func TestForeignEntry(t *testing.T) {
	d := killed(t, 2)
	other := d.Clone()
	s, _ := mustOpen(t, d, 64<<10)
	s.mustWrite(t, 3, 3)
	end, _, err := journal.NewFiles(d, identity).End(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.mustWrite(t, 4, 4)
	o, _ := mustOpen(t, other, 64<<10)
	err = o.log.Propose(journal.Proposal{ID: 1, Count: 1, Time: 3, Commands: bytes.ToUpper(command(3))})
	if err == nil {
		_, err = o.log.Step()
	}
	if err != nil {
		t.Fatal(err)
	}
	overwrite(t, d, firstSegment, read(t, other, firstSegment)[end.LastOffset:end.Offset], end.LastOffset)
	var damage *journal.DamageError
	if _, _, err := open(d.Clone(), 64<<10); !errors.As(err, &damage) || damage.Seq != 4 {
		t.Fatalf("the start says %v", err)
	}
}

// TestFlippedAnywhere flips a bit in every thirteenth byte of a journal's segments.
// Damage to bytes that a later entry proves durable must stop the start and name the
// file; after those, at most the last entry may be cut, with a copy.
func TestFlippedAnywhere(t *testing.T) {
	for _, marked := range []bool{false, true} {
		d := memdisk.New(1)
		s, _ := mustOpen(t, d, small)
		s.mustWrite(t, 1, 7) // the last one is not the first of its segment
		if marked {
			if err := s.log.Mark(); err != nil {
				t.Fatal(err)
			}
		}
		whole := d.Clone()
		end, _, err := journal.NewFiles(whole, identity).End(nil)
		if err != nil || end.LastOffset == journal.Block {
			t.Fatal(end, err)
		}
		names, err := whole.List("journal")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if name = "journal/" + name; !strings.HasSuffix(name, ".seg") {
				continue
			}
			tail := int64(1 << 40)
			if name == end.Segment.Name() {
				tail = end.LastOffset
			}
			size := len(read(t, whole, name))
			for off := 0; off < size; off += 13 * stride() {
				flipped(t, whole, name, int64(off), tail, marked)
			}
		}
	}
}

// flipped flips a bit in a journal of seven batches. tail is the offset of its last
// entry.
func flipped(t *testing.T, whole *memdisk.Disk, name string, off, tail int64, marked bool) {
	t.Helper()
	d := whole.Clone()
	if err := d.Damage(name, off, 1<<(off%8)); err != nil {
		t.Fatal(err)
	}
	all, readErr := readAll(d)
	_, r, err := open(d, small)
	if off >= tail {
		want := 6
		if marked || off >= tail+int64(journal.Room(len(command(7)))) {
			want = 7
		}
		if err != nil || int(r.Tip.Last) != want || r.Torn == nil || readErr != nil || len(all) != want {
			t.Fatalf("%s, byte %d, behind the proof: %+v, %v; read %d, %v", name, off, r, err, len(all), readErr)
		}
		return
	}
	var damage *journal.DamageError
	if !errors.As(err, &damage) || damage.File != name || damage.Offset > off {
		t.Fatalf("%s, byte %d: the start says %v", name, off, err)
	}
	if !errors.As(readErr, &damage) || damage.File != name {
		t.Fatalf("%s, byte %d: reading says %v", name, off, readErr)
	}
}

// TestFlippedEverywhere flips a bit in every byte of a segment.
func TestFlippedEverywhere(t *testing.T) {
	whole := memdisk.New(1)
	s, _ := mustOpen(t, whole, small)
	s.mustWrite(t, 1, 2)
	end, _, err := journal.NewFiles(whole, identity).End(nil)
	if err != nil {
		t.Fatal(err)
	}
	for off := int64(0); off < small; off += int64(stride()) {
		d := whole.Clone()
		if err := d.Damage(firstSegment, off, 1<<(off%8)); err != nil {
			t.Fatal(err)
		}
		_, r, err := open(d, small)
		var damage *journal.DamageError
		switch {
		case off < end.LastOffset && !errors.As(err, &damage):
			t.Fatalf("byte %d: %v", off, err)
		case off >= end.LastOffset && (err != nil || r.Torn == nil || r.Tip.Last < 1):
			t.Fatalf("byte %d: %+v, %v", off, r, err)
		}
	}
}

// TestLostEntry zeros a whole entry, so that the journal seems to end there.
func TestLostEntry(t *testing.T) {
	d := killed(t, 3)
	overwrite(t, d, firstSegment, make([]byte, journal.Room(len(command(1)))), journal.Block)
	var damage *journal.DamageError
	if _, _, err := open(d, small); !errors.As(err, &damage) || damage.Offset != journal.Block || damage.Seq != 1 {
		t.Fatalf("the start says %v", err)
	}
	if _, err := readAll(d); !errors.As(err, &damage) {
		t.Fatalf("reading says %v", err)
	}
}

// TestFirstEntry damages the only entry of a new segment. The segment's name proves that
// it was durable.
func TestFirstEntry(t *testing.T) {
	d := memdisk.New(1)
	s, _ := mustOpen(t, d, small)
	s.mustWrite(t, 1, 3)
	d = d.Clone()
	name := "journal/00000000000000000003.seg"
	if err := d.Damage(name, journal.Block+5000, 1); err != nil {
		t.Fatal(err)
	}
	var damage *journal.DamageError
	if _, _, err := open(d, small); !errors.As(err, &damage) || damage.File != name || damage.Seq != 3 {
		t.Fatalf("the start says %v", err)
	}
}

// TestMissingSegment removes segments.
func TestMissingSegment(t *testing.T) {
	whole := memdisk.New(1)
	s, _ := mustOpen(t, whole, small)
	s.mustWrite(t, 1, 8)
	names, err := whole.List("journal")
	if err != nil {
		t.Fatal(err)
	}
	var segments []string
	for _, name := range names {
		if strings.HasSuffix(name, ".seg") {
			segments = append(segments, "journal/"+name)
		}
	}
	if len(segments) < 3 {
		t.Fatalf("only %d segments", len(segments))
	}
	d := whole.Clone()
	if err := d.Remove(segments[1]); err != nil {
		t.Fatal(err)
	}
	var damage *journal.DamageError
	if _, _, err := open(d, small); !errors.As(err, &damage) || damage.File != segments[2] {
		t.Errorf("the start says %v", err)
	}
	if _, err := readAll(d); !errors.As(err, &damage) {
		t.Errorf("reading says %v", err)
	}
	d = whole.Clone()
	if moved, err := journal.NewFiles(d, identity).ArchiveNext(8); !moved || err != nil {
		t.Fatal(moved, err)
	}
	for _, name := range segments[1:] {
		if err := d.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := open(d, small); !errors.As(err, &damage) {
		t.Errorf("without live segments, the start says %v", err)
	}
}
