package bourse

import "math/bits"

// Amount is an unsigned 128-bit count of an asset's ledger units: 1.5 of an asset with
// ledger scale 8 is 150,000,000. No operation wraps: each one that can leave the range
// reports it.
type Amount struct{ Hi, Lo uint64 }

// MaxAmount is the largest Amount, 2^128-1 ledger units.
var MaxAmount = Amount{^uint64(0), ^uint64(0)}

// Units returns n ledger units.
func Units(n uint64) Amount { return Amount{Lo: n} }

// IsZero reports whether a is zero.
func (a Amount) IsZero() bool { return a.Hi|a.Lo == 0 }

// Less reports whether a < b.
func (a Amount) Less(b Amount) bool {
	return a.Hi < b.Hi || a.Hi == b.Hi && a.Lo < b.Lo
}

// Cmp returns -1, 0 or +1 as a is less than, equal to or greater than b.
func (a Amount) Cmp(b Amount) int {
	switch {
	case a == b:
		return 0
	case a.Less(b):
		return -1
	}
	return 1
}

// Add returns a+b, and false if the sum does not fit.
func (a Amount) Add(b Amount) (Amount, bool) {
	lo, carry := bits.Add64(a.Lo, b.Lo, 0)
	hi, carry := bits.Add64(a.Hi, b.Hi, carry)
	return Amount{hi, lo}, carry == 0
}

// Sub returns a-b, and false if b is greater than a.
func (a Amount) Sub(b Amount) (Amount, bool) {
	lo, borrow := bits.Sub64(a.Lo, b.Lo, 0)
	hi, borrow := bits.Sub64(a.Hi, b.Hi, borrow)
	return Amount{hi, lo}, borrow == 0
}

// Constants keep Plus and Minus small enough to be inlined.
const (
	errAmountOverflow  InvariantError = "amount overflow"
	errAmountBelowZero InvariantError = "amount below zero"
)

// Plus returns a+b. The caller has shown that the sum fits; otherwise Plus panics with an
// [InvariantError].
func (a Amount) Plus(b Amount) Amount {
	sum, ok := a.Add(b)
	if !ok {
		panic(errAmountOverflow)
	}
	return sum
}

// PlusOrMax returns a+b, or MaxAmount if the sum does not fit: a statistic must not stop the
// exchange.
func (a Amount) PlusOrMax(b Amount) Amount {
	if sum, ok := a.Add(b); ok {
		return sum
	}
	return MaxAmount
}

// Minus returns a-b. The caller has shown that b ≤ a; otherwise Minus panics with an
// [InvariantError].
func (a Amount) Minus(b Amount) Amount {
	diff, ok := a.Sub(b)
	if !ok {
		panic(errAmountBelowZero)
	}
	return diff
}

// Mul returns a×n, and false if the product does not fit.
func (a Amount) Mul(n uint64) (Amount, bool) {
	hi, lo := bits.Mul64(a.Lo, n)
	over, mid := bits.Mul64(a.Hi, n)
	mid, carry := bits.Add64(mid, hi, 0)
	return Amount{mid, lo}, over|carry == 0
}

// MulDiv returns a×b÷n rounded down, and false if the quotient does not fit. The product
// may have 256 bits. n must not be zero.
func (a Amount) MulDiv(b Amount, n uint64) (Amount, bool) {
	var words [4]uint64 // of the product, lowest first
	words[1], words[0] = bits.Mul64(a.Lo, b.Lo)
	words[3], words[2] = bits.Mul64(a.Hi, b.Hi)
	for _, factors := range [...][2]uint64{{a.Hi, b.Lo}, {a.Lo, b.Hi}} {
		hi, lo := bits.Mul64(factors[0], factors[1])
		var carry uint64
		words[1], carry = bits.Add64(words[1], lo, 0)
		words[2], carry = bits.Add64(words[2], hi, carry)
		words[3] += carry
	}

	var rest uint64
	for i := len(words) - 1; i >= 0; i-- {
		words[i], rest = bits.Div64(rest, words[i], n)
	}
	return Amount{words[1], words[0]}, words[2]|words[3] == 0
}

// Div64 returns the quotient and remainder of a÷n. n must not be zero.
func (a Amount) Div64(n uint64) (quotient Amount, remainder uint64) {
	quotient.Hi, remainder = a.Hi/n, a.Hi%n
	quotient.Lo, remainder = bits.Div64(remainder, a.Lo, n)
	return quotient, remainder
}

// Div returns the quotient and remainder of a÷b. b must not be zero.
func (a Amount) Div(b Amount) (quotient, remainder Amount) {
	if b.Hi == 0 {
		q, r := a.Div64(b.Lo)
		return q, Amount{Lo: r}
	}

	// b is at least 2^64, so the quotient fits one word. Dividing both sides,
	// shifted so that b's top bit is set, by b's high word alone overestimates
	// it by at most one (Knuth, The Art of Computer Programming 4.3.1, D3).
	shift := uint(bits.LeadingZeros64(b.Hi))
	high := b.Hi<<shift | b.Lo>>(64-shift)
	q, _ := bits.Div64(a.Hi>>1, a.Hi<<63|a.Lo>>1, high)
	q >>= 63 - shift
	if q > 0 {
		q--
	}

	product, _ := b.Mul(q)
	r := a.Minus(product)
	if !r.Less(b) {
		q++
		r = r.Minus(b)
	}
	return Amount{Lo: q}, r
}
