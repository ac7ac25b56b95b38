package codec

import (
	"encoding/binary"

	"github.com/bourse-exchange/bourse"
)

// flushAt is the number of bytes that a writer gathers before it emits them.
const flushAt = 64 << 10

// Codec writes values or reads them. It is not safe for concurrent use.
type Codec struct {
	// buf holds the bytes written and not emitted, or the bytes left to read.
	buf     []byte
	emit    func([]byte)
	reading bool
	failed  bool
}

// NewWriter returns a codec that writes, and calls emit with the bytes in order; emit
// must not keep them. Flush emits the last ones.
func NewWriter(emit func([]byte)) *Codec {
	return &Codec{buf: make([]byte, 0, flushAt+4096), emit: emit}
}

// NewReader returns a codec that reads b.
func NewReader(b []byte) *Codec { return &Codec{buf: b, reading: true} }

// Read resets c to read b.
func (c *Codec) Read(b []byte) { *c = Codec{buf: b, reading: true} }

// Append resets c to write behind dst; Bytes returns both.
func (c *Codec) Append(dst []byte) { *c = Codec{buf: dst} }

// Bytes returns the bytes written and not emitted.
func (c *Codec) Bytes() []byte { return c.buf }

// Flush emits the bytes written.
func (c *Codec) Flush() {
	c.emit(c.buf)
	c.buf = c.buf[:0]
}

// room emits the bytes written if they reach flushAt.
func (c *Codec) room() {
	if len(c.buf) >= flushAt && c.emit != nil {
		c.Flush()
	}
}

// OK reports whether no read has failed.
func (c *Codec) OK() bool { return !c.failed }

// Done reports whether all bytes were read and no read failed.
func (c *Codec) Done() bool { return !c.failed && len(c.buf) == 0 }

// Want fails the reading unless ok, and reports whether no read has failed.
func (c *Codec) Want(ok bool) bool {
	if !ok {
		c.failed, c.buf = true, nil
	}
	return !c.failed
}

// take returns the next n bytes; nil if there are fewer.
func (c *Codec) take(n int) []byte {
	if !c.Want(len(c.buf) >= n) {
		return nil
	}
	b := c.buf[:n]
	c.buf = c.buf[n:]
	return b
}

// Uint8 codes one byte.
func Uint8[T ~uint8](c *Codec, v *T) {
	if !c.reading {
		c.buf = append(c.buf, uint8(*v))
		return
	}
	*v = 0
	if b := c.take(1); b != nil {
		*v = T(b[0])
	}
}

// Uint16 codes two bytes.
func Uint16[T ~uint16](c *Codec, v *T) {
	if !c.reading {
		c.buf = binary.LittleEndian.AppendUint16(c.buf, uint16(*v))
		return
	}
	*v = 0
	if b := c.take(2); b != nil {
		*v = T(binary.LittleEndian.Uint16(b))
	}
}

// Uint32 codes four bytes.
func Uint32[T ~uint32](c *Codec, v *T) {
	if !c.reading {
		c.buf = binary.LittleEndian.AppendUint32(c.buf, uint32(*v))
		return
	}
	*v = 0
	if b := c.take(4); b != nil {
		*v = T(binary.LittleEndian.Uint32(b))
	}
}

// Uint64 codes eight bytes.
func Uint64[T ~uint64 | ~int64](c *Codec, v *T) {
	if !c.reading {
		c.room()
		c.buf = binary.LittleEndian.AppendUint64(c.buf, uint64(*v))
		return
	}
	*v = 0
	if b := c.take(8); b != nil {
		*v = T(binary.LittleEndian.Uint64(b))
	}
}

// Bool codes a flag.
func (c *Codec) Bool(v *bool) {
	var b uint8
	if *v {
		b = 1
	}
	Uint8(c, &b)
	if c.reading {
		*v = c.Want(b <= 1) && b == 1
	}
}

// Amount codes an amount.
func (c *Codec) Amount(a *bourse.Amount) {
	Uint64(c, &a.Lo)
	Uint64(c, &a.Hi)
}

// Fixed codes bytes of a known length.
func (c *Codec) Fixed(b []byte) {
	if !c.reading {
		c.room()
		c.buf = append(c.buf, b...)
		return
	}
	if from := c.take(len(b)); from != nil {
		copy(b, from)
	} else {
		clear(b)
	}
}

// length codes the length of a text of at most the given bytes.
func (c *Codec) length(n, most int) int {
	if !c.reading && n > most {
		bourse.Impossible("a text of %d bytes where %d are the most", n, most)
	}
	size := uint32(n)
	Uint32(c, &size)
	if c.reading && !c.Want(uint64(size) <= uint64(most) && uint64(size) <= uint64(len(c.buf))) {
		return 0
	}
	return int(size)
}

// Text codes a text of at most the given bytes.
func Text[T ~string](c *Codec, s *T, most int) {
	n := c.length(len(*s), most)
	if !c.reading {
		c.room()
		c.buf = append(c.buf, *s...)
		return
	}
	*s = T(c.take(n))
}

// Raw codes at most the given bytes. A reader gets a copy.
func (c *Codec) Raw(b *[]byte, most int) {
	n := c.length(len(*b), most)
	if c.reading {
		*b = make([]byte, n)
	}
	c.Fixed(*b)
}

// Count codes the length of a list and returns it. A reader gets at most the number of
// bytes left, and must stop when OK is false.
func (c *Codec) Count(n int) int { return c.count(n, 1) }

// count codes the length of a list whose entries take at least size bytes each.
func (c *Codec) count(n, size int) int {
	v := uint32(n)
	Uint32(c, &v)
	if c.reading && !c.Want(uint64(v) <= uint64(len(c.buf)/size)) {
		return 0
	}
	return int(v)
}

// List codes the length of a list whose entries take at least size bytes each, and
// returns the list, whose entries the caller then codes. A reader gets a new one, nil
// if it is empty.
func List[T any](c *Codec, list *[]T, size int) []T {
	n := c.count(len(*list), size)
	if c.reading {
		*list = nil
		if n > 0 {
			*list = make([]T, n)
		}
	}
	return *list
}

// New returns *p; a reader sets it to a new value first.
func New[T any](c *Codec, p **T) *T {
	if c.reading {
		*p = new(T)
	}
	return *p
}
