package bourse_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
)

// FuzzCounts reads prices, lots and rates: what is taken is in bounds, and is the
// same when it is written and read again.
func FuzzCounts(f *testing.F) {
	for _, s := range []string{"0", "1", "0.000001", "0.999999", "1.0", "", "-1", "1e5", "9223372036854775807", "9223372036854775808", "00.1", ".5", "5.", "0x1p4"} {
		f.Add(s, uint8(6))
	}
	f.Fuzz(func(t *testing.T, s string, precision uint8) {
		precision %= 19
		if p, err := bourse.ParsePrice(s, precision); err == nil {
			again, err := bourse.ParsePrice(p.Format(precision), precision)
			if err != nil || again != p || p < 1 || p > bourse.MaxPrice {
				t.Errorf("price %q is %d, and again %d: %v", s, p, again, err)
			}
		}
		if n, err := bourse.ParseLots(s, precision); err == nil {
			again, err := bourse.ParseLots(n.Format(precision), precision)
			if err != nil || again != n || n < 1 || n > bourse.MaxLots {
				t.Errorf("lots %q are %d, and again %d: %v", s, n, again, err)
			}
		}
		if r, err := bourse.ParseRate(s); err == nil {
			if again, err := bourse.ParseRate(r.Format()); err != nil || again != r || r >= bourse.RateOne {
				t.Errorf("rate %q is %d, and again %d: %v", s, r, again, err)
			}
		}
	})
}

// FuzzWords reads the closed sets of words and the names that clients give: what
// is taken is written as it was.
func FuzzWords(f *testing.F) {
	for _, s := range []string{"", "BUY", "buy", "LIMIT", "GTC", "none", "open", "DONE", "a-Z.0_9:", "\x00", "\u212a", "123456789012345678901234567890123456", "1234567890123456789012345678901234567"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v, ok := bourse.ParseSide(s); ok && v.String() != s {
			t.Errorf("side %q is %s", s, v)
		}
		if v, ok := bourse.ParseOrderType(s); ok && v.String() != s {
			t.Errorf("type %q is %s", s, v)
		}
		if v, ok := bourse.ParseTimeInForce(s); ok && v.String() != s {
			t.Errorf("time in force %q is %s", s, v)
		}
		if v, ok := bourse.ParseMarketState(s); ok && v.String() != s {
			t.Errorf("state %q is %s", s, v)
		}
		if v, ok := bourse.ParseWalletStatus(s); ok && v.String() != s {
			t.Errorf("status %q is %s", s, v)
		}
		if id, err := bourse.ParseClientID(s); err == nil && (id.String() != s || id.IsZero()) {
			t.Errorf("client id %q is %s", s, id)
		}
	})
}
