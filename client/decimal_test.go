package client

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestCmp compares decimals in every way to write them.
func TestCmp(t *testing.T) {
	ascending := [][]Decimal{
		{"0", "", ".", "0.00", ".0"}, {"0.009", ".0090"}, {"0.01", "00.01"}, {"0.1", ".10"}, {"0.11"}, {"9", "9.", "09.0"},
		{"10", "10.00"}, {"10.5"}, {"100000000000000000000000000000"}, {"100000000000000000000000000000.1"},
	}
	for i, same := range ascending {
		for j, others := range ascending {
			for _, a := range same {
				for _, b := range others {
					if got := a.Cmp(b); got != cmp.Compare(i, j) {
						t.Errorf("%q and %q: %d", a, b, got)
					}
				}
			}
		}
		for _, a := range same {
			if a.IsZero() != (i == 0) {
				t.Errorf("%q: zero %t", a, a.IsZero())
			}
		}
	}
}

// TestTime reads both forms of times.
func TestTime(t *testing.T) {
	for text, want := range map[string]time.Time{
		`"1700000000.000001"`: time.UnixMicro(1700000000000001), `1700000000`: time.Unix(1700000000, 0), `null`: {},
	} {
		var got Time
		if err := json.Unmarshal([]byte(text), &got); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
	for _, text := range []string{`"1700000000.1"`, `"1700000000.-00001"`, `""`, `"x"`, `1e9`, `"1."`} {
		if err := json.Unmarshal([]byte(text), new(Time)); err == nil {
			t.Errorf("%s is a time", text)
		}
	}
}

// TestBookIsSorted compares a book with a map after each of many changes.
func TestBookIsSorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, side := range []Side{Buy, Sell} {
		b, naive := &Book{Pair: "A/B"}, map[int]int{}
		for seq := range 2_000 {
			price, amount := 95+rng.IntN(20), rng.IntN(3)
			if naive[price] = amount; amount == 0 {
				delete(naive, price)
			}
			level := &Level{Pair: "A/B", Side: side, Price: Decimal(fmt.Sprint(price)), Amount: Decimal(fmt.Sprint(amount))}
			if !b.Apply(Event{"A/B@orderBook", uint64(seq), level}) || b.Seq != uint64(seq) {
				t.Fatal("not applied")
			}

			var want, got []string
			for p, a := range naive {
				want = append(want, fmt.Sprintf("%03d:%d", p, a))
			}
			slices.Sort(want)
			if side == Buy {
				slices.Reverse(want)
			}
			for _, l := range slices.Concat(b.Bids(), b.Asks()) {
				got = append(got, fmt.Sprintf("%03s:%s", l.Price, l.Amount))
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %v, want %v", side, got, want)
			}
		}
		for _, e := range []Event{{"A/C@orderBook", 7, new(Level)}, {"", 0, new(Current)}, {"A/B@marketTrade", 7, new(Trade)}} {
			if b.Apply(e) {
				t.Errorf("%+v was applied", e)
			}
		}
	}
}

// TestRefusal reads codes, and the headers of limits.
func TestRefusal(t *testing.T) {
	answer := func(status int, body string, headers ...string) error {
		h := http.Header{}
		for i := 0; i < len(headers); i += 2 {
			h.Set(headers[i], headers[i+1])
		}
		return refusal("/x", &http.Response{StatusCode: status, Status: http.StatusText(status), Header: h}, []byte(body))
	}
	for _, c := range []struct {
		got  error
		want Error
	}{
		{answer(200, `{"success":false,"error":"No","code":"NEIN"}`), Error{"/x", 200, "NEIN", "No", 0, Limit{}}},
		{answer(404, `{"success":false,"error":"No","code":"NEIN"}`), Error{"/x", 404, "NEIN", "No", 0, Limit{}}},
		{answer(404, `<html>`), Error{"/x", 404, "", "Not Found", 0, Limit{}}},
		{answer(500, `{"success":true}`), Error{"/x", 500, "", "Internal Server Error", 0, Limit{}}},
		{
			answer(429, ``, "Retry-After", "3", "RateLimit-Limit", "100", "RateLimit-Remaining", "0", "RateLimit-Reset", "5"),
			Error{"/x", 429, "", "Too Many Requests", 3 * time.Second, Limit{100, 0, 5 * time.Second}},
		},
		{answer(429, ``, "Retry-After", "soon"), Error{"/x", 429, "", "Too Many Requests", 0, Limit{}}},
	} {
		if got, is := c.got.(*Error); !is || *got != c.want { //nolint:errorlint // it is not wrapped
			t.Errorf("got %+v, want %+v", c.got, c.want)
		}
	}
	for _, body := range []string{``, `[]`, `{}`, `{"success":1}`} {
		if err := answer(200, body); err == nil || !strings.Contains(err.Error(), "none of V1") {
			t.Errorf("%s: %v", body, err)
		}
	}
	if err := answer(200, `{"success":true,"more":1}`); err != nil {
		t.Error(err)
	}
}
