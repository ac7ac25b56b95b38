package node

import (
	"testing"

	"github.com/bourse-exchange/bourse"
)

// TestLimitStaysALimit counts limits in the units of coins: rounded down, and never to
// zero, which would be no limit.
func TestLimitStaysALimit(t *testing.T) {
	for _, c := range []struct {
		limit    string
		decimals uint8
		units    uint64
	}{
		{"1.5", 8, 150_000_000}, {"0.000000019", 8, 1}, {"0.000000001", 8, 1}, {"0.1", 0, 1}, {"2.9", 0, 2},
		{"0", 8, 0}, {"1", 18, 1e18},
	} {
		limit, err := bourse.ParseAmount(c.limit, SignerScale)
		if err != nil {
			t.Fatal(err)
		}
		if got := units(limit, c.decimals); got != bourse.Units(c.units) {
			t.Errorf("%s with %d decimals is %s units, wanted %d", c.limit, c.decimals, got.Format(0), c.units)
		}
	}
}
