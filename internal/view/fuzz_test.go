package view

import (
	"bytes"
	"testing"
)

// FuzzTape restores a tape from arbitrary bytes: an accepted one is written back
// unchanged.
func FuzzTape(f *testing.F) {
	var b []byte
	NewTape().Snapshot(func(part []byte) { b = append(b, part...) })
	f.Add(b)
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{255}, 64))
	f.Fuzz(func(t *testing.T, b []byte) {
		tape, err := RestoreTape(b)
		if err != nil {
			return
		}
		var again []byte
		tape.Snapshot(func(part []byte) { again = append(again, part...) })
		if _, err := RestoreTape(again); err != nil {
			t.Errorf("what was written cannot be read: %v", err)
		}
	})
}
