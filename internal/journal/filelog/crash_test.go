package filelog_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
)

// life is one process until it is stopped: start, write, mark, prepare, archive, close.
// It returns the acknowledged batches: those found at the start, and those committed.
func life(d *memdisk.Disk, writes int) (told int, err error) {
	s, r, err := open(d, small)
	if err != nil {
		return 0, err
	}
	told = int(r.Tip.Last)
	files := journal.NewFiles(d, identity)
	for i := range writes {
		if err := s.write(told + 1); err != nil {
			return told, err
		}
		told++
		switch i % 3 {
		case 0:
			_, err = s.log.Prepare()
		case 1:
			err = s.log.Mark()
		default:
			_, err = files.ArchiveNext(bourse.Seq(told - 2))
		}
		if err != nil {
			return told, err
		}
	}
	return told, s.log.Close()
}

// TestCrashAnywhere cuts the power between any two operations, several times in a row,
// and checks that all acknowledged batches survive.
func TestCrashAnywhere(t *testing.T) {
	const writes = 9
	whole := memdisk.New(0)
	if _, err := life(whole, writes); err != nil {
		t.Fatal(err)
	}
	seeds := 12
	if testing.Short() {
		seeds = 2
	}
	for n := 1; n <= whole.Ops(); n++ {
		for seed := range seeds {
			crashes(t, n, uint64(seed), writes)
		}
	}
}

func crashes(t *testing.T, n int, seed uint64, writes int) {
	t.Helper()
	d := memdisk.New(seed)
	told := 0
	for round := range 3 {
		d.StopAt(n + 7*round)
		got, err := life(d, writes)
		if err != nil && !errors.Is(err, memdisk.ErrStopped) {
			t.Fatalf("operation %d, seed %d, round %d: %v", n, seed, round, err)
		}
		if got != 0 && got < told {
			t.Fatalf("operation %d, seed %d, round %d: %d commands of %d", n, seed, round, got, told)
		}
		told = max(told, got)
		d = d.Crash()
	}
	if got, err := life(d, 2); err != nil || got < told {
		t.Fatalf("operation %d, seed %d: %d commands of %d, %v", n, seed, got, told, err)
	}
	holds(t, d, make([][]byte, told))
}

// TestKilledAnywhere kills the process between any two operations, and cuts the power
// after the next start: every batch that it found must survive.
func TestKilledAnywhere(t *testing.T) {
	const writes = 9
	whole := memdisk.New(0)
	if _, err := life(whole, writes); err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= whole.Ops(); n++ {
		for seed := range uint64(4) {
			d := memdisk.New(seed)
			d.StopAt(n)
			if _, err := life(d, writes); err != nil && !errors.Is(err, memdisk.ErrStopped) {
				t.Fatal(err)
			}
			d = d.Clone()
			_, r, err := open(d, small)
			if err != nil {
				t.Fatalf("killed at operation %d: %v", n, err)
			}
			if all, err := readAll(d.Crash()); err != nil || len(all) < int(r.Tip.Last) {
				t.Fatalf("killed at operation %d: %d commands of %d, %v", n, len(all), r.Tip.Last, err)
			}
		}
	}
}

// TestEveryOperationFails makes one operation fail, which ends the process. The next one
// starts without a power cut; then the power is cut.
func TestEveryOperationFails(t *testing.T) {
	const writes = 9
	whole := memdisk.New(0)
	if _, err := life(whole, writes); err != nil {
		t.Fatal(err)
	}
	faults := []error{syscall.EIO, syscall.ENOSPC, &memdisk.ShortWriteError{Written: 5000, Cause: syscall.EIO}}
	for n := 1; n <= whole.Ops(); n++ {
		for i, fault := range faults {
			t.Run(fmt.Sprintf("%d/%d", n, i), func(t *testing.T) { failsOnce(t, n, fault, writes) })
		}
	}
}

func failsOnce(t *testing.T, n int, fault error, writes int) {
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		d := memdisk.New(seed)
		d.FailAt(n, fault)
		told, err := life(d, writes)
		if err == nil && n < d.Ops() {
			t.Fatalf("the failure of operation %d was not seen", n)
		}
		d = d.Clone()
		again, err := life(d, 3)
		if err != nil || again < told {
			t.Fatalf("%d commands of %d after a failure, %v", again, told, err)
		}
		d = d.Crash()
		last, err := life(d, 1)
		if err != nil || last < again {
			t.Fatalf("%d commands of %d after a crash, %v", last, again, err)
		}
		holds(t, d, make([][]byte, last))
	}
}

// TestFailureIsFinal checks that a failed log does nothing more.
func TestFailureIsFinal(t *testing.T) {
	d := memdisk.New(1)
	s, _ := mustOpen(t, d, 1<<20)
	s.mustWrite(t, 1, 2)
	d.FailAt(2, syscall.EIO) // the sync
	if err := s.write(3); !errors.Is(err, syscall.EIO) {
		t.Fatalf("a sync that fails: %v", err)
	}
	before := d.Ops()
	if err := s.write(4); !errors.Is(err, syscall.EIO) {
		t.Errorf("after a failure: %v", err)
	}
	if err := s.log.Mark(); !errors.Is(err, syscall.EIO) {
		t.Errorf("Mark after a failure: %v", err)
	}
	if n, ok := s.log.Next(); ok {
		t.Errorf("a notice at %d of what is not durable", n.Batch.First)
	}
	if err := s.log.Close(); err != nil || d.Ops() != before {
		t.Errorf("Close after a failure: %v, %d operations", err, d.Ops()-before)
	}
	if got := s.log.Durable(); got != 2 {
		t.Errorf("durable to %d", got)
	}
}

// TestFullDisk checks that Prepare continues once there is room again.
func TestFullDisk(t *testing.T) {
	d := memdisk.New(1)
	s, _ := mustOpen(t, d, small)
	d.SetCapacity(small + 100)
	if _, err := s.log.Prepare(); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("Prepare on a full disk: %v", err)
	}
	d.SetCapacity(1 << 30)
	for more := true; more; {
		var err error
		if more, err = s.log.Prepare(); err != nil {
			t.Fatal(err)
		}
	}
	s.mustWrite(t, 1, 10)
	holds(t, d, s.told)
}

// TestUnprepared checks that Unprepared receives once for each segment when the spare is
// taken.
func TestUnprepared(t *testing.T) {
	d := memdisk.New(1)
	s, _ := mustOpen(t, d, small)
	told, n := s.log.Unprepared(), 0
	for segments := 1; segments <= 3; segments++ {
		for ; len(told) == 0 && n < 100; n++ {
			s.mustWrite(t, n+1, n+1)
		}
		list, err := d.List(journal.LiveDir)
		if err != nil {
			t.Fatal(err)
		}
		if len(told) == 0 || len(list) != segments+1 { // with the lock
			t.Fatalf("told %d times of %v", len(told), list)
		}
		<-told
	}
}

// TestEveryReadFlips flips a bit in one read of a start. The start may fail, but must not
// lose anything on disk.
func TestEveryReadFlips(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		whole := memdisk.New(seed)
		s, _ := mustOpen(t, whole, small)
		s.mustWrite(t, 1, 9)
		for n := 1; startsFlipped(t, whole.Clone(), n, 9); n++ {
		}
	}
}

// startsFlipped flips a bit in the n-th read of a start. It returns false if there is no
// such read.
func startsFlipped(t *testing.T, d *memdisk.Disk, n, batches int) bool {
	t.Helper()
	reads := d.Reads()
	d.FlipRead(n)
	if _, _, err := open(d, small); err == nil && d.Reads() < reads+n {
		return false
	}
	s, r, err := open(d.Clone(), small)
	if err != nil || int(r.Tip.Last) != batches {
		t.Fatalf("after a flip in read %d: %+v, %v", n, r, err)
	}
	if err := s.log.Close(); err != nil {
		t.Fatal(err)
	}
	return true
}

// TestWithoutRoom fills the disk under a log. It refuses each proposal without room; it
// can be closed and opened, and continues once there is room.
func TestWithoutRoom(t *testing.T) {
	for seed := range uint64(20) {
		d := memdisk.New(seed)
		s, _ := mustOpen(t, d, small)
		s.mustWrite(t, 1, 3)
		d.SetCapacity(0)
		for s.full(t) == nil {
		}
		if err := s.log.Mark(); err != nil {
			t.Fatalf("a mark without room: %v", err)
		}
		if seed%2 == 0 {
			if err := s.log.Close(); err != nil {
				t.Fatalf("closing without room: %v", err)
			}
		}

		told := s.told
		for range 3 {
			d = d.Crash()
			var r *journal.Recovery
			if s, r = mustOpen(t, d, small); int(r.Tip.Last) != len(told) {
				t.Fatalf("a start without room: %+v, %d were told", r, len(told))
			}
			s.told = told
			if err := s.full(t); err == nil {
				t.Fatal("a log without room takes a batch")
			}
		}
		d.SetCapacity(1 << 30)
		s.mustWrite(t, len(s.told)+1, len(s.told)+5)
		holds(t, d, s.told)
	}
}

var errRefused = errors.New("refused")

// full proposes the next batch to a log that may have no room for it.
func (s *session) full(t *testing.T) error {
	t.Helper()
	c := command(len(s.told) + 1)
	s.sent++
	err := s.log.Propose(journal.Proposal{ID: uint64(s.sent), Count: 1, Time: bourse.Time(len(s.told) + 1), Commands: c})
	if err == nil {
		_, err = s.log.Step()
	}
	n, ok := s.log.Next()
	if err != nil || !ok || n.Proposal != uint64(s.sent) {
		t.Fatalf("a batch on a full disk: %v, %+v", err, n)
	}
	if n.Kind == journal.Refused {
		return errRefused
	}
	s.told = append(s.told, c)
	return nil
}

// TestReserve checks that a log leaves the reserved space free, and uses the space above
// it.
func TestReserve(t *testing.T) {
	d := memdisk.New(1)
	const reserve, room = 3 * small, 10 * small
	d.SetCapacity(room)
	log, _, err := filelog.Open(d, journal.Options{Identity: identity, SegmentSize: small, Reserve: func() uint64 { return reserve }})
	if err != nil {
		t.Fatal(err)
	}
	s := &session{log: log}
	for s.full(t) == nil {
	}
	if free, err := d.Free(); err != nil || free < reserve || free >= reserve+small {
		t.Fatalf("%d bytes are left of %d, %v", free, reserve, err)
	}
	d.SetCapacity(room + small)
	if err := s.full(t); err != nil {
		t.Fatal("with room above the reserve:", err)
	}
}

// TestTornWithoutRoom starts on a torn end without room for its copy: the log can be
// read, and takes no proposal until there is room.
func TestTornWithoutRoom(t *testing.T) {
	d := memdisk.New(1)
	s, _ := mustOpen(t, d, 64<<10)
	s.mustWrite(t, 1, 2)
	end, _, err := journal.NewFiles(d.Clone(), identity).End(nil)
	if err != nil {
		t.Fatal(err)
	}
	d = d.Crash()
	overwrite(t, d, firstSegment, []byte("what a crash left"), end.Offset)
	d.SetCapacity(0)

	for range 2 {
		d = d.Clone()
		again, r := mustOpen(t, d, 64<<10)
		if again.told = s.told; r.Torn == nil || r.Torn.Copy != "" || r.Tip.Last != 2 {
			t.Fatalf("the start says %+v", r)
		}
		if again.full(t) == nil {
			t.Fatal("a log takes a batch before its torn end was copied")
		}
		if names, err := d.List(journal.TornDir); err == nil && len(names) > 0 {
			t.Fatalf("copies that are not whole: %v", names)
		}
		if err := again.log.Close(); err != nil {
			t.Fatal(err)
		}
	}

	d = d.Clone()
	last, _ := mustOpen(t, d, 64<<10)
	last.told = s.told
	d.SetCapacity(1 << 30)
	last.mustWrite(t, 3, 4)
	if names, err := d.List(journal.TornDir); err != nil || len(names) != 1 {
		t.Fatalf("with room the copies are %v, %v", names, err)
	}
	holds(t, d, last.told)
}
