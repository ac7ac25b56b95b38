// Package state is the canonical form of the core's state in bytes: what
// snapshots hold and what the state hash covers.
//
// It stands below the other parts of the core. Integers are little-endian and
// of fixed width, texts and lists carry their length in front. There is one
// form for one state: whoever writes chooses an order that does not depend on
// memory, and whoever reads refuses what it did not expect.
package state

import (
	"encoding/binary"
	"errors"

	"github.com/bourse-exchange/bourse"
)

// flushAt is how much a Writer gathers before it hands its bytes on.
const flushAt = 64 << 10

// Writer appends values and hands the bytes on in pieces.
type Writer struct {
	buf  []byte
	emit func([]byte)
}

// NewWriter returns a writer that calls emit with the bytes in order; emit must
// not keep them.
func NewWriter(emit func([]byte)) *Writer {
	return &Writer{buf: make([]byte, 0, flushAt+4096), emit: emit}
}

// Flush hands on what is left.
func (w *Writer) Flush() {
	w.emit(w.buf)
	w.buf = w.buf[:0]
}

func (w *Writer) room() {
	if len(w.buf) >= flushAt {
		w.Flush()
	}
}

// Uint8 writes one byte.
func (w *Writer) Uint8(v uint8) { w.buf = append(w.buf, v) }

// Bool writes one byte, 0 or 1.
func (w *Writer) Bool(v bool) {
	if v {
		w.Uint8(1)
	} else {
		w.Uint8(0)
	}
}

// Uint16 writes two bytes.
func (w *Writer) Uint16(v uint16) { w.buf = binary.LittleEndian.AppendUint16(w.buf, v) }

// Uint32 writes four bytes.
func (w *Writer) Uint32(v uint32) { w.buf = binary.LittleEndian.AppendUint32(w.buf, v) }

// Uint64 writes eight bytes.
func (w *Writer) Uint64(v uint64) {
	w.room()
	w.buf = binary.LittleEndian.AppendUint64(w.buf, v)
}

// Amount writes sixteen bytes.
func (w *Writer) Amount(a bourse.Amount) {
	w.Uint64(a.Lo)
	w.Uint64(a.Hi)
}

// Bytes writes b without its length.
func (w *Writer) Bytes(b []byte) {
	w.room()
	w.buf = append(w.buf, b...)
}

// Text writes the length of s and s, which must be shorter than 2^32.
func (w *Writer) Text(s string) {
	w.Uint32(uint32(len(s)))
	w.room()
	w.buf = append(w.buf, s...)
}

// ErrMalformed says that bytes are not a state that this program wrote.
var ErrMalformed = errors.New("malformed state")

// Reader reads what a Writer wrote. After the first mistake it returns zeros.
type Reader struct {
	buf []byte
	bad bool
}

// NewReader returns a reader of b.
func NewReader(b []byte) *Reader { return &Reader{buf: b} }

// Err returns ErrMalformed if anything was missing or unexpected so far.
func (r *Reader) Err() error {
	if r.bad {
		return ErrMalformed
	}
	return nil
}

// Rest returns how many bytes have not been read.
func (r *Reader) Rest() int { return len(r.buf) }

// Fail marks the state as malformed.
func (r *Reader) Fail() { r.bad, r.buf = true, nil }

func (r *Reader) take(n int) []byte {
	if len(r.buf) < n {
		r.Fail()
		return nil
	}
	b := r.buf[:n]
	r.buf = r.buf[n:]
	return b
}

// Uint8 reads one byte.
func (r *Reader) Uint8() uint8 {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// Bool reads one byte, 0 or 1.
func (r *Reader) Bool() bool {
	v := r.Uint8()
	if v > 1 {
		r.Fail()
	}
	return v == 1
}

// Uint16 reads two bytes.
func (r *Reader) Uint16() uint16 {
	if b := r.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// Uint32 reads four bytes.
func (r *Reader) Uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// Uint64 reads eight bytes.
func (r *Reader) Uint64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// Amount reads sixteen bytes.
func (r *Reader) Amount() bourse.Amount {
	lo := r.Uint64()
	return bourse.Amount{Hi: r.Uint64(), Lo: lo}
}

// Bytes reads len(dst) bytes.
func (r *Reader) Bytes(dst []byte) { copy(dst, r.take(len(dst))) }

// Text reads a text of at most this many bytes.
func (r *Reader) Text(most int) string {
	n := r.Uint32()
	if n > uint32(most) {
		r.Fail()
		return ""
	}
	return string(r.take(int(n)))
}

// Count reads the length of a list whose entries take at least size bytes each,
// so that a malformed length cannot ask for more memory than there are bytes.
func (r *Reader) Count(size int) int {
	n := r.Uint64()
	if n > uint64(len(r.buf)/size) {
		r.Fail()
		return 0
	}
	return int(n)
}
