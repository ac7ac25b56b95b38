package hdkeys

import (
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// TestTable holds the table against a map.
func TestTable(t *testing.T) {
	if size := unsafe.Sizeof(slot{}); size != 24 {
		t.Errorf("a slot has %d bytes", size)
	}
	type owner struct {
		account uint32
		proven  bool
	}
	rapid.Check(t, func(t *rapid.T) {
		var w Table
		known := map[[20]byte]owner{}
		program := rapid.Custom(func(t *rapid.T) (p [20]byte) {
			// Few first bytes, so that programs want the same slots.
			p[0], p[19] = rapid.Byte().Draw(t, "first"), rapid.Byte().Draw(t, "last")
			return p
		})
		for range rapid.IntRange(0, 8).Draw(t, "times") {
			proven := rapid.Bool().Draw(t, "proven")
			var more [][20]byte
			for range rapid.IntRange(0, 60).Draw(t, "more") {
				p := program.Filter(func(p [20]byte) bool { return known[p].account == 0 }).Draw(t, "new")
				known[p] = owner{uint32(len(known)) + 1, proven}
				more = append(more, p)
			}
			w.Add(more, proven)
			if w.Last() != uint32(len(known)) {
				t.Fatalf("the last of %d accounts is %d", len(known), w.Last())
			}
			if n := len(known); n >= minSlots && len(w.slots)*24 > 64*n+24 {
				t.Fatalf("%d slots for %d addresses", len(w.slots), n)
			}
			for p, o := range known {
				if rapid.IntRange(0, 9).Draw(t, "prove") == 0 {
					w.Prove(&p)
					known[p] = owner{o.account, true}
				}
			}
		}
		for p, want := range known {
			if got, proven, ok := w.Find(&p); !ok || (owner{got, proven}) != want {
				t.Fatalf("%x is %d, %t, %t, and was %v", p, got, proven, ok, want)
			}
		}
		other := program.Draw(t, "other")
		if got, _, ok := w.Find(&other); got != known[other].account || ok != (known[other].account != 0) {
			t.Fatalf("%x is %d, %t", other, got, ok)
		}
	})
}
