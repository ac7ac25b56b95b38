package rpc

import (
	"errors"
	"math/big"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
)

// Number is a number of JSON, by its digits.
type Number string

var errNumber = errors.New("not a number that can be counted")

// maxNumber bounds a number's text, in bytes, and maxExponent its exponent: amounts of every
// network are far below, and the arithmetic stays small.
const (
	maxNumber   = 60
	maxExponent = 60
)

// UnmarshalJSON reads a number.
func (n *Number) UnmarshalJSON(text []byte) error {
	if jsontext.Value(text).Kind() != jsontext.KindNumber || len(text) > maxNumber {
		return errNumber
	}
	*n = Number(text)
	return nil
}

// Units returns the number times 10^decimals; false unless that is a whole amount.
func (n Number) Units(decimals uint8) (bourse.Amount, bool) {
	digits, exponent := n.split()
	exponent += int(decimals)
	v, ok := new(big.Int).SetString(digits, 10)
	if !ok || v.Sign() < 0 || exponent > maxExponent || exponent < -2*maxExponent {
		return bourse.Amount{}, false
	}

	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exponent, -exponent))), nil)
	if exponent >= 0 {
		v.Mul(v, power)
	} else if _, rest := v.QuoRem(v, power, new(big.Int)); rest.Sign() != 0 {
		return bourse.Amount{}, false
	}

	a, err := bourse.ParseAmount(v.String(), 0)
	return a, err == nil
}

// split returns a number's digits without point and exponent, and the power of ten to multiply
// them by.
func (n Number) split() (digits string, exponent int) {
	point := -1
	for i := range len(n) {
		switch c := n[i]; c {
		case '.':
			point = len(digits)
		case 'e', 'E':
			return digits, fraction(digits, point) + parseExponent(string(n[i+1:]))
		default:
			digits += string(c)
		}
	}
	return digits, fraction(digits, point)
}

// fraction returns minus the number of digits behind the point.
func fraction(digits string, point int) int {
	if point < 0 {
		return 0
	}
	return point - len(digits)
}

// parseExponent reads an exponent; beyond maxExponent it is some larger one.
func parseExponent(s string) int {
	sign, n := 1, 0
	for _, c := range s {
		switch {
		case c == '-':
			sign = -1
		case c >= '0' && c <= '9' && n <= 10*maxExponent:
			n = 10*n + int(c-'0')
		}
	}
	return sign * n
}
