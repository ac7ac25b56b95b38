package filelog_test

import (
	"bytes"
	"errors"
	"slices"
	"syscall"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// frames returns the frames of a journal of so many batches, written in two terms.
func frames(t *testing.T, batches int) []journal.Frame {
	t.Helper()
	d := memdisk.New(1)
	for _, part := range [][2]int{{1, batches / 2}, {batches/2 + 1, batches}} {
		s, _ := mustOpen(t, d, small)
		s.mustWrite(t, part[0], part[1])
		if err := s.log.Close(); err != nil {
			t.Fatal(err)
		}
	}

	r, err := journal.NewFiles(d, identity).Read(1)
	if err != nil {
		t.Fatal(err)
	}
	var list []journal.Frame
	previous := journal.Hash{}
	for range batches {
		b, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, journal.Frame{
			First: b.First, Count: b.Count, Term: b.Term, Time: b.Time, Previous: previous, Commands: bytes.Clone(b.Commands),
		})
		previous = b.Chain
	}
	if list[0].Term == list[batches-1].Term {
		t.Fatal("the journal has one term")
	}
	return list
}

// copies is one process that copies frames, so many at a time, until it is stopped. It
// returns the number that it knows to be durable.
func copies(d *memdisk.Disk, list []journal.Frame, together int) (int, error) {
	s, r, err := open(d, small)
	if err != nil {
		return 0, err
	}
	told := int(r.Tip.Last)
	for told < len(list) {
		n, err := s.log.Copy(list[told:min(told+together, len(list))])
		if told += n; err != nil {
			return told, err
		}
		if _, err := s.log.Prepare(); err != nil {
			return told, err
		}
		if err := s.log.Mark(); err != nil {
			return told, err
		}
	}
	return told, s.log.Close()
}

// TestCopiesCrashAnywhere stops a copy between any two operations, by the process's death and
// by a power cut: what was durable is there after the next start, and the rest is copied.
func TestCopiesCrashAnywhere(t *testing.T) {
	list := frames(t, 12)
	for _, together := range []int{1, 3, 12} {
		whole := memdisk.New(0)
		if _, err := copies(whole, list, together); err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= whole.Ops(); n++ {
			for seed := range uint64(6) {
				d := memdisk.New(seed)
				d.StopAt(n)
				told, err := copies(d, list, together)
				if err != nil && !errors.Is(err, memdisk.ErrStopped) {
					t.Fatal(err)
				}

				if d = d.Clone(); seed%2 == 0 {
					d = d.Crash()
				}
				if all, err := readAll(d); err != nil || len(all) < told {
					t.Fatalf("%d together, operation %d, seed %d: %d commands of %d: %v", together, n, seed, len(all), told, err)
				}
				s, r, err := open(d, small)
				if err != nil {
					t.Fatalf("%d together, operation %d, seed %d: %v", together, n, seed, err)
				}
				if all, err := readAll(d.Crash()); err != nil || len(all) < int(r.Tip.Last) {
					t.Fatalf("operation %d: %d commands of the %d found at the start: %v", n, len(all), r.Tip.Last, err)
				}
				must(t, s.log.Close())
				if got, err := copies(d, list, together); err != nil || got != len(list) {
					t.Fatalf("operation %d: %d commands, %v", n, got, err)
				}
				holds(t, d, make([][]byte, len(list)))
			}
		}
	}
}

// TestCopyRefuses refuses every frame that does not continue the journal, and takes what came
// before it.
func TestCopyRefuses(t *testing.T) {
	list := frames(t, 6)
	for name, change := range map[string]func(*journal.Frame){
		"a gap": func(f *journal.Frame) { f.First++ }, "another chain": func(f *journal.Frame) { f.Previous[5] ^= 1 },
		"an older term": func(f *journal.Frame) { f.Term-- }, "an older time": func(f *journal.Frame) { f.Time -= 3 },
		"no command": func(f *journal.Frame) { f.Count, f.Commands = 0, nil },
	} {
		d := memdisk.New(1)
		s, _ := mustOpen(t, d, small)
		forged := slices.Clone(list)
		change(&forged[4])
		if n, err := s.log.Copy(forged); n != 4 || !errors.Is(err, journal.ErrNotNext) || s.log.Durable() != 4 {
			t.Errorf("%s: %d frames, %v", name, n, err)
		}
		if n, err := s.log.Copy(list[4:]); n != 2 || err != nil {
			t.Errorf("after %s: %d frames, %v", name, n, err)
		}
		must(t, s.log.Close())
		holds(t, d, make([][]byte, len(list)))
	}

	// A frame of other bytes is noticed at the next one.
	s, _ := mustOpen(t, memdisk.New(1), small)
	forged := slices.Clone(list)
	forged[2].Commands = append(bytes.Clone(forged[2].Commands), 'x')
	if n, err := s.log.Copy(forged); n != 3 || !errors.Is(err, journal.ErrNotNext) {
		t.Errorf("forged commands: %d frames, %v", n, err)
	}
}

// TestCopyToFullDisk copies what there is room for, and the rest later.
func TestCopyToFullDisk(t *testing.T) {
	list := frames(t, 12)
	d := memdisk.New(1)
	d.SetCapacity(2 * small)
	s, _ := mustOpen(t, d, small)
	n, err := s.log.Copy(list)
	if !errors.Is(err, syscall.ENOSPC) || n == 0 || s.log.Durable() != bourse.Seq(n) {
		t.Fatalf("%d frames: %v", n, err)
	}
	if all, err := readAll(d.Crash()); err != nil || len(all) != n {
		t.Errorf("%d frames are durable of %d: %v", len(all), n, err)
	}
	d.SetCapacity(1 << 30)
	if rest, err := s.log.Copy(list[n:]); err != nil || n+rest != len(list) {
		t.Errorf("%d frames and %d: %v", n, rest, err)
	}
	must(t, s.log.Close())
	holds(t, d, make([][]byte, len(list)))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
