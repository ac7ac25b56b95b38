package bourse

import (
	"math"
	"math/bits"
	"strconv"
)

// MaxDecimalLen bounds the input of ParseAmount, in bytes.
const MaxDecimalLen = 40

// MaxScale is the largest ledger scale or precision, in decimals. 10^19 is the
// largest power of ten in one word; with 128 bits above it an asset of scale 19
// still holds 3×10^19 whole units.
const MaxScale = 19

// pow10 holds the powers of ten that fit one word.
var pow10 = func() (p [MaxScale + 1]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

// Pow10 returns 10^n for n in [0, MaxScale].
func Pow10(n uint8) uint64 { return pow10[n] }

// ParseAmount reads digits[.digits], also ".5" and "5.", as a count of units of
// 10^-scale. Trailing zeros do not count as decimals. More than scale decimals is an
// error: ParseAmount never rounds. The error is an *Error with CodeInvalid.
func ParseAmount(s string, scale uint8) (Amount, error) {
	whole, fraction, ok := splitDecimal(s)
	if !ok {
		return Amount{}, Errorf(CodeInvalid,
			"not a decimal number (digits[.digits], at most %d characters)", MaxDecimalLen)
	}

	for len(fraction) > 0 && fraction[len(fraction)-1] == '0' {
		fraction = fraction[:len(fraction)-1]
	}
	if len(fraction) > int(scale) {
		return Amount{}, Errorf(CodeInvalid, "more than %d decimals", scale)
	}

	a, fits := appendDigits(Amount{}, whole, true)
	a, fits = appendDigits(a, fraction, fits)
	if pad := int(scale) - len(fraction); fits && pad > 0 {
		a, fits = a.Mul(pow10[pad])
	}

	if !fits {
		return Amount{}, Errorf(CodeInvalid, "number too large")
	}
	return a, nil
}

// splitDecimal cuts s at its point and checks the grammar.
func splitDecimal(s string) (whole, fraction string, ok bool) {
	if len(s) == 0 || len(s) > MaxDecimalLen {
		return "", "", false
	}
	point := len(s)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
		case c == '.' && point == len(s):
			point = i
		default:
			return "", "", false
		}
	}
	if point == len(s) {
		return s, "", true
	}
	return s[:point], s[point+1:], len(s) > 1
}

// appendDigits returns a×10^len(digits) + digits, and whether it fits.
func appendDigits(a Amount, digits string, fits bool) (Amount, bool) {
	for i := 0; i < len(digits) && fits; i++ {
		if a, fits = a.Mul(10); fits {
			a, fits = a.Add(Amount{Lo: uint64(digits[i] - '0')})
		}
	}
	return a, fits
}

// ParsePrice reads a decimal as ticks of 10^-precision. It must be in
// [1, MaxPrice] ticks; the error is an *Error with CodeInvalid.
func ParsePrice(s string, precision uint8) (Price, error) {
	n, err := parseCount(s, precision, uint64(MaxPrice))
	return Price(n), err
}

// ParseLots reads a decimal as lots of 10^-precision. It must be in
// [1, MaxLots]; the error is an *Error with CodeInvalid.
func ParseLots(s string, precision uint8) (Lots, error) {
	n, err := parseCount(s, precision, uint64(MaxLots))
	return Lots(n), err
}

func parseCount(s string, precision uint8, most uint64) (uint64, error) {
	a, err := ParseAmount(s, precision)
	switch {
	case err != nil:
		return 0, err
	case a.IsZero():
		return 0, Errorf(CodeInvalid, "must be greater than zero")
	case a.Hi != 0 || a.Lo > most:
		return 0, Errorf(CodeInvalid, "number too large")
	}
	return a.Lo, nil
}

// Append appends a as a plain decimal of the given scale, trailing zeros
// trimmed.
func (a Amount) Append(dst []byte, scale uint8) []byte {
	start := len(dst)
	dst = a.AppendFixed(dst, scale)
	if scale == 0 {
		return dst
	}
	end := len(dst)
	for dst[end-1] == '0' && end > start {
		end--
	}
	if dst[end-1] == '.' {
		end--
	}
	return dst[:end]
}

// AppendFixed appends a as a plain decimal with exactly scale decimals.
func (a Amount) AppendFixed(dst []byte, scale uint8) []byte {
	if a.Hi == 0 {
		return appendFixed64(dst, a.Lo, scale)
	}
	// At most 39 digits, written from the right in words of 19.
	var buf [64]byte
	at := len(buf)
	for left := a; !left.IsZero() || len(buf)-at <= int(scale); {
		var word uint64
		left, word = left.Div64(pow10[MaxScale])
		for i := 0; i < MaxScale && (word > 0 || !left.IsZero() || len(buf)-at <= int(scale)); i++ {
			at--
			buf[at] = byte('0' + word%10)
			word /= 10
		}
	}

	point := len(buf) - int(scale)
	dst = append(dst, buf[at:point]...)
	if scale == 0 {
		return dst
	}
	dst = append(dst, '.')
	return append(dst, buf[point:]...)
}

func appendFixed64(dst []byte, n uint64, scale uint8) []byte {
	if scale == 0 {
		return strconv.AppendUint(dst, n, 10)
	}
	unit := pow10[scale]
	dst = strconv.AppendUint(dst, n/unit, 10)
	dst = append(dst, '.')
	fraction := n % unit
	for digits := scale; digits > 1 && fraction < pow10[digits-1]; digits-- {
		dst = append(dst, '0')
	}
	return strconv.AppendUint(dst, fraction, 10)
}

// Format returns a as a plain decimal of the given scale, trailing zeros
// trimmed.
func (a Amount) Format(scale uint8) string { return string(a.Append(nil, scale)) }

// Append appends p as a plain decimal, trailing zeros trimmed.
func (p Price) Append(dst []byte, precision uint8) []byte {
	return Amount{Lo: uint64(p)}.Append(dst, precision)
}

// Format returns p as a plain decimal, trailing zeros trimmed.
func (p Price) Format(precision uint8) string { return string(p.Append(nil, precision)) }

// Append appends l as a plain decimal, trailing zeros trimmed.
func (l Lots) Append(dst []byte, precision uint8) []byte {
	return Amount{Lo: uint64(l)}.Append(dst, precision)
}

// Format returns l as a plain decimal, trailing zeros trimmed.
func (l Lots) Format(precision uint8) string { return string(l.Append(nil, precision)) }

// RateOne is the rate 1, in the millionths that a [Rate] counts.
const RateOne = 1_000_000

// Rate is a share or a ratio in millionths: a fee of 0.1 % is 1,000.
type Rate uint32

// ParseRate reads a decimal in [0, 1) with at most six decimals. The error is
// an *Error with CodeInvalid.
func ParseRate(s string) (Rate, error) {
	a, err := ParseAmount(s, 6)
	if err != nil {
		return 0, err
	}
	if a.Hi != 0 || a.Lo >= RateOne {
		return 0, Errorf(CodeInvalid, "a rate must be less than 1")
	}
	return Rate(a.Lo), nil
}

// ParseRatio reads a decimal above 1 with at most six decimals, at most
// 4294.967295. The error is an *Error with CodeInvalid.
func ParseRatio(s string) (Rate, error) {
	a, err := ParseAmount(s, 6)
	if err != nil {
		return 0, err
	}
	if a.Hi != 0 || a.Lo <= RateOne || a.Lo > math.MaxUint32 {
		return 0, Errorf(CodeInvalid, "a ratio must be more than 1 and at most 4294.967295")
	}
	return Rate(a.Lo), nil
}

// Format returns r as a plain decimal, trailing zeros trimmed.
func (r Rate) Format() string { return Amount{Lo: uint64(r)}.Format(6) }

// Percent returns r in percent as a plain decimal, trailing zeros trimmed: 1,000 is 0.1.
func (r Rate) Percent() string { return Amount{Lo: uint64(r)}.Format(4) }

// FeeOn returns the share r of a, rounded up to a ledger unit. r must be below RateOne,
// so the fee never exceeds a.
func (r Rate) FeeOn(a Amount) Amount {
	if r == 0 {
		return Amount{}
	}
	carry, low := bits.Mul64(a.Lo, uint64(r))
	if a.Hi|carry == 0 && low <= ^uint64(0)-(RateOne-1) {
		return Amount{Lo: (low + RateOne - 1) / RateOne} // nearly all fees
	}

	// a×r has at most 148 bits: top:mid:low.
	top, mid := bits.Mul64(a.Hi, uint64(r))
	mid, over := bits.Add64(mid, carry, 0)
	top += over
	// Rounding up adds RateOne-1 before the division; top stays below RateOne
	// because r is, so neither division can overflow its word.
	low, over = bits.Add64(low, RateOne-1, 0)
	mid, over = bits.Add64(mid, 0, over)
	top += over
	hi, rest := bits.Div64(top, mid, RateOne)
	lo, _ := bits.Div64(rest, low, RateOne)
	return Amount{hi, lo}
}
