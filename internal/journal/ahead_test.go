package journal_test

import (
	"errors"
	"io"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
)

// frames writes a journal of a few frames, and returns a log of it.
func frames(t *testing.T, n int) *filelog.Log {
	t.Helper()
	d, err := disk.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l, _, err := filelog.Open(d, journal.Options{Identity: journal.Identity{Sandbox: true, Exchange: [16]byte{1}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(l.Close(), d.Close()); err != nil {
			t.Error(err)
		}
	})
	for i := range n {
		p := journal.Proposal{ID: uint64(i + 1), Count: 1 + i%3, Time: bourse.Time(i), Commands: make([]byte, 1+i*7919%100_000)}
		p.Commands[0], p.Commands[len(p.Commands)-1] = byte(i), byte(i)
		if err := l.Propose(p); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Step(); err != nil {
			t.Fatal(err)
		}
		if _, ok := l.Next(); !ok {
			t.Fatalf("frame %d was not committed", i)
		}
	}
	return l
}

func read(t *testing.T, l *filelog.Log) journal.Reader {
	t.Helper()
	r, err := l.Read(1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReadAhead compares ReadAhead with a plain reader.
func TestReadAhead(t *testing.T) {
	l := frames(t, 100)
	plain, ahead := read(t, l), journal.ReadAhead(read(t, l))
	for i := 0; ; i++ {
		want, end := plain.Next()
		got, err := ahead.Next()
		if !errors.Is(err, end) {
			t.Fatalf("frame %d: %v, want %v", i, err, end)
		}
		if end != nil {
			break
		}
		if string(got.Commands) != string(want.Commands) || got.Chain != want.Chain || got.First != want.First ||
			got.Count != want.Count || got.Time != want.Time || got.Term != want.Term {
			t.Fatalf("frame %d, of command %d, is another one", i, want.First)
		}
	}
	if _, err := ahead.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("behind the end: %v", err)
	}
	if err := errors.Join(plain.Close(), ahead.Close()); err != nil {
		t.Error(err)
	}
}

// TestReadAheadIsLeft closes readers in the middle of a journal.
func TestReadAheadIsLeft(t *testing.T) {
	l := frames(t, 20)
	for n := range 20 {
		ahead := journal.ReadAhead(read(t, l))
		for range n {
			if _, err := ahead.Next(); err != nil {
				t.Fatal(err)
			}
		}
		if err := ahead.Close(); err != nil {
			t.Errorf("after %d frames: %v", n, err)
		}
	}
}
