package memdisk_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
)

// outcomes returns the frequency of each state in many crashes of one moment.
func outcomes(d *memdisk.Disk, look func(*memdisk.Disk) string) map[string]int {
	seen := map[string]int{}
	for range 400 {
		seen[look(d.Crash())]++
	}
	return seen
}

// sectors writes the sectors' first bytes.
func sectors(name string) func(*memdisk.Disk) string {
	return func(d *memdisk.Disk) string {
		b, err := disk.ReadFile(d, name)
		if err != nil {
			return "none"
		}
		var s strings.Builder
		for i := 0; i < len(b); i += 512 {
			s.WriteByte(b[i])
		}
		return s.String()
	}
}

func page(letter string, n int) string { return strings.Repeat(letter, 512*n) }

// durable creates a file whose bytes and name are durable.
func durable(t *testing.T, d *memdisk.Disk, name, text string) disk.File {
	t.Helper()
	f := put(t, d, name, text)
	ok(t, f.Sync(), d.SyncDir("."))
	return f
}

func keys(seen map[string]int) []string {
	var list []string
	for k := range seen {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

func TestSectorsSurviveIndependently(t *testing.T) {
	d := memdisk.New(1)
	f := durable(t, d, "a", page("o", 3))
	write(t, f, page("n", 3), 0)
	seen := outcomes(d, sectors("a"))
	if len(seen) != 8 {
		t.Errorf("of 8 states of three sectors there were %q", keys(seen))
	}
	write(t, f, page("x", 1), 512)
	if seen := outcomes(d, sectors("a")); len(seen) != 12 {
		t.Errorf("of 12 states with a sector written twice there were %q", keys(seen))
	}
	ok(t, f.Sync())
	if seen := outcomes(d, sectors("a")); len(seen) != 1 || seen["nxn"] == 0 {
		t.Errorf("what was synced became %q", keys(seen))
	}
}

func TestLengthsTear(t *testing.T) {
	d := memdisk.New(2)
	f := durable(t, d, "a", page("o", 1))
	write(t, f, page("n", 2), 512)
	short, long, zero := 0, 0, 0
	for state, n := range outcomes(d, sectors("a")) {
		switch {
		case state[0] != 'o':
			t.Fatalf("the durable sector is %q", state)
		case len(state) == 1:
			short += n
		case state == "onn":
			long += n
		case strings.Contains(state, "\x00"):
			zero += n
		}
	}
	if short == 0 || long == 0 || zero == 0 {
		t.Errorf("%d times the old length, %d times the new, %d times zeros", short, long, zero)
	}
	ok(t, f.Truncate(10))
	lengths := map[int]bool{}
	for range 200 {
		b := must(disk.ReadFile(d.Crash(), "a"))(t)
		lengths[len(b)] = true
		if !bytes.Equal(b[:10], []byte("oooooooooo")) {
			t.Fatalf("a file that was cut begins with %q", b[:10])
		}
	}
	if !lengths[10] || !lengths[512] {
		t.Error("a length that was not synced was always, or never, durable")
	}
}

func TestNamesSurviveOrNot(t *testing.T) {
	d := memdisk.New(3)
	f := put(t, d, "a", "1")
	ok(t, f.Sync())
	state := func(d *memdisk.Disk) string {
		names := must(d.List("."))(t)
		return strings.Join(names, " ")
	}
	if seen := outcomes(d, state); seen[""] == 0 || seen["a"] == 0 {
		t.Errorf("a name that is not durable: %v", seen)
	}
	ok(t, d.SyncDir("."), d.Rename("a", "b"))
	if seen := outcomes(d, state); seen["a"] == 0 || seen["b"] == 0 || len(seen) != 2 {
		t.Errorf("a rename that is not durable: %v", seen)
	}
	ok(t, d.SyncDir("."), d.Remove("b"))
	if seen := outcomes(d, state); seen[""] == 0 || seen["b"] == 0 || len(seen) != 2 {
		t.Errorf("a removal that is not durable: %v", seen)
	}
	ok(t, d.SyncDir("."))
	if seen := outcomes(d, state); len(seen) != 1 || seen[""] == 0 {
		t.Errorf("a removal that is durable: %v", seen)
	}
}

func TestDirectoriesTakeAlongWhatIsInThem(t *testing.T) {
	d := memdisk.New(4)
	ok(t, d.MkdirAll("x"))
	f := put(t, d, "x/a", "1")
	ok(t, f.Sync(), d.SyncDir("x"))
	state := func(d *memdisk.Disk) string {
		_, err := disk.ReadFile(d, "x/a")
		return fmt.Sprint(errors.Is(err, fs.ErrNotExist))
	}
	if seen := outcomes(d, state); len(seen) != 2 {
		t.Errorf("a file in a directory whose name is not durable: missing? %v", seen)
	}
	ok(t, d.SyncDir("."))
	if seen := outcomes(d, state); len(seen) != 1 || seen["false"] == 0 {
		t.Errorf("a file in a durable directory: missing? %v", seen)
	}
}

func TestRenameIsWhole(t *testing.T) {
	d := memdisk.New(5)
	durable(t, d, "a", page("o", 1))
	durable(t, d, "tmp", page("n", 1))
	ok(t, d.Rename("tmp", "a"))
	seen := outcomes(d, func(d *memdisk.Disk) string { return sectors("a")(d) + " " + sectors("tmp")(d) })
	if len(seen) != 2 || seen["o n"] == 0 || seen["n none"] == 0 {
		t.Errorf("a replaced file and its replacement: %v", seen)
	}
}

func TestLocksVanish(t *testing.T) {
	d := memdisk.New(6)
	_ = must(d.Lock("LOCK"))(t)
	for _, after := range []*memdisk.Disk{d.Crash(), d.Clone()} {
		ok(t, must(after.Lock("LOCK"))(t).Close())
	}
}

// TestFailedSyncGivesUp shows that repeating a failed Sync makes nothing durable.
func TestFailedSyncGivesUp(t *testing.T) {
	d := memdisk.New(7)
	f := durable(t, d, "a", page("o", 2))
	write(t, f, page("n", 2), 0)
	d.FailAt(1, syscall.EIO)
	wants(t, "the sync that fails", f.Sync(), syscall.EIO)
	ok(t, f.Sync())
	if seen := outcomes(d, sectors("a")); len(seen) != 4 {
		t.Errorf("after a failed sync and a good one: %q", keys(seen))
	}
	write(t, f, page("x", 1), 0)
	ok(t, f.Sync())
	if seen := outcomes(d, sectors("a")); len(seen) != 2 || seen["xn"] == 0 || seen["xo"] == 0 {
		t.Errorf("after one sector was written again: %q", keys(seen))
	}
}

func TestFaults(t *testing.T) {
	d := memdisk.New(8)
	f := durable(t, d, "a", "")
	before := d.Ops()
	d.FailAt(2, &memdisk.ShortWriteError{Written: 2, Cause: syscall.ENOSPC})
	write(t, f, "0123", 0)
	n, err := f.WriteAt([]byte("abcd"), 4)
	wants(t, "a short write", err, syscall.ENOSPC)
	if n != 2 || d.Ops() != before+2 {
		t.Errorf("a short write of %d bytes, %d operations", n, d.Ops()-before)
	}
	holds(t, d, "a", "0123ab")

	d.SetCapacity(8)
	n, err = f.WriteAt([]byte("abcd"), 6)
	wants(t, "writing to a full disk", err, syscall.ENOSPC)
	if n != 2 || must(d.Free())(t) != 0 {
		t.Errorf("%d bytes were written", n)
	}
	wants(t, "lengthening on a full disk", f.Truncate(9), syscall.ENOSPC)
	holds(t, d, "a", "0123abab")

	ok(t, d.Damage("a", 1, 0x01))
	holds(t, d, "a", "0023abab")
	d.Inject(func(op memdisk.Op) error {
		if op.Kind == memdisk.OpOpen && op.Name == "a" {
			return syscall.EIO
		}
		return nil
	})
	_, err = d.Open("a")
	wants(t, "an injected fault", err, syscall.EIO)
}

func TestFlipRead(t *testing.T) {
	d := memdisk.New(9)
	f := durable(t, d, "a", page("o", 1))
	d.FlipRead(2)
	flipped := 0
	for i := range 5 {
		b := make([]byte, 512)
		_, err := f.ReadAt(b, 0)
		ok(t, err)
		if string(b) != page("o", 1) {
			flipped++
			if i != 1 {
				t.Errorf("read %d came with a flipped bit", i+1)
			}
		}
	}
	if flipped != 1 {
		t.Errorf("%d reads came with a flipped bit", flipped)
	}
}

func TestStopAt(t *testing.T) {
	d := memdisk.New(10)
	f := durable(t, d, "a", "old")
	d.StopAt(2)
	write(t, f, "new", 0)
	wants(t, "the operation at which the machine stops", f.Sync(), memdisk.ErrStopped)
	_, err := d.Open("a")
	wants(t, "an operation after that", err, memdisk.ErrStopped)
	wants(t, "another", d.Remove("a"), memdisk.ErrStopped)
	after := d.Crash()
	if b := must(disk.ReadFile(after, "a"))(t); string(b) != "old" && string(b) != "new" {
		t.Errorf("a sector tore into %q", b)
	}
}

// TestSeeds shows that the seed determines all outcomes, and that a clone has the same
// ones ahead.
func TestSeeds(t *testing.T) {
	story := func(seed uint64, branch func(*memdisk.Disk) *memdisk.Disk) string {
		d := memdisk.New(seed)
		f := durable(t, d, "a", page("o", 40))
		write(t, f, page("n", 60), 0)
		ok(t, f.Truncate(512*50))
		return sectors("a")(branch(d).Crash())
	}
	same := func(d *memdisk.Disk) *memdisk.Disk { return d }
	a, b, clone, other := story(1, same), story(1, same), story(1, (*memdisk.Disk).Clone), story(2, same)
	if a != b || a != clone {
		t.Errorf("one seed, three stories: %q %q %q", a, b, clone)
	}
	if a == other {
		t.Error("two seeds tell the same story")
	}
}

func TestCloneSharesNothing(t *testing.T) {
	d := memdisk.New(11)
	f := durable(t, d, "a", "1")
	c := d.Clone()
	write(t, f, "2", 0)
	ok(t, d.Rename("a", "b"))
	holds(t, c, "a", "1")
	g := must(c.Edit("a"))(t)
	write(t, g, "3", 0)
	holds(t, d, "b", "2")
}
