package journal_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/journal"
)

func saved(t *testing.T, v journal.Voter) *memdisk.Disk {
	t.Helper()
	d := memdisk.New(1)
	if err := errors.Join(d.MkdirAll(journal.LiveDir), d.SyncDir("."), v.Save(d, ours)); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestVoterFormat compares the bytes of a promise with those that docs/format has.
func TestVoterFormat(t *testing.T) {
	d := saved(t, journal.Voter{Node: 3, Term: 0x1234, Vote: 2})
	f, err := d.Open("journal/voter")
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 60)
	if _, err := f.ReadAt(b, 0); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%s %x %x", b[:8], b[8:16], b[32:56])
	if want := "BOURSVOT 0100000000000000 030000000000000034120000000000000200000000000000"; got != want {
		t.Errorf("the file has %s, not %s", got, want)
	}
}

func TestVoterDamage(t *testing.T) {
	if _, err := journal.LoadVoter(memdisk.New(1), ours); !isDamage(err) {
		t.Errorf("without a file: %v", err)
	}
	for off := range int64(60) {
		d := saved(t, journal.Voter{Node: 3, Term: 7, Vote: 2})
		if err := d.Damage("journal/voter", off, 1); err != nil {
			t.Fatal(err)
		}
		if v, err := journal.LoadVoter(d, ours); !isDamage(err) {
			t.Errorf("byte %d flipped: %+v, %v", off, v, err)
		}
	}

	d := saved(t, journal.Voter{Node: 3, Term: 7, Vote: 2})
	other := ours
	other.Exchange[0]++
	if _, err := journal.LoadVoter(d, other); !errors.Is(err, journal.ErrOtherExchange) {
		t.Errorf("another exchange's: %v", err)
	}
}

func isDamage(err error) bool {
	damage := (*journal.DamageError)(nil)
	return errors.As(err, &damage)
}

// TestVoterCrash cuts the power at each operation of a vote: the earlier promise or the
// later one is left, and the later one once Save has returned.
func TestVoterCrash(t *testing.T) {
	before, after := journal.Voter{Node: 3, Term: 7, Vote: 2}, journal.Voter{Node: 3, Term: 8, Vote: 1}
	for n := 1; ; n++ {
		d := saved(t, before)
		d.StopAt(n)
		err := after.Save(d, ours)
		for range 20 {
			got, failed := journal.LoadVoter(d.Crash(), ours)
			if failed != nil || got != after && (err == nil || got != before) {
				t.Fatalf("stopped at operation %d: %+v, %v", n, got, failed)
			}
		}
		if err == nil {
			return
		}
	}
}
