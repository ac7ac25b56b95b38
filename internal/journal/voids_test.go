package journal_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

func void(seq bourse.Seq) journal.Void {
	return journal.Void{Seq: seq, Reason: "trips an assertion: größer", Operator: 1000, Time: bourse.Time(seq) * 3}
}

// haveVoids loads the voids and compares their sequences.
func haveVoids(t *testing.T, d disk.Disk, want ...bourse.Seq) *journal.VoidList {
	t.Helper()
	l, err := journal.LoadVoids(d, ours)
	if err != nil {
		t.Fatal(err)
	}
	list := l.All()
	if len(list) != len(want) {
		t.Fatalf("%d voids, not %d", len(list), len(want))
	}
	for i, seq := range want {
		if list[i] != void(seq) || !l.Has(seq) {
			t.Fatalf("void %d is %+v", i, list[i])
		}
	}
	if l.Has(999) {
		t.Fatal("a command is void that nobody took out of effect")
	}
	return l
}

func TestVoids(t *testing.T) {
	d := memdisk.New(1)
	l := haveVoids(t, d)
	for i, seq := range []bourse.Seq{20, 10, 30} {
		if err := l.Append(void(seq)); err != nil {
			t.Fatal(err)
		}
		d = d.Crash()
		l = haveVoids(t, d, []bourse.Seq{20, 10, 30}[:i+1]...)
	}
	if err := l.Append(void(10)); !errors.Is(err, journal.ErrVoided) {
		t.Errorf("a void again: %v", err)
	}
	for _, reason := range []string{"", strings.Repeat("x", 1025), "\xff"} {
		if err := l.Append(journal.Void{Seq: 1, Reason: reason}); !errors.Is(err, journal.ErrReason) {
			t.Errorf("for reason %q: %v", reason, err)
		}
	}
	if err := l.Append(journal.Void{Reason: "x"}); err == nil {
		t.Error("there is no command 0")
	}
	if err := l.Append(journal.Void{Seq: 1, Reason: strings.Repeat("x", 1024)}); err != nil {
		t.Error(err)
	}
}

func TestVoidsDamage(t *testing.T) {
	d := memdisk.New(1)
	l := haveVoids(t, d)
	if err := errors.Join(l.Append(void(1)), l.Append(void(2))); err != nil {
		t.Fatal(err)
	}
	whole, err := disk.ReadFile(d, "voids")
	if err != nil {
		t.Fatal(err)
	}
	var e *journal.DamageError
	for i := range len(whole) * 8 {
		_ = d.Damage("voids", int64(i/8), 1<<(i%8))
		if _, err := journal.LoadVoids(d, ours); !errors.As(err, &e) {
			t.Fatalf("bit %d: %v", i, err)
		}
		_ = d.Damage("voids", int64(i/8), 1<<(i%8))
	}
	haveVoids(t, d, 1, 2)
	f, err := d.Edit("voids")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(int64(len(whole) + 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.LoadVoids(d, ours); !errors.As(err, &e) {
		t.Fatalf("a byte more: %v", err)
	}
	for size := len(whole) - 1; size >= 0; size-- {
		if err := f.Truncate(int64(size)); err != nil {
			t.Fatal(err)
		}
		if _, err := journal.LoadVoids(d, ours); !errors.As(err, &e) {
			t.Fatalf("%d bytes: %v", size, err)
		}
	}
}

func TestVoidsOfOthers(t *testing.T) {
	d := memdisk.New(1)
	if err := haveVoids(t, d).Append(void(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.LoadVoids(d, journal.Identity{Exchange: ours.Exchange, Sandbox: true}); !errors.Is(err, journal.ErrSandbox) {
		t.Errorf("of a sandbox: %v", err)
	}
	if _, err := journal.LoadVoids(d, journal.Identity{}); !errors.Is(err, journal.ErrOtherExchange) {
		t.Errorf("of another exchange: %v", err)
	}
	setVersion(t, d, "voids", 2, 72)
	if _, err := journal.LoadVoids(d, ours); !errors.Is(err, journal.ErrNewerFormat) {
		t.Errorf("of a newer format: %v", err)
	}
}

// TestVoidsOfAKilledWriter kills the process that appends at each operation, without a
// power cut. A void that the next process honours must survive one.
func TestVoidsOfAKilledWriter(t *testing.T) {
	for n := 1; ; n++ {
		d := memdisk.New(uint64(n))
		l := haveVoids(t, d)
		d.StopAt(n)
		appended := l.Append(void(1))
		killed := d.Clone()
		honoured, err := journal.LoadVoids(killed, ours)
		for range 8 {
			after, afterErr := journal.LoadVoids(killed.Crash(), ours)
			if err != nil || afterErr != nil || honoured.Has(1) && !after.Has(1) {
				t.Fatalf("killed at %d: a void was honoured and is gone: %v, %v", n, err, afterErr)
			}
		}
		if appended == nil {
			return
		}
	}
}

// TestVoidsCrash stops the machine, or makes one operation fail, at each operation of an
// Append: the void is there or not, and must be there if Append succeeded.
func TestVoidsCrash(t *testing.T) {
	for n := 1; ; n++ {
		stopped, failing := memdisk.New(uint64(n)), memdisk.New(uint64(n))
		for _, d := range []*memdisk.Disk{stopped, failing} {
			if err := haveVoids(t, d).Append(void(1)); err != nil {
				t.Fatal(err)
			}
		}
		stopped.StopAt(n)
		failing.FailAt(n, syscall.EIO)
		done := 0
		for _, d := range []*memdisk.Disk{stopped, failing} {
			l, err := journal.LoadVoids(d, ours)
			if err == nil {
				err = l.Append(void(2))
			}
			for range 8 {
				after, loadErr := journal.LoadVoids(d.Crash(), ours)
				if loadErr != nil || !after.Has(1) || err == nil && !after.Has(2) {
					t.Fatalf("operation %d: %v after %v", n, loadErr, err)
				}
			}
			if err == nil {
				done++
			} else if l != nil && l.Has(2) {
				t.Fatalf("operation %d: an Append that failed took effect", n)
			}
		}
		if done == 2 {
			return
		}
	}
}
