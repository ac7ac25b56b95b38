package main

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"testing"
	"time"
)

// TestWorkload compares the generator with the files with which every engine was
// measured.
func TestWorkload(t *testing.T) {
	for _, c := range []struct {
		resting int
		sum     string
		want    totals
	}{
		{1_000, "40ca4a809a1dbb0c4836bd4ce18f5be928677c7812ad0b852e311c3fb8266644", totals{1124471, 31826037, 3181835435416}},
		{100_000, "c1d113f01ec25248b703b20b171b752446b783310b7a8970a620fdd3ace42461", totals{2065653, 55771538, 5575284675471}},
	} {
		sum := sha256.New()
		got, err := generate(sum, c.resting, 5_000_000, 1)
		if err != nil {
			t.Fatal(err)
		}
		if s := hex.EncodeToString(sum.Sum(nil)); s != c.sum || got.totals != c.want {
			t.Errorf("%d resting: %s, %+v; want %s, %+v", c.resting, s, got.totals, c.sum, c.want)
		}
	}
}

// TestWaits counts arrivals during syncs of 30, 20 and 10 µs: an arrival in the first
// waits for its rest and the second.
func TestWaits(t *testing.T) {
	us := time.Microsecond
	got := waits([]time.Duration{30 * us, 20 * us, 10 * us})
	if want := []time.Duration{20 * us, 30 * us, 30 * us, 40 * us, 50 * us}; !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}
