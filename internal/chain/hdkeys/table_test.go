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
	rapid.Check(t, func(t *rapid.T) {
		var w Table
		known := map[[20]byte]uint32{}
		program := rapid.Custom(func(t *rapid.T) (p [20]byte) {
			// Few first bytes, so that programs want the same slots.
			p[0], p[19] = rapid.Byte().Draw(t, "first"), rapid.Byte().Draw(t, "last")
			return p
		})
		for range rapid.IntRange(0, 8).Draw(t, "times") {
			last := uint32(len(known)) + rapid.Uint32Range(0, 60).Draw(t, "more")
			w.Extend(last, func(account uint32) [20]byte {
				p := rapid.Custom(func(t *rapid.T) [20]byte { return program.Draw(t, "p") }).
					Filter(func(p [20]byte) bool { return known[p] == 0 }).Draw(t, "new")
				known[p] = account
				return p
			})
			w.Extend(min(1, last), func(uint32) [20]byte { panic("an account again") })
			if n := len(known); n >= minSlots && len(w.slots)*24 > 64*n+24 {
				t.Fatalf("%d slots for %d addresses", len(w.slots), n)
			}
		}
		for p, account := range known {
			if got, ok := w.Find(&p); !ok || got != account {
				t.Fatalf("%x is %d, %t, and was %d", p, got, ok, account)
			}
		}
		other := program.Draw(t, "other")
		if got, ok := w.Find(&other); got != known[other] || ok != (known[other] != 0) {
			t.Fatalf("%x is %d, %t", other, got, ok)
		}
	})
}
