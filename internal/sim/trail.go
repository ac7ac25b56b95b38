package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
)

// trailKept is the number of lines in a failure.
const trailKept = 60

// trail is a hash of everything observed, and the last events as text.
type trail struct {
	hash  hash.Hash
	buf   []byte
	lines []string
}

func newTrail() *trail { return &trail{hash: sha256.New()} }

// mark adds numbers to the hash.
func (t *trail) mark(numbers ...uint64) {
	for _, n := range numbers {
		t.buf = binary.LittleEndian.AppendUint64(t.buf, n)
	}
	t.flush()
}

// note adds an event to the hash and the lines.
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
