package anchor

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// sample returns a record with as many heads as there have been snapshots.
func sample(snapshots int) *Record {
	r := &Record{Identity: journal.Identity{Exchange: [16]byte{1, 2, 3}, Sandbox: true}}
	for i := range snapshots {
		tip := journal.Tip{Last: bourse.Seq(10 * (i + 1)), Chain: journal.Hash{byte(i)}, Term: 3, Time: 12345}
		r.AddState(Head{Tip: tip, State: journal.Hash{9, byte(i)}, Voids: 1, Void: journal.Hash{7}})
		r.Newest = Head{Tip: tip, Voids: 1, Void: journal.Hash{7}}
		r.Accept(Acceptance{Time: 5, Operator: 1000, Reason: fmt.Sprintf("reason \"%d\"\n<&>", i), Anchored: tip, Accepted: tip})
	}
	return r
}

// TestRecordsAreKept reads what another process kept, and keeps on from there.
func TestRecordsAreKept(t *testing.T) {
	dir := t.TempDir()
	if _, err := NewDir(dir).Load(); !errors.Is(err, ErrNone) {
		t.Fatalf("an empty directory: %v", err)
	}
	for _, n := range []int{0, 1, 5} {
		d := NewDir(dir)
		if _, err := d.Load(); err != nil && !errors.Is(err, ErrNone) {
			t.Fatal(err)
		}
		want := sample(n)
		if err := d.Keep(want); err != nil {
			t.Fatal(err)
		}
		got, err := NewDir(dir).Load()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("kept %+v, loaded %+v: %v", want, got, err)
		}
	}
}

// TestRecordsAreBounded keeps the newest of very many heads.
func TestRecordsAreBounded(t *testing.T) {
	r := sample(10_000)
	if size := len(r.bytes()); size > maxRecord/4 {
		t.Errorf("%d bytes", size)
	}
	if len(r.States) != maxStates || r.States[maxStates-1].Tip.Last != 100_000 || len(r.Accepted) != maxAccepted {
		t.Errorf("%d states, %d accepted", len(r.States), len(r.Accepted))
	}
	if r.State(100_000) == nil || r.State(10) != nil || r.State(100_001) != nil {
		t.Error("the wrong states are kept")
	}
}

// TestStatesAscend adds states in another order, and one twice.
func TestStatesAscend(t *testing.T) {
	var r Record
	for _, seq := range []bourse.Seq{5, 3, 9, 5} {
		r.AddState(Head{Tip: journal.Tip{Last: seq}, Voids: int(seq)})
	}
	var got []bourse.Seq
	for _, h := range r.States {
		got = append(got, h.Tip.Last)
	}
	if !reflect.DeepEqual(got, []bourse.Seq{3, 5, 9}) {
		t.Errorf("states at %v", got)
	}
}

// TestForeignRecordsStay keeps nothing over a record that this process has not seen:
// another writer's, or none where there was one, as on another disk.
func TestForeignRecordsStay(t *testing.T) {
	dir := t.TempDir()
	one, other := NewDir(dir), NewDir(dir)
	if err := one.Keep(sample(1)); err != nil {
		t.Fatal(err)
	}
	if err := other.Keep(sample(2)); !errors.Is(err, ErrChanged) {
		t.Errorf("over a record that was not loaded: %v", err)
	}
	if _, err := other.Load(); err != nil {
		t.Fatal(err)
	}
	if err := other.Keep(sample(2)); err != nil {
		t.Fatal(err)
	}
	if err := one.Keep(sample(3)); !errors.Is(err, ErrChanged) {
		t.Errorf("over another writer's: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, recordName)); err != nil {
		t.Fatal(err)
	}
	if err := other.Keep(sample(3)); !errors.Is(err, ErrChanged) {
		t.Errorf("on another disk: %v", err)
	}
}

// TestDamagedRecords flips and cuts a record at each byte: none is read.
func TestDamagedRecords(t *testing.T) {
	dir := t.TempDir()
	whole := sample(2).bytes()
	path := filepath.Join(dir, recordName)
	for i := range whole {
		flipped := bytes.Clone(whole)
		flipped[i] ^= 4
		for _, b := range [][]byte{flipped, whole[:i]} {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			var damage *journal.DamageError
			if _, err := NewDir(dir).Load(); !errors.As(err, &damage) {
				t.Fatalf("damaged at byte %d: %v", i, err)
			}
		}
	}
}

// FuzzRecord reads records: what is read is written the same.
func FuzzRecord(f *testing.F) {
	f.Add(sample(0).bytes())
	f.Add(sample(3).bytes())
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := parse(b)
		if err != nil {
			return
		}
		again, err := parse(r.bytes())
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Errorf("%+v is read as %+v: %v", r, again, err)
		}
	})
}
