package state

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-exchange/bourse"
)

// value is one thing of the canonical form: how to write it and how to read it
// back.
type value struct {
	write func(*Writer)
	same  func(*Reader) bool
}

func draw(t *rapid.T) value {
	n := rapid.Uint64().Draw(t, "n")
	text := rapid.StringN(0, 40, 160).Draw(t, "text")
	a := bourse.Amount{Hi: n, Lo: ^n}
	return [...]value{
		{func(w *Writer) { w.Uint8(uint8(n)) }, func(r *Reader) bool { return r.Uint8() == uint8(n) }},
		{func(w *Writer) { w.Uint16(uint16(n)) }, func(r *Reader) bool { return r.Uint16() == uint16(n) }},
		{func(w *Writer) { w.Uint32(uint32(n)) }, func(r *Reader) bool { return r.Uint32() == uint32(n) }},
		{func(w *Writer) { w.Uint64(n) }, func(r *Reader) bool { return r.Uint64() == n }},
		{func(w *Writer) { w.Bool(n%2 == 0) }, func(r *Reader) bool { return r.Bool() == (n%2 == 0) }},
		{func(w *Writer) { w.Amount(a) }, func(r *Reader) bool { return r.Amount() == a }},
		{func(w *Writer) { w.Text(text) }, func(r *Reader) bool { return r.Text(160) == text }},
		{func(w *Writer) { w.Bytes([]byte(text)) }, func(r *Reader) bool {
			b := make([]byte, len(text))
			r.Bytes(b)
			return string(b) == text
		}},
	}[rapid.IntRange(0, 7).Draw(t, "kind")]
}

// TestRoundTrip reads back what was written, and wants every cut of it to be
// malformed.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var values []value
		for range rapid.IntRange(1, 20).Draw(t, "values") {
			values = append(values, draw(t))
		}
		var data []byte
		w := NewWriter(func(b []byte) { data = append(data, b...) })
		for _, v := range values {
			v.write(w)
		}
		w.Flush()
		r := NewReader(data)
		for i, v := range values {
			if !v.same(r) {
				t.Fatalf("value %d changed", i)
			}
		}
		if r.Err() != nil || r.Rest() != 0 {
			t.Fatalf("%v with %d bytes left", r.Err(), r.Rest())
		}
		if len(data) == 0 {
			return
		}
		r = NewReader(data[:rapid.IntRange(0, len(data)-1).Draw(t, "cut")])
		for _, v := range values {
			v.same(r)
		}
		if !errors.Is(r.Err(), ErrMalformed) {
			t.Fatal("a state that was cut is taken")
		}
	})
}

// TestLongState hands on a state that is longer than the buffer, in order.
func TestLongState(t *testing.T) {
	var data []byte
	w := NewWriter(func(b []byte) { data = append(data, b...) })
	for i := range uint64(50_000) {
		w.Uint64(i)
	}
	w.Text(strings.Repeat("x", 100_000))
	w.Flush()
	r := NewReader(data)
	for i := range uint64(50_000) {
		if got := r.Uint64(); got != i {
			t.Fatalf("%d is %d", i, got)
		}
	}
	if len(r.Text(100_000)) != 100_000 || r.Err() != nil {
		t.Error("the text changed")
	}
}

// TestRefuses wants what no writer writes to be refused.
func TestRefuses(t *testing.T) {
	for name, read := range map[string]func(*Reader){
		"bool 2":          func(r *Reader) { r.Bool() },
		"text too long":   func(r *Reader) { r.Text(1) },
		"count too large": func(r *Reader) { r.Count(1) },
	} {
		r := NewReader([]byte{2, 0, 0, 0, 0, 0, 0, 0, 'a'})
		read(r)
		if r.Err() == nil {
			t.Errorf("%s is taken", name)
		}
		if r.Uint64() != 0 || r.Rest() != 0 {
			t.Errorf("%s: something is read after the mistake", name)
		}
	}
}
