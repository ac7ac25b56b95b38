package enginetest

// Source makes the choices of a workload.
type Source interface {
	// Below returns a choice in [0, n). n must not be zero.
	Below(n uint64) uint64
	// Done reports whether the source is used up.
	Done() bool
}

// Seed is an endless source: splitmix64 (Steele, Lea and Flood, Fast Splittable
// Pseudorandom Number Generators, 2014).
type Seed uint64

// Below returns a choice in [0, n).
func (s *Seed) Below(n uint64) uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return (z ^ z>>31) % n
}

// Done returns false.
func (s *Seed) Done() bool { return false }

// Bytes is a source fed by a fuzzer: a byte for a small choice, eight for a large one,
// zeros at the end.
type Bytes []byte

// Below returns a choice in [0, n).
func (b *Bytes) Below(n uint64) uint64 {
	size := 1
	if n > 256 {
		size = 8
	}
	var v uint64
	for ; size > 0 && len(*b) > 0; size-- {
		v = v<<8 | uint64((*b)[0])
		*b = (*b)[1:]
	}
	return v % n
}

// Done reports whether all bytes were used.
func (b *Bytes) Done() bool { return len(*b) == 0 }
