package journal_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"syscall"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

var ours = journal.Identity{Exchange: [16]byte{1, 2, 3, 15: 16}}

// header returns the header of a test's snapshot at a sequence.
func header(at bourse.Seq) journal.SnapshotHeader {
	return journal.SnapshotHeader{
		Tip:   journal.Tip{Last: at, Chain: journal.Hash{1, byte(at)}, Term: 7, Time: 1000 * bourse.Time(at)},
		State: journal.Hash{2, byte(at)},
	}
}

// state returns the section of a test's snapshot at a sequence.
func state(at bourse.Seq, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(at) + byte(i*31) + byte(i>>8)
	}
	return b
}

func takeSnapshot(s *journal.Snapshots, at bourse.Seq, size int) error {
	w, err := s.Create(at)
	if err != nil {
		return err
	}
	w.Section("engine")
	_, _ = w.Write(state(at, size)) // Commit returns the error
	w.Section("empty")
	w.Section("tape")
	_, _ = w.Write([]byte("tape"))
	_, _ = w.Write([]byte(" of minutes"))
	return w.Commit(header(at))
}

func mustSnapshot(t *testing.T, s *journal.Snapshots, seqs ...bourse.Seq) {
	t.Helper()
	for _, at := range seqs {
		if err := takeSnapshot(s, at, 3000); err != nil {
			t.Fatal(err)
		}
	}
}

func snapshotFile(at bourse.Seq) string { return fmt.Sprintf("snapshots/%020d.snap", at) }

// isWhole compares a snapshot with the bytes written.
func isWhole(t *testing.T, s *journal.Snapshot, at bourse.Seq, size int) {
	t.Helper()
	if s.Header != header(at) {
		t.Fatalf("the header of the snapshot at %d is %+v", at, s.Header)
	}
	for name, want := range map[string][]byte{"engine": state(at, size), "empty": {}, "tape": []byte("tape of minutes")} {
		if got, ok := s.Section(name); !ok || !bytes.Equal(got, want) {
			t.Fatalf("section %s of the snapshot at %d is not what was written", name, at)
		}
	}
	if _, ok := s.Section("other"); ok {
		t.Fatal("a snapshot has a section that nobody wrote")
	}
}

func seqs(t *testing.T, what string, list []bourse.Seq, err error, want ...bourse.Seq) {
	t.Helper()
	if err != nil || !slices.Equal(list, want) {
		t.Fatalf("%s: %d, not %d: %v", what, list, want, err)
	}
}

func TestSnapshotRoundTrip(t *testing.T) {
	d := memdisk.New(1)
	s := journal.NewSnapshots(d, ours)
	list, err := s.List()
	seqs(t, "without a directory", list, err)
	if _, ok, err := s.Newest(100); ok || err != nil {
		t.Fatalf("the newest of none: %t, %v", ok, err)
	}
	// Sizes around that of the buffer, and zero.
	for i, size := range []int{0, 1, 256<<10 - 1, 256 << 10, 600 << 10} {
		at := bourse.Seq(i + 1)
		if err := takeSnapshot(s, at, size); err != nil {
			t.Fatal(err)
		}
		after := journal.NewSnapshots(d.Crash(), ours)
		got, err := after.Load(at)
		if err != nil {
			t.Fatal(err)
		}
		isWhole(t, got, at, size)
		if err := after.Verify(at); err != nil {
			t.Fatal(err)
		}
	}
	list, err = s.List()
	seqs(t, "five", list, err, 1, 2, 3, 4, 5)
	if _, err := s.Load(6); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("loading what is missing: %v", err)
	}
}

func TestSnapshotNewest(t *testing.T) {
	d := memdisk.New(1)
	s := journal.NewSnapshots(d, ours)
	var damaged []string
	s.OnDamage = func(e *journal.DamageError) { damaged = append(damaged, e.File) }
	mustSnapshot(t, s, 10, 20, 30)
	if err := d.Damage(snapshotFile(20), 100, 0x40); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ upTo, want bourse.Seq }{{9, 0}, {10, 10}, {29, 10}, {30, 30}, {99, 30}} {
		got, ok, err := s.Newest(c.upTo)
		if err != nil || ok != (c.want != 0) || ok && got.Header.Tip.Last != c.want {
			t.Fatalf("the newest up to %d: %v, %t, %v", c.upTo, got, ok, err)
		}
	}
	if !slices.Equal(damaged, []string{snapshotFile(20)}) {
		t.Fatalf("damage was reported of %q", damaged)
	}
	good, err := s.Good()
	seqs(t, "the good ones", good, err, 30, 10)
	reads := d.Reads()
	good, err = s.Good()
	seqs(t, "the good ones again", good, err, 30, 10)
	if d.Reads() > reads+1 {
		t.Error("what was verified was read again")
	}
	mustSnapshot(t, s, 20)
	good, err = s.Good()
	seqs(t, "after the damaged one was written again", good, err, 30, 20, 10)
}

// TestSnapshotOfAnotherProgram passes over snapshots that this program does not read.
func TestSnapshotOfAnotherProgram(t *testing.T) {
	s := journal.NewSnapshots(memdisk.New(1), ours)
	mustSnapshot(t, s, 3, 5, 9)
	s.Reads = func(one *journal.Snapshot) bool { return one.Header.Tip.Last == 3 }
	if got, ok, err := s.Newest(9); err != nil || !ok || got.Header.Tip.Last != 3 {
		t.Errorf("the newest one is %+v, %t: %v", got, ok, err)
	}
	s.Reads = func(*journal.Snapshot) bool { return false }
	if got, ok, err := s.Newest(9); err != nil || ok {
		t.Errorf("the newest one is %+v: %v", got, err)
	}
}

// TestSnapshotDamage flips each bit of a snapshot, and cuts it everywhere.
func TestSnapshotDamage(t *testing.T) {
	d := memdisk.New(1)
	s := journal.NewSnapshots(d, ours)
	if err := takeSnapshot(s, 5, 40); err != nil {
		t.Fatal(err)
	}
	name := snapshotFile(5)
	whole, err := disk.ReadFile(d, name)
	if err != nil {
		t.Fatal(err)
	}
	isDamaged := func(what string, i int) {
		t.Helper()
		var e *journal.DamageError
		if _, err := s.Load(5); !errors.As(err, &e) || e.File != name || e.Seq != 5 {
			t.Fatalf("%s %d: Load: %v", what, i, err)
		}
		if err := s.Verify(5); !errors.As(err, &e) {
			t.Fatalf("%s %d: Verify: %v", what, i, err)
		}
	}
	for i := range len(whole) * 8 {
		mask := byte(1) << (i % 8)
		_ = d.Damage(name, int64(i/8), mask)
		isDamaged("bit", i)
		_ = d.Damage(name, int64(i/8), mask)
	}
	f, err := d.Edit(name)
	if err != nil {
		t.Fatal(err)
	}
	for size := len(whole) - 1; size >= 0; size-- {
		if err := f.Truncate(int64(size)); err != nil {
			t.Fatal(err)
		}
		isDamaged("length", size)
	}
	if _, err := f.WriteAt(append(whole, 0), 0); err != nil {
		t.Fatal(err)
	}
	isDamaged("a byte more than", len(whole))
}

// TestSnapshotOfOthers shows that an intact file that does not belong here is never
// skipped.
func TestSnapshotOfOthers(t *testing.T) {
	d := memdisk.New(1)
	mustSnapshot(t, journal.NewSnapshots(d, ours), 5)
	for _, c := range []struct {
		id   journal.Identity
		want error
	}{
		{journal.Identity{Exchange: ours.Exchange, Sandbox: true}, journal.ErrSandbox},
		{journal.Identity{Exchange: [16]byte{9}}, journal.ErrOtherExchange},
	} {
		if _, _, err := journal.NewSnapshots(d, c.id).Newest(9); !errors.Is(err, c.want) {
			t.Errorf("for %v: %v, not %v", c.id, err, c.want)
		}
	}
	for version, want := range map[uint32]error{1: journal.ErrOlderFormat, 99: journal.ErrNewerFormat} {
		setVersion(t, d, snapshotFile(5), version, 44)
		if _, _, err := journal.NewSnapshots(d, ours).Newest(9); !errors.Is(err, want) {
			t.Errorf("version %d: %v", version, err)
		}
	}
}

// setVersion changes the version of a file, whose first prefix bytes end with their
// checksum.
func setVersion(t *testing.T, d disk.Disk, name string, version uint32, prefix int) {
	t.Helper()
	f, err := d.Edit(name)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, prefix)
	if _, err := f.ReadAt(b, 0); err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint32(b[8:], version)
	sum := crc32.Checksum(b[:prefix-4], crc32.MakeTable(crc32.Castagnoli))
	binary.LittleEndian.PutUint32(b[prefix-4:], sum)
	if _, err := f.WriteAt(b, 0); err != nil {
		t.Fatal(err)
	}
}

func TestSnapshotAbort(t *testing.T) {
	d := memdisk.New(1)
	s := journal.NewSnapshots(d, ours)
	w, err := s.Create(5)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(5); err == nil {
		t.Fatal("one snapshot is being written twice")
	}
	w.Section("engine")
	if _, err := w.Write(state(5, 600<<10)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Trim(0); err != nil { // must not touch the unfinished snapshot
		t.Fatal(err)
	}
	w.Abort()
	w.Abort()
	if names, err := d.List("snapshots"); err != nil || len(names) != 0 {
		t.Fatalf("what was given up left %q: %v", names, err)
	}
	mustSnapshot(t, s, 5)
}

func TestSnapshotTrim(t *testing.T) {
	for _, c := range []struct {
		name   string
		have   []bourse.Seq
		damage bourse.Seq
		cursor bourse.Seq
		left   []bourse.Seq
		// anchored are the snapshots that a start may restore; nil without an anchor.
		anchored []bourse.Seq
		needed   bourse.Seq
	}{
		{"few", []bourse.Seq{1, 2, 3}, 0, 99, []bourse.Seq{1, 2, 3}, nil, 2},
		{"one", []bourse.Seq{1}, 0, 99, []bourse.Seq{1}, nil, 0},
		{"many", []bourse.Seq{1, 2, 3, 4, 5}, 0, 99, []bourse.Seq{3, 4, 5}, nil, 4},
		{"a cursor at the oldest kept", []bourse.Seq{1, 2, 3, 4, 5}, 0, 3, []bourse.Seq{3, 4, 5}, nil, 3},
		{"a cursor before it", []bourse.Seq{1, 2, 3, 4, 5}, 0, 2, []bourse.Seq{2, 3, 4, 5}, nil, 2},
		{"a cursor before all", []bourse.Seq{1, 2, 3, 4, 5}, 0, 0, []bourse.Seq{1, 2, 3, 4, 5}, nil, 0},
		{"a damaged one does not count", []bourse.Seq{1, 2, 3, 4, 5}, 4, 99, []bourse.Seq{2, 3, 4, 5}, nil, 3},
		{"a damaged one goes in time", []bourse.Seq{1, 2, 3, 4, 5}, 1, 99, []bourse.Seq{3, 4, 5}, nil, 4},
		{"anchored ones", []bourse.Seq{1, 2, 3, 4, 5}, 0, 99, []bourse.Seq{3, 4, 5}, []bourse.Seq{1, 2, 3, 4, 5}, 4},
		{"an anchor that was away", []bourse.Seq{1, 2, 3, 4, 5, 6}, 0, 99, []bourse.Seq{2, 4, 5, 6}, []bourse.Seq{1, 2}, 2},
		{"an anchored one is damaged", []bourse.Seq{1, 2, 3, 4, 5, 6}, 2, 99, []bourse.Seq{1, 4, 5, 6}, []bourse.Seq{1, 2}, 1},
		{"a cursor before the anchored", []bourse.Seq{1, 2, 3, 4, 5, 6}, 0, 4, []bourse.Seq{1, 4, 5, 6}, []bourse.Seq{1, 5, 6}, 1},
		{"nothing is anchored yet", []bourse.Seq{1, 2, 3, 4, 5}, 0, 99, []bourse.Seq{3, 4, 5}, []bourse.Seq{}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := memdisk.New(1)
			mustSnapshot(t, journal.NewSnapshots(d, ours), c.have...)
			if c.damage != 0 {
				_ = d.Damage(snapshotFile(c.damage), 60, 1)
			}
			stale, err := d.Create("snapshots/00000000000000000009.tmp")
			if err != nil {
				t.Fatal(err)
			}
			_ = stale.Close()
			s := journal.NewSnapshots(d, ours)
			if c.anchored != nil {
				s.Anchored = func(at bourse.Seq) bool { return slices.Contains(c.anchored, at) }
			}
			if needed, err := s.Needed(c.cursor); needed != c.needed || err != nil {
				t.Errorf("needed is %d, want %d: %v", needed, c.needed, err)
			}
			removed, err := s.Trim(c.cursor)
			if err != nil || removed != len(c.have)-len(c.left) {
				t.Fatalf("removed %d: %v", removed, err)
			}
			after := d.Crash()
			list, err := journal.NewSnapshots(after, ours).List()
			seqs(t, "left", list, err, c.left...)
			if names, _ := d.List("snapshots"); len(names) != len(c.left) {
				t.Fatalf("left are %q", names)
			}
		})
	}
}

func TestSnapshotRemoveFrom(t *testing.T) {
	d := memdisk.New(1)
	s := journal.NewSnapshots(d, ours)
	mustSnapshot(t, s, 10, 20, 30)
	if n, err := s.RemoveFrom(20); n != 2 || err != nil {
		t.Fatalf("removed %d: %v", n, err)
	}
	list, err := journal.NewSnapshots(d.Crash(), ours).List()
	seqs(t, "left", list, err, 10)
}

// TestSnapshotCrash stops the machine at each operation of taking and trimming snapshots:
// every snapshot afterwards is good, and none is missing that Commit or an earlier
// snapshot promised.
func TestSnapshotCrash(t *testing.T) {
	for n := 1; ; n++ {
		d := memdisk.New(uint64(n))
		mustSnapshot(t, journal.NewSnapshots(d, ours), 1, 2, 3)
		d.StopAt(n)
		s := journal.NewSnapshots(d, ours)
		committed := takeSnapshot(s, 4, 300<<10)
		_, trimmed := s.Trim(99)
		for range 8 {
			checkSurvivors(t, n, d.Crash(), committed == nil)
		}
		if trimmed == nil {
			return
		}
	}
}

// TestSnapshotOfAKilledWriter kills the process that writes a snapshot at each operation,
// without a power cut. A snapshot that the next process finds good must survive one,
// because older files are removed due to it.
func TestSnapshotOfAKilledWriter(t *testing.T) {
	for n := 1; ; n++ {
		d := memdisk.New(uint64(n))
		mustSnapshot(t, journal.NewSnapshots(d, ours), 1)
		d.StopAt(n)
		err := takeSnapshot(journal.NewSnapshots(d, ours), 2, 100)
		killed := d.Clone()
		good, listErr := journal.NewSnapshots(killed, ours).Good()
		for range 8 {
			after, afterErr := journal.NewSnapshots(killed.Crash(), ours).Good()
			if listErr != nil || afterErr != nil || !slices.Equal(good, after) {
				t.Fatalf("killed at %d: good were %d, and then %d: %v, %v", n, good, after, listErr, afterErr)
			}
		}
		if err == nil {
			return
		}
	}
}

func checkSurvivors(t *testing.T, n int, d disk.Disk, committed bool) {
	t.Helper()
	s := journal.NewSnapshots(d, ours)
	s.OnDamage = func(e *journal.DamageError) { t.Fatalf("stopped at %d: %v", n, e) }
	good, err := s.Good()
	if err != nil || len(good) < 3 || committed && good[0] != 4 {
		t.Fatalf("stopped at %d: good are %d: %v", n, good, err)
	}
	mustSnapshot(t, s, 4, 5)
	if _, err := s.Trim(99); err != nil {
		t.Fatal(err)
	}
	if names, _ := d.List("snapshots"); len(names) != 3 {
		t.Fatalf("stopped at %d: after a restart there are %q", n, names)
	}
}

// TestSnapshotFaults makes each operation fail in turn. Commit returns the error, an
// older snapshot stays good, and the next attempt succeeds.
func TestSnapshotFaults(t *testing.T) {
	for n := 1; ; n++ {
		d := memdisk.New(uint64(n))
		mustSnapshot(t, journal.NewSnapshots(d, ours), 1)
		s := journal.NewSnapshots(d, ours)
		var failed memdisk.OpKind
		count := 0
		d.Inject(func(op memdisk.Op) error {
			if op.Kind.Changes() {
				count++
			}
			if count != n || failed != 0 {
				return nil
			}
			failed = op.Kind
			return &memdisk.ShortWriteError{Written: 7, Cause: syscall.EIO}
		})
		err := takeSnapshot(s, 2, 300<<10)
		d.Inject(nil)
		if failed == 0 {
			return
		}
		if failed != memdisk.OpRemove && !errors.Is(err, syscall.EIO) {
			t.Fatalf("operation %d, a %v, failed: %v", n, failed, err)
		}
		if sync := failed == memdisk.OpSync || failed == memdisk.OpSyncDir; sync != errors.Is(err, disk.ErrSync) {
			t.Fatalf("operation %d, a %v, failed: %v", n, failed, err)
		}
		if err := s.Verify(1); err != nil {
			t.Fatal(err)
		}
		if err := takeSnapshot(s, 2, 10); err != nil {
			t.Fatalf("after operation %d, a %v, failed: %v", n, failed, err)
		}
		if _, err := s.Load(2); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSnapshotVanishes reads snapshots while an exchange trims them.
func TestSnapshotVanishes(t *testing.T) {
	d := memdisk.New(1)
	mustSnapshot(t, journal.NewSnapshots(d, ours), 1, 2)
	d.Inject(func(op memdisk.Op) error {
		if op.Name == snapshotFile(2) {
			return fs.ErrNotExist
		}
		return nil
	})
	s := journal.NewSnapshots(d, ours)
	if got, ok, err := s.Newest(9); err != nil || !ok || got.Header.Tip.Last != 1 {
		t.Errorf("Newest: %t, %v", ok, err)
	}
	good, err := s.Good()
	seqs(t, "the good ones", good, err, 1)
}

func TestSnapshotReadErrorIsNoDamage(t *testing.T) {
	d := memdisk.New(1)
	s := journal.NewSnapshots(d, ours)
	mustSnapshot(t, s, 1)
	d.Inject(func(op memdisk.Op) error {
		if op.Kind == memdisk.OpRead {
			return syscall.EIO
		}
		return nil
	})
	var damage *journal.DamageError
	if _, _, err := s.Newest(9); !errors.Is(err, syscall.EIO) || errors.As(err, &damage) {
		t.Errorf("Newest: %v", err)
	}
	if _, err := s.Good(); !errors.Is(err, syscall.EIO) || errors.As(err, &damage) {
		t.Errorf("Good: %v", err)
	}
}

// TestSnapshotFixture reads a snapshot of the oldest format still read, written by hand
// from its description.
func TestSnapshotFixture(t *testing.T) {
	le := binary.LittleEndian
	b := append([]byte("BOURSNAP"), 2, 0, 0, 0, 0, 0, 0, 0)
	b = append(b, ours.Exchange[:]...)
	b = le.AppendUint64(b, 5)
	b = le.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	b = append(b, "statetape"...)
	contents := len(b)
	h := header(5)
	b = le.AppendUint64(b, 5)
	b = append(b, h.Tip.Chain[:]...)
	b = le.AppendUint64(b, 7)
	b = le.AppendUint64(b, 5000)
	b = append(b, h.State[:]...)
	b = le.AppendUint32(b, 2)
	b = append(append(b, 6), "engine"...)
	b = le.AppendUint64(le.AppendUint64(b, 44), 5)
	b = append(append(b, 4), "tape"...)
	b = le.AppendUint64(le.AppendUint64(b, 49), 4)
	b = le.AppendUint32(b, uint32(len(b)-contents))
	sum := sha256.Sum256(b)
	b = append(b, sum[:]...)

	d := memdisk.New(1)
	if err := d.MkdirAll("snapshots"); err != nil {
		t.Fatal(err)
	}
	f, err := d.Create(snapshotFile(5))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.NewOffsetWriter(f, 0), bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	s, err := journal.NewSnapshots(d, ours).Load(5)
	if err != nil {
		t.Fatal(err)
	}
	engine, _ := s.Section("engine")
	tape, _ := s.Section("tape")
	if s.Header != h || string(engine) != "state" || string(tape) != "tape" {
		t.Errorf("%+v %q %q", s.Header, engine, tape)
	}
}
