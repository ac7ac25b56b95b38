package bourse_test

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-exchange/bourse"
)

func TestParseAmount(t *testing.T) {
	good := []struct {
		in    string
		scale uint8
		want  bourse.Amount
	}{
		{"0", 8, bourse.Units(0)},
		{"1", 0, bourse.Units(1)},
		{"1.5", 8, bourse.Units(150_000_000)},
		{".5", 1, bourse.Units(5)},
		{"5.", 2, bourse.Units(500)},
		{"000123.4500", 2, bourse.Units(12345)},
		{"1.10000000000000000000000000000000000000", 1, bourse.Units(11)},
		{"340282366920938463463374607431768211455", 0, bourse.MaxAmount},
		{"34028236692093846346.3374607431768211455", 19, bourse.MaxAmount},
	}
	for _, c := range good {
		got, err := bourse.ParseAmount(c.in, c.scale)
		if err != nil || got != c.want {
			t.Errorf("ParseAmount(%q, %d) = %v, %v; want %v", c.in, c.scale, got, err, c.want)
		}
	}
	bad := []struct {
		in    string
		scale uint8
	}{
		{"", 8},
		{".", 8},
		{" 1", 8},
		{"1 ", 8},
		{"+1", 8},
		{"-0", 8},
		{"1e5", 8},
		{"NaN", 8},
		{"0x10", 8},
		{"1_000", 8},
		{"1,5", 8},
		{"1.2.3", 8},
		{"１", 8},
		{"1.123", 2},
		{"0.000000001", 8},
		{strings.Repeat("0", 41), 8},
		{"340282366920938463463374607431768211456", 0},
		{"34028236692093846346.3374607431768211456", 19},
		{"3402823669209384634633746074317682114560", 0},
	}
	for _, c := range bad {
		got, err := bourse.ParseAmount(c.in, c.scale)
		var e *bourse.Error
		if !errors.As(err, &e) || e.Code != bourse.CodeInvalid || !got.IsZero() {
			t.Errorf("ParseAmount(%q, %d) = %v, %v; want an error", c.in, c.scale, got, err)
		}
	}
}

func TestParsePriceAndLots(t *testing.T) {
	if p, err := bourse.ParsePrice("60000.01", 2); err != nil || p != 6_000_001 {
		t.Errorf("price = %d, %v", p, err)
	}
	for _, in := range []string{"0", "0.00", "4611686018427387904", "18446744073709551617"} {
		if p, err := bourse.ParsePrice(in, 0); err == nil {
			t.Errorf("ParsePrice(%q) = %d, want an error", in, p)
		}
		if l, err := bourse.ParseLots(in, 0); err == nil {
			t.Errorf("ParseLots(%q) = %d, want an error", in, l)
		}
	}
	if l, err := bourse.ParseLots("4611686018427387903", 0); err != nil || l != bourse.MaxLots {
		t.Errorf("lots = %d, %v", l, err)
	}
}

func TestParseRate(t *testing.T) {
	if r, err := bourse.ParseRate("0.001"); err != nil || r != 1000 || r.Format() != "0.001" {
		t.Errorf("rate = %d (%s), %v", r, r.Format(), err)
	}
	for r, want := range map[bourse.Rate]string{0: "0", 1: "0.0001", 1000: "0.1", 10_000: "1", bourse.RateOne - 1: "99.9999"} {
		if got := r.Percent(); got != want {
			t.Errorf("rate %d is %s percent, want %s", r, got, want)
		}
	}
	for _, in := range []string{"1", "1.0", "0.0000001", "-0.1", ""} {
		if r, err := bourse.ParseRate(in); err == nil {
			t.Errorf("ParseRate(%q) = %d, want an error", in, r)
		}
	}
}

// TestFormat holds both forms against big integers, and reads the result back.
func TestFormat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := amount().Draw(t, "a")
		scale := uint8(rapid.IntRange(0, bourse.MaxScale).Draw(t, "scale"))
		want := toBig(a).String()
		if scale > 0 {
			want = fmt.Sprintf("%0*s", int(scale)+1, want)
			want = want[:len(want)-int(scale)] + "." + want[len(want)-int(scale):]
		}
		if got := string(a.AppendFixed(nil, scale)); got != want {
			t.Fatalf("fixed = %q, want %q", got, want)
		}
		if scale > 0 {
			want = strings.TrimSuffix(strings.TrimRight(want, "0"), ".")
		}
		got := a.Format(scale)
		if got != want {
			t.Fatalf("trimmed = %q, want %q", got, want)
		}
		if len(got) <= bourse.MaxDecimalLen {
			if back, err := bourse.ParseAmount(got, scale); err != nil || back != a {
				t.Fatalf("%q reads as %v, %v", got, back, err)
			}
		}
	})
}

func TestTimeFormat(t *testing.T) {
	for in, want := range map[bourse.Time]string{
		0:                         "0.000000",
		1:                         "0.000001",
		1_700_000_000_123_456:     "1700000000.123456",
		1_700_000_000 * 1_000_000: "1700000000.000000",
	} {
		if got := string(in.Append(nil)); got != want {
			t.Errorf("time %d = %s, want %s", in, got, want)
		}
	}
	if got := bourse.Time(-1).Seconds(); got != -1 {
		t.Errorf("seconds of -1 µs = %d", got)
	}
}

func FuzzParseAmount(f *testing.F) {
	for _, s := range []string{"0", "1.5", ".5", "5.", "00.10", "1e5", "340282366920938463463374607431768211455"} {
		f.Add(s, uint8(8))
	}
	f.Fuzz(func(t *testing.T, s string, scale uint8) {
		scale %= bourse.MaxScale + 1
		got, err := bourse.ParseAmount(s, scale)
		if err != nil {
			return
		}
		// Rat takes a leading zero for octal, and no point at either end.
		plain := strings.TrimSuffix(strings.TrimLeft(s, "0"), ".")
		if plain == "" || plain[0] == '.' {
			plain = "0" + plain
		}
		want, ok := new(big.Rat).SetString(plain)
		if !ok {
			t.Fatalf("%q was read as a decimal", s)
		}
		have := new(big.Rat).SetFrac(toBig(got), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
		if have.Cmp(want) != 0 {
			t.Fatalf("%q = %s, want %s", s, have, want)
		}
	})
}
