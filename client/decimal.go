package client

import (
	"cmp"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse"
)

// Decimal is a price or an amount as the interface writes it, digits around at most one point.
// It is empty where the exchange has nothing to say.
type Decimal string

// Amount returns the number as a count of units of 10^-scale. More decimals are an error.
func (d Decimal) Amount(scale uint8) (bourse.Amount, error) {
	return bourse.ParseAmount(string(d), scale)
}

// Cmp returns -1, 0 or +1 as d is less than, equal to or greater than e, however they are
// written. Both must be decimals.
func (d Decimal) Cmp(e Decimal) int {
	dWhole, dPart, _ := strings.Cut(string(d), ".")
	eWhole, ePart, _ := strings.Cut(string(e), ".")
	dWhole, eWhole = strings.TrimLeft(dWhole, "0"), strings.TrimLeft(eWhole, "0")
	return cmp.Or(
		cmp.Compare(len(dWhole), len(eWhole)),
		cmp.Compare(dWhole, eWhole),
		cmp.Compare(strings.TrimRight(dPart, "0"), strings.TrimRight(ePart, "0")),
	)
}

// IsZero reports whether the number is zero, or empty.
func (d Decimal) IsZero() bool { return strings.Trim(string(d), "0.") == "" }

// Time is a moment, to the microsecond.
type Time struct{ time.Time }

var errTime = errors.New("not a time in Unix seconds")

// UnmarshalJSON reads Unix seconds, as a text with six decimals or as an integer.
func (t *Time) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*t = Time{}
		return nil
	}
	whole, part, exact := strings.Cut(strings.Trim(string(text), `"`), ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return errTime
	}

	var micros uint64
	if exact {
		const decimals = 6
		if micros, err = strconv.ParseUint(part, 10, 32); err != nil || len(part) != decimals {
			return errTime
		}
	}
	*t = Time{time.Unix(seconds, int64(micros)*int64(time.Microsecond))}
	return nil
}
