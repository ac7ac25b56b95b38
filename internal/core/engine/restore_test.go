package engine_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
	"github.com/bourse-exchange/bourse/internal/core/state"
)

// snapshotOf returns the state of a workload after so many commands.
func snapshotOf(tb testing.TB, seed enginetest.Seed, n int) []byte {
	tb.Helper()
	p := enginetest.NewPair()
	w := enginetest.NewWorkload(&seed, p.Oracle)
	for range n {
		cmd := w.Next()
		if err := p.Apply(&cmd); err != nil {
			tb.Fatal(err)
		}
	}
	return snapshot(p.Engine)
}

func snapshot(e *engine.Engine) []byte {
	var all []byte
	e.Snapshot(func(b []byte) { all = append(all, b...) })
	return all
}

// hostile restores bytes of unknown origin: it may fail, and if it does not, the
// engine writes the same bytes, keeps its invariants and takes commands.
func hostile(tb testing.TB, data []byte) bool {
	tb.Helper()
	e, err := engine.Restore(data, func(*bourse.Events) {})
	if err != nil {
		return false
	}
	if err := e.Check(); err != nil {
		tb.Fatalf("restored against an invariant: %v", err)
	}
	if !bytes.Equal(snapshot(e), data) {
		tb.Fatal("restored from bytes that it does not write")
	}
	var ev bourse.Events
	for range 3 {
		e.Apply(&bourse.Command{Seq: e.Seq() + 1, Time: e.Now(), Kind: bourse.CommandContinue}, &ev)
	}
	if err := e.Check(); err != nil {
		tb.Fatalf("after a Continue: %v", err)
	}
	return true
}

// TestRestoreDamaged flips each byte of snapshots, cuts them at each place, and
// puts extreme numbers everywhere.
func TestRestoreDamaged(t *testing.T) {
	step := 5
	if testing.Short() {
		step = 41
	}
	for seed := enginetest.Seed(1); seed <= 4; seed++ {
		good := snapshotOf(t, seed, 150)
		if !hostile(t, good) {
			t.Fatal("a good snapshot does not restore")
		}
		for at := 0; at < len(good); at += step {
			damaged := slices.Clone(good)
			damaged[at] ^= 1 << (at % 8)
			hostile(t, damaged)
			if hostile(t, good[:at]) {
				t.Errorf("a snapshot restores that was cut at %d", at)
			}
			for _, n := range []uint64{0, 1, 1 << 46, 1 << 62, 1<<63 - 1, ^uint64(0)} {
				if at+8 <= len(good) {
					copy(damaged, good)
					binary.LittleEndian.PutUint64(damaged[at:], n)
					hostile(t, damaged)
				}
			}
		}
		if hostile(t, append(slices.Clone(good), 0)) {
			t.Error("a snapshot restores that has a byte too many")
		}
	}
}

// TestRestoreVersion wants another version of the form to be refused by name.
func TestRestoreVersion(t *testing.T) {
	data := snapshot(engine.New())
	data[0]++
	_, err := engine.Restore(data, func(*bourse.Events) {})
	if err == nil || errors.Is(err, state.ErrMalformed) {
		t.Errorf("version 2 is refused with %v", err)
	}
}

// FuzzRestore looks for bytes that make Restore panic, or restore what no
// engine could have written.
func FuzzRestore(f *testing.F) {
	f.Add(snapshot(engine.New()))
	for seed := enginetest.Seed(1); seed <= 3; seed++ {
		f.Add(snapshotOf(f, seed, 60))
	}
	f.Fuzz(func(t *testing.T, data []byte) { hostile(t, data) })
}
