package filelog_test

import (
	"fmt"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/journal"
	"github.com/bourse-exchange/bourse/internal/journal/filelog"
)

// step commits a batch and takes its notice.
func step(tb testing.TB, l *filelog.Log, id uint64, count int, commands []byte) {
	p := journal.Proposal{ID: id, Count: count, Time: bourse.Time(id), Commands: commands}
	if err := l.Propose(p); err != nil {
		tb.Fatal(err)
	}
	if _, err := l.Step(); err != nil {
		tb.Fatal(err)
	}
	if _, ok := l.Next(); !ok {
		tb.Fatal("no notice")
	}
}

func openReal(tb testing.TB) *filelog.Log {
	tb.Helper()
	l, _, err := filelog.Open(openDir(tb, tb.TempDir()), journal.Options{Identity: identity})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() })
	return l
}

// TestSpareKeepsPace checks that the spare grows with the current segment, and is whole
// when that is half full.
func TestSpareKeepsPace(t *testing.T) {
	const size, piece = 8 << 20, 1 << 20
	d := openDir(t, t.TempDir())
	l, _, err := filelog.Open(d, journal.Options{Identity: identity, SegmentSize: size})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	commands := make([]byte, journal.MaxFrame/2)
	for written, id := 0, uint64(0); written <= size/2; written, id = written+len(commands), id+1 {
		select {
		case <-l.Unprepared():
			for more := true; more; {
				if more, err = l.Prepare(); err != nil {
					t.Fatal(err)
				}
			}
		default:
		}
		made, err := disk.ReadFile(d, journal.LiveDir+"/spare")
		if err != nil {
			t.Fatal(err)
		}
		if want := min(size, 2*written+piece); len(made) < want-piece || len(made) > want+piece {
			t.Errorf("%d bytes are made when %d are written", len(made), written)
		}
		step(t, l, id+1, 100, commands)
	}
}

// TestAllocations checks that a frame costs no allocation.
func TestAllocations(t *testing.T) {
	l := openReal(t)
	commands := make([]byte, 10_000)
	id := uint64(0)
	commit := func() {
		id++
		step(t, l, id, 150, commands)
	}
	for range 8 {
		commit()
	}
	if n := testing.AllocsPerRun(50, commit); n != 0 {
		t.Errorf("%v allocations for a frame", n)
	}
}

// BenchmarkStep commits frames of 64-byte orders. Its anchor is one write and one sync of
// as many bytes over zeros written before.
func BenchmarkStep(b *testing.B) {
	for _, count := range []int{1, 60, 1000, 4000} {
		commands := make([]byte, 64*count)
		b.Run(fmt.Sprintf("%d/log", count), func(b *testing.B) {
			l := openReal(b)
			id := uint64(0)
			b.SetBytes(int64(len(commands)))
			for b.Loop() {
				id++
				step(b, l, id, count, commands)
				b.StopTimer()
				if _, err := l.Prepare(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(b.N)*float64(count)/b.Elapsed().Seconds(), "commands/s")
		})
		b.Run(fmt.Sprintf("%d/anchor", count), func(b *testing.B) { anchor(b, journal.Room(len(commands))) })
	}
}

func anchor(b *testing.B, size int) {
	const length = 64 << 20
	f, err := openDir(b, b.TempDir()).Create("anchor")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, length), 0); err != nil {
		b.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
	entry, off := make([]byte, size), int64(0)
	b.SetBytes(int64(size))
	for b.Loop() {
		if _, err := f.WriteAt(entry, off); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		off = (off + int64(size)) % (length - int64(size)) / journal.Block * journal.Block
	}
	b.StopTimer()
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRead reads frames of 1,000 orders back, hash chain and all.
func BenchmarkRead(b *testing.B) {
	const frames, count = 500, 1000
	l := openReal(b)
	for id := range uint64(frames) {
		step(b, l, id+1, count, make([]byte, 64*count))
	}
	b.SetBytes(frames * 64 * count)
	for b.Loop() {
		r, err := l.Read(1)
		if err != nil {
			b.Fatal(err)
		}
		for range frames {
			if _, err := r.Next(); err != nil {
				b.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*frames*count/b.Elapsed().Seconds(), "commands/s")
}
