package journal_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

func drawFrame(t *rapid.T) journal.Frame {
	f := journal.Frame{
		First:    bourse.Seq(rapid.Uint64().Draw(t, "first")),
		Term:     rapid.Uint64().Draw(t, "term"),
		Time:     bourse.Time(rapid.Int64().Draw(t, "time")),
		Commands: rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "commands"),
	}
	copy(f.Previous[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "previous"))
	if n := len(f.Commands); n > 0 {
		f.Count = rapid.IntRange(1, n).Draw(t, "count")
	}
	return f
}

func TestFrameRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := drawFrame(t)
		before := rapid.SliceOfN(rapid.Byte(), 0, 10).Draw(t, "before")
		b, sum := f.Append(bytes.Clone(before))
		if !bytes.Equal(b[:len(before)], before) {
			t.Fatal("what stood before the frame changed")
		}
		b = b[len(before):]
		var got journal.Frame
		size, again, err := journal.ParseFrame(append(bytes.Clone(b), "behind"...), &got)
		if err != nil || size != len(b) || again != sum || !bytes.Equal(got.Commands, f.Commands) {
			t.Fatalf("%+v becomes %+v: %d bytes, %v", f, got, size, err)
		}
		got.Commands, f.Commands = nil, nil
		if got.First != f.First || got.Count != f.Count || got.Term != f.Term || got.Time != f.Time || got.Previous != f.Previous {
			t.Fatalf("%+v becomes %+v", f, got)
		}
		at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
		b[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if _, _, err := journal.ParseFrame(b, &got); err == nil {
			t.Fatalf("a bit flipped at %d is not seen", at)
		}
	})
}

// TestFrameBytes pins the format: docs/format/journal.md.
func TestFrameBytes(t *testing.T) {
	f := journal.Frame{First: 0x0102, Count: 2, Term: 3, Time: 0x0405, Previous: journal.Hash{6, 31: 7}, Commands: []byte("abc")}
	b, sum := f.Append(nil)
	const want = "4f000000" + "01000000" + "0201000000000000" + "0200000000000000" + "0300000000000000" + "0504000000000000" +
		"0600000000000000000000000000000000000000000000000000000000000007" + "616263" + "53c4271b"
	if got := hex.EncodeToString(b); got != want {
		t.Errorf("frame is %s", got)
	}
	const hash = "da57b713e455f39c3328189f4f56325504f87ca985d6d12528d9ede506a6c7e4"
	if got := hex.EncodeToString(sum[:]); got != hash {
		t.Errorf("hash is %s", got)
	}
}

func FuzzParseFrame(f *testing.F) {
	b, _ := (&journal.Frame{First: 1, Count: 1, Commands: []byte("x")}).Append(nil)
	f.Add(b)
	f.Add(b[:len(b)-1])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var frame journal.Frame
		size, sum, err := journal.ParseFrame(b, &frame)
		if err != nil {
			return
		}
		again, same := frame.Append(nil)
		if !bytes.Equal(again, b[:size]) || same != sum {
			t.Fatalf("%x is read as %x", b[:size], again)
		}
	})
}

func TestNewerFrame(t *testing.T) {
	b, _ := (&journal.Frame{First: 1, Count: 1, Commands: []byte("x")}).Append(nil)
	b[4] = 2
	var f journal.Frame
	if _, _, err := journal.ParseFrame(resum(b), &f); !errors.Is(err, journal.ErrNewerFormat) {
		t.Fatal(err)
	}
}
