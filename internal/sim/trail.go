package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
)

// trailKept is how many lines a failure shows.
const trailKept = 60

// trail is what was observed: a hash of all of it, and the last events in words.
type trail struct {
	hash  hash.Hash
	buf   []byte
	lines []string
}

func newTrail() *trail { return &trail{hash: sha256.New()} }

// mark takes in numbers.
func (t *trail) mark(numbers ...uint64) {
	for _, n := range numbers {
		t.buf = binary.LittleEndian.AppendUint64(t.buf, n)
	}
	t.flush()
}

// note takes in something that is worth telling.
func (t *trail) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	t.buf = append(t.buf, line...)
	t.flush()
	if len(t.lines) == 2*trailKept {
		t.lines = append(t.lines[:0], t.lines[trailKept:]...)
	}
	t.lines = append(t.lines, line)
}

func (t *trail) flush() {
	t.hash.Write(t.buf)
	t.buf = t.buf[:0]
}

func (t *trail) last() []string { return t.lines[max(0, len(t.lines)-trailKept):] }

func (t *trail) sum() [32]byte { return [32]byte(t.hash.Sum(nil)) }
