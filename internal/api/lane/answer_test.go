package lane

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// orderAnswer returns an answer to an order, with or without the headers of a limit.
func orderAnswer(a *answer, limited bool) {
	a.reset()
	a.header["Access-Control-Allow-Origin"] = anyOrigin
	a.header["Content-Type"] = jsonType
	a.header["Content-Length"] = length
	if limited {
		a.header["Access-Control-Expose-Headers"] = exposed
		a.SetLimit(1e9, 999_999_998, 12)
	}
	_, _ = a.Write([]byte(`{"success":true}`))
}

var (
	anyOrigin, jsonType = []string{"*"}, []string{"application/json"}
	length, exposed     = []string{"16"}, []string{"RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After"}
)

// TestLimitOfAnAnswer checks the place of the headers of a limit, wherever the names of the
// others are, and that they do not outlive their answer.
func TestLimitOfAnAnswer(t *testing.T) {
	a := &answer{header: http.Header{}}
	for _, others := range [][]string{nil, {"A", "Z"}, {"A"}, {"Retry-After"}, {"Content-Type", "RateLimit-A"}} {
		a.reset()
		for _, name := range others {
			a.header[name] = []string{"1"}
		}
		a.SetLimit(30, 0, 7)
		text := string(a.append(nil, time.Now(), false))
		want := "RateLimit-Limit: 30\r\nRateLimit-Remaining: 0\r\nRateLimit-Reset: 7\r\n"
		if strings.Count(text, want) != 1 || strings.Count(text, "RateLimit-L") != 1 {
			t.Errorf("%q: %s", others, text)
		}

		var names []string
		for line := range strings.SplitSeq(text, "\r\n") {
			if name, _, ok := strings.Cut(line, ": "); ok && name != "Date" && name != "Content-Length" {
				names = append(names, name)
			}
		}
		if !slices.IsSorted(names) || len(names) != len(others)+3 {
			t.Errorf("names are %q", names)
		}
	}

	a.reset()
	if text := string(a.append(nil, time.Now(), false)); strings.Contains(text, "RateLimit") {
		t.Errorf("the next answer is %s", text)
	}
}

// TestLimitNeedsNoMemory checks that the headers of a limit are appended without an
// allocation.
func TestLimitNeedsNoMemory(t *testing.T) {
	a, out, now := &answer{header: http.Header{}}, make([]byte, 0, 4096), time.Now()
	for _, limited := range []bool{false, true} {
		if n := testing.AllocsPerRun(100, func() {
			orderAnswer(a, limited)
			out = a.append(out[:0], now, false)
		}); n != 0 {
			t.Errorf("limited %t: %v allocations", limited, n)
		}
	}
}

func BenchmarkAnswer(b *testing.B) {
	for name, limited := range map[string]bool{"plain": false, "limited": true} {
		b.Run(name, func(b *testing.B) {
			a, out, now := &answer{header: http.Header{}}, make([]byte, 0, 4096), time.Now()
			b.ReportAllocs()
			for b.Loop() {
				orderAnswer(a, limited)
				out = a.append(out[:0], now, false)
			}
		})
	}
}
