package evm

import "math/bits"

// Marks of RLP: a string or list of up to 55 bytes has its length in its first byte, a longer one
// the length of its length.
const (
	rlpString = 0x80
	rlpList   = 0xc0
	rlpShort  = 55
)

// appendString appends a string.
func appendString(b, s []byte) []byte {
	if len(s) == 1 && s[0] < rlpString {
		return append(b, s[0])
	}
	return append(appendHead(b, rlpString, len(s)), s...)
}

// appendUint appends a number, which is a string without leading zeros.
func appendUint(b []byte, n uint64) []byte {
	var s []byte
	for shift := (bits.Len64(n) + 7) / 8 * 8; shift > 0; shift -= 8 {
		s = append(s, byte(n>>(shift-8)))
	}
	return appendString(b, s)
}

// appendList appends a list with this content.
func appendList(b, content []byte) []byte {
	return append(appendHead(b, rlpList, len(content)), content...)
}

// list returns a list with this content.
func list(content []byte) []byte { return appendList(nil, content) }

func appendHead(b []byte, mark byte, size int) []byte {
	if size <= rlpShort {
		return append(b, mark+byte(size))
	}
	n := (bits.Len(uint(size)) + 7) / 8
	b = append(b, mark+rlpShort+byte(n))
	for shift := 8 * (n - 1); shift >= 0; shift -= 8 {
		b = append(b, byte(size>>shift))
	}
	return b
}

// reader reads the content of a list. After an error, bad is set and every further read is empty.
type reader struct {
	b   []byte
	bad bool
}

// next reads a string or a list, in its shortest form.
func (r *reader) next(mark byte) []byte {
	if r.bad || len(r.b) == 0 {
		r.bad = true
		return nil
	}
	first := r.b[0]
	if mark == rlpString && first < rlpString {
		s := r.b[:1]
		r.b = r.b[1:]
		return s
	}
	if first < mark || mark == rlpString && first >= rlpList {
		r.bad = true
		return nil
	}

	size, head := int(first-mark), 1
	if size > rlpShort {
		if size, head = r.long(size - rlpShort); r.bad {
			return nil
		}
	}
	if size > len(r.b)-head {
		r.bad = true
		return nil
	}
	s := r.b[head : head+size]
	r.b = r.b[head+size:]
	if mark == rlpString && size == 1 && s[0] < rlpString {
		r.bad = true
	}
	return s
}

// long reads a length of n bytes behind the first byte.
func (r *reader) long(n int) (size, head int) {
	const most = 4 // bytes of a length: 4 GiB
	if n > most || len(r.b) <= n || r.b[1] == 0 {
		r.bad = true
		return 0, 0
	}
	for _, c := range r.b[1 : 1+n] {
		size = size<<8 | int(c)
	}
	if size <= rlpShort {
		r.bad = true
	}
	return size, 1 + n
}

// bytes reads a string.
func (r *reader) bytes() []byte { return r.next(rlpString) }

// list reads a list.
func (r *reader) list() *reader {
	content := r.next(rlpList)
	return &reader{b: content, bad: r.bad}
}

// number reads a number of up to size bytes.
func (r *reader) number(size int) []byte {
	s := r.bytes()
	if len(s) > size || len(s) > 0 && s[0] == 0 {
		r.bad = true
		return nil
	}
	return s
}

// uint64 reads a number of 64 bits.
func (r *reader) uint64() (n uint64) {
	for _, c := range r.number(8) {
		n = n<<8 | uint64(c)
	}
	return n
}

// end reports whether everything was read without an error.
func (r *reader) end() bool { return !r.bad && len(r.b) == 0 }
