package main

import (
	"bytes"
	"math"
	"testing"
)

// FuzzConfig reads configuration files and the settings in them.
func FuzzConfig(f *testing.F) {
	for _, s := range []string{"", "data: x", "data: [", "a: {b: {c: 1}}", "a: &a [*a]", "1: 2", "- 1", "--- 1\n--- 2", "64MiB", "4294967295GiB", "-1", "1e3", "20:100", "NaN", "Inf:1", "0:0", "1:-1", "\xff"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = new(configFile).load(bytes.NewReader(text))
		var s size
		if s.UnmarshalText(text) == nil && s > math.MaxUint32<<30 {
			t.Errorf("%q is %d bytes", text, s)
		}
		var r rate
		if r.UnmarshalText(text) == nil && (!(r.PerSecond >= 0 && r.PerSecond <= 1e9) || r.Burst < 1) {
			t.Errorf("%q is %+v", text, r)
		}
	})
}
