package journal_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
)

var rewrite = flag.Bool("rewrite", false, "write the fixtures again")

// resum corrects the checksum at the end of b.
func resum(b []byte) []byte {
	body := b[:len(b)-4]
	return binary.LittleEndian.AppendUint32(body, crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
}

// record returns the n-th batch of a test's journal, of two commands.
func record(n int) []byte { return fmt.Appendf(nil, "%d-", n) }

// write appends batches of two commands, up to this number.
func write(t testing.TB, d disk.Disk, from, to int) {
	t.Helper()
	l, _, err := filelog.Open(d, journal.Options{Identity: ours, SegmentSize: 6 * journal.Block})
	if err != nil {
		t.Fatal(err)
	}
	for n := from; n <= to; n++ {
		p := journal.Proposal{ID: uint64(n), Count: 2, Time: bourse.Time(1000 * n), Commands: record(n)}
		if err := l.Propose(p); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Step(); err != nil {
			t.Fatal(err)
		}
		if _, ok := l.Next(); !ok {
			t.Fatal("no notice")
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// check reads the batches from a command on, and fails unless they are those of write up
// to a number.
func check(t *testing.T, r journal.Reader, from bourse.Seq, to int) {
	t.Helper()
	for n := int(from+1) / 2; n <= to; n++ {
		b, err := r.Next()
		if err != nil {
			t.Fatalf("batch %d: %v", n, err)
		}
		if b.First != bourse.Seq(2*n-1) || b.Count != 2 || !bytes.Equal(b.Commands, record(n)) {
			t.Fatalf("batch %d is %+v", n, b)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Fatalf("behind the last batch: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func reader(t *testing.T, read func(bourse.Seq) (journal.Reader, error), from bourse.Seq) journal.Reader {
	t.Helper()
	r, err := read(from)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func archiveAll(t *testing.T, f *journal.Files, before bourse.Seq) int {
	t.Helper()
	for n := 0; ; n++ {
		moved, err := f.ArchiveNext(before)
		if err != nil {
			t.Fatal(err)
		}
		if !moved {
			return n
		}
	}
}

func TestReadAcrossTheArchive(t *testing.T) {
	const batches = 20
	d := memdisk.New(1)
	write(t, d, 1, batches)
	f := journal.NewFiles(d, ours)
	for before := bourse.Seq(1); before < 2*batches+5; before += 6 {
		archiveAll(t, f, before)
		st, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if st.First != 1 || st.Last != 2*batches || st.Live > before && st.Archives > 0 || st.Segments == 0 || !st.Sealed {
			t.Fatalf("archived before %d: %+v", before, st)
		}
		for from := bourse.Seq(1); from <= 2*batches+3; from++ {
			check(t, reader(t, f.Read, from), from, batches)
			r, err := f.ReadLive(from)
			if from < st.Live {
				if !errors.Is(err, journal.ErrCompacted) || !strings.Contains(err.Error(), fmt.Sprint(st.Live)) {
					t.Fatalf("reading %d, which is archived: %v", from, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			check(t, r, from, batches)
		}
	}
	if st, _ := f.Stat(); st.Archives < 4 || st.Segments != 1 {
		t.Fatalf("at the end: %+v", st)
	}
}

// TestReaderOutlivesTheArchive reads a segment while it moves to the archive.
func TestReaderOutlivesTheArchive(t *testing.T) {
	const batches = 20
	d := memdisk.New(1)
	write(t, d, 1, batches)
	f := journal.NewFiles(d, ours)
	everything, live := reader(t, f.Read, 1), reader(t, f.ReadLive, 1)
	for _, r := range []journal.Reader{everything, live} {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	archiveAll(t, f, 2*batches)
	check(t, everything, 3, batches)
	var err error
	for err == nil {
		_, err = live.Next()
	}
	if !errors.Is(err, journal.ErrCompacted) {
		t.Fatalf("a reader of live segments that are gone: %v", err)
	}
}

// TestReadFollowsAnotherProcess reads without a bound while a log appends.
func TestReadFollowsAnotherProcess(t *testing.T) {
	d := memdisk.New(1)
	r := reader(t, journal.NewFiles(d, ours).Read, 1)
	next := 1
	for to := 1; to < 30; to += 4 {
		write(t, d, next, to)
		for ; next <= to; next++ {
			b, err := r.Next()
			if err != nil || b.First != bourse.Seq(2*next-1) {
				t.Fatalf("batch %d: %v", next, err)
			}
		}
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
	}
}

// TestArchiveResumes cuts the power between any two operations of a move to the archive.
func TestArchiveResumes(t *testing.T) {
	for seed := range uint64(8) {
		archiveResumes(t, seed)
	}
}

func archiveResumes(t *testing.T, seed uint64) {
	const batches = 12
	whole := memdisk.New(seed)
	write(t, whole, 1, batches)
	before := whole.Ops()
	archiveAll(t, journal.NewFiles(whole.Clone(), ours), 2*batches)
	for n := 1; n < 40; n++ {
		d := whole.Clone()
		d.StopAt(n)
		f := journal.NewFiles(d, ours)
		var err error
		for moved := true; moved && err == nil; {
			moved, err = f.ArchiveNext(2 * batches)
		}
		if err != nil && !errors.Is(err, memdisk.ErrStopped) {
			t.Fatal(err)
		}
		d = d.Crash()
		f = journal.NewFiles(d, ours)
		check(t, reader(t, f.Read, 1), 1, batches)
		archiveAll(t, f, 2*batches)
		check(t, reader(t, f.Read, 1), 1, batches)
	}
	if whole.Ops() != before {
		t.Fatal("a clone is not on its own")
	}
}

// TestDamagedArchive flips bits in an archived segment, and in a live one before its
// move.
func TestDamagedArchive(t *testing.T) {
	const batches = 8
	whole := memdisk.New(1)
	write(t, whole, 1, batches)
	const live, archived = "journal/00000000000000000001.seg", "archive/00000000000000000001.seg.zst"
	var damage *journal.DamageError
	d := whole.Clone()
	if err := d.Damage(live, 9000, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.NewFiles(d, ours).ArchiveNext(100); !errors.As(err, &damage) {
		t.Fatalf("archiving a damaged segment: %v", err)
	}
	f := journal.NewFiles(whole, ours)
	archiveAll(t, f, 100)
	packed, err := disk.ReadFile(whole, archived)
	if err != nil {
		t.Fatal(err)
	}
	for off := range packed {
		d := whole.Clone()
		if err := d.Damage(archived, int64(off), 0x10); err != nil {
			t.Fatal(err)
		}
		r, err := journal.NewFiles(d, ours).Read(1)
		n := 0
		for ; err == nil; n++ {
			_, err = r.Next()
		}
		// A few bits of the compressed form have no meaning.
		if !errors.As(err, &damage) && (!errors.Is(err, io.EOF) || n != batches+1) {
			t.Fatalf("byte %d: %v after %d", off, err, n)
		}
	}
}

// TestDamageInSealedSegment flips a bit in each entry of a segment that another one follows, below a reader beside a log.
// Nothing moved to the archive, so it is damage whatever the entry.
func TestDamageInSealedSegment(t *testing.T) {
	const batches = 8
	whole := memdisk.New(1)
	write(t, whole, 1, batches)
	const sealed, following = "journal/00000000000000000001.seg", 7
	for entry := range int64(following-1) / 2 {
		d := whole.Clone()
		if err := d.Damage(sealed, (1+entry)*journal.Block+100, 1); err != nil {
			t.Fatal(err)
		}
		r, err := journal.NewFiles(d, ours).ReadDurable(1, func() bourse.Seq { return 2 * batches })
		n := int64(0)
		for ; err == nil; n++ {
			_, err = r.Next()
		}
		if damage := (*journal.DamageError)(nil); !errors.As(err, &damage) || damage.File != sealed || n != entry+1 {
			t.Errorf("entry %d: %v after %d batches", entry, err, n-1)
		}
	}
}

func TestPrune(t *testing.T) {
	const batches = 20
	d := memdisk.New(1)
	write(t, d, 1, batches)
	f := journal.NewFiles(d, ours)
	archiveAll(t, f, 30)
	at, err := f.Boundary(20)
	if err != nil || at == 0 || at >= 20 {
		t.Fatal(at, err)
	}
	r := reader(t, f.Read, at)
	b, err := r.Next()
	if err != nil || b.Last() != at {
		t.Fatal(b, err)
	}
	stub := journal.Stub{Seq: at, Chain: b.Chain, State: journal.Hash{5}, Balances: []byte("balances")}
	wrong := stub
	wrong.Chain[0]++
	if err := f.Prune(20, wrong); err == nil {
		t.Fatal("a stub of another chain was taken")
	}
	wrong = stub
	wrong.Seq--
	if err := f.Prune(20, wrong); err == nil {
		t.Fatal("a stub of another command was taken")
	}
	if err := f.Prune(20, stub); err != nil {
		t.Fatal(err)
	}
	got, err := f.Stub()
	if err != nil || got.Seq != at || got.Chain != stub.Chain || got.State != stub.State || string(got.Balances) != "balances" {
		t.Fatalf("stub is %+v, %v", got, err)
	}
	if _, err := f.Read(at); !errors.Is(err, journal.ErrCompacted) || !strings.Contains(err.Error(), fmt.Sprint(at+1)) {
		t.Fatalf("reading what was pruned: %v", err)
	}
	check(t, reader(t, f.Read, at+1), at+1, batches)
	if st, err := f.Stat(); err != nil || st.First != at+1 {
		t.Fatalf("%+v, %v", st, err)
	}
	if _, err := journal.NewFiles(d, journal.Identity{Exchange: [16]byte{8}}).Stub(); !errors.Is(err, journal.ErrOtherExchange) {
		t.Fatal(err)
	}
	var damage *journal.DamageError
	if err := d.Damage("archive/stub", 50, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Stub(); !errors.As(err, &damage) {
		t.Fatalf("a damaged stub: %v", err)
	}
}

// TestPruneResumes cuts the power between any two operations of Prune.
func TestPruneResumes(t *testing.T) {
	const batches = 20
	whole := memdisk.New(1)
	write(t, whole, 1, batches)
	f := journal.NewFiles(whole, ours)
	archiveAll(t, f, 40)
	at, err := f.Boundary(30)
	if err != nil {
		t.Fatal(err)
	}
	b, err := reader(t, f.Read, at).Next()
	if err != nil {
		t.Fatal(err)
	}
	stub := journal.Stub{Seq: at, Chain: b.Chain}
	for n := 1; n < 20; n++ {
		d := whole.Clone()
		d.StopAt(n)
		if err := journal.NewFiles(d, ours).Prune(30, stub); err != nil && !errors.Is(err, memdisk.ErrStopped) {
			t.Fatal(err)
		}
		d = d.Crash()
		f := journal.NewFiles(d, ours)
		check(t, reader(t, f.Read, at+1), at+1, batches)
		if err := f.Prune(30, stub); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Read(1); !errors.Is(err, journal.ErrCompacted) {
			t.Fatal(err)
		}
	}
}

// TestOtherSegments reads segments of a later and of an earlier version.
func TestOtherSegments(t *testing.T) {
	for change, want := range map[int]error{2: journal.ErrNewerFormat, -1: journal.ErrOlderFormat} {
		testOtherSegment(t, change, want)
	}
}

func testOtherSegment(t *testing.T, change int, want error) {
	t.Helper()
	whole := memdisk.New(1)
	write(t, whole, 1, 2)
	const name = "journal/00000000000000000001.seg"
	b, err := disk.ReadFile(whole, name)
	if err != nil {
		t.Fatal(err)
	}
	b[8] = byte(int(b[8]) + change)
	f, err := whole.Edit(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(resum(b[:journal.Block:journal.Block]), 0); err != nil {
		t.Fatal(err)
	}
	if _, _, err := journal.Identify(whole); !errors.Is(err, want) || !strings.Contains(err.Error(), name) {
		t.Fatalf("version %d: %v", b[8], err)
	}
}

// TestOldestFixture wants a journal of the oldest format to be refused by name.
func TestOldestFixture(t *testing.T) {
	fixture, err := disk.Open("testdata/journal-v1")
	if err != nil {
		t.Fatal(err)
	}
	_, err = journal.NewFiles(fixture, ours).Read(1)
	if !errors.Is(err, journal.ErrOlderFormat) || !strings.Contains(err.Error(), "made by Bourse 0.1.0 or older") {
		t.Error(err)
	}
}

// TestFixtures reads journals of each version of the format that is still read, and
// compares the bytes written now with the newest of them.
func TestFixtures(t *testing.T) {
	const newest, segment = "testdata/journal-v2", "00000000000000000001.seg"
	d := memdisk.New(1)
	write(t, d, 1, 4)
	written, err := disk.ReadFile(d, "journal/"+segment)
	if err != nil {
		t.Fatal(err)
	}
	if *rewrite {
		archiveAll(t, journal.NewFiles(d, ours), 100)
		keepFixture(t, d, newest)
	}
	versions, err := filepath.Glob("testdata/journal-v[2-9]")
	if err != nil || len(versions) == 0 {
		t.Fatal(versions, err)
	}
	for _, path := range versions {
		fixture, err := disk.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		check(t, reader(t, journal.NewFiles(fixture, ours).Read, 1), 1, 3)
	}
	packed, err := os.ReadFile(filepath.Join(newest, "archive", segment+".zst"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if plain, err := z.DecodeAll(packed, nil); err != nil || !bytes.Equal(plain, bytes.TrimSuffix(written, make([]byte, 2*journal.Block))) {
		t.Errorf("what is written is not the format of %s: %v", newest, err)
	}
}

// keepFixture writes the archive of a disk into a directory.
func keepFixture(t *testing.T, d disk.Disk, path string) {
	t.Helper()
	names, err := d.List("archive")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, "archive"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := disk.ReadFile(d, "archive/"+name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "archive", name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
