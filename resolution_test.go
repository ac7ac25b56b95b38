package bourse

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// bucket returns the starts of a time's bucket and of the next one, by the standard library's
// calendar.
func bucket(r Resolution, t time.Time) (start, next time.Time) {
	day := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
	switch word := r.String(); word {
	case "1D":
		return day, day.AddDate(0, 0, 1)
	case "1W":
		for day.Weekday() != time.Monday {
			day = day.AddDate(0, 0, -1)
		}
		return day, day.AddDate(0, 0, 7)
	case "1M":
		day = day.AddDate(0, 0, 1-day.Day())
		return day, day.AddDate(0, 1, 0)
	default:
		width, _ := time.ParseDuration(word + "m")
		for start = day; !start.Add(width).After(t); start = start.Add(width) {
			continue
		}
		return start, start.Add(width)
	}
}

func TestResolutionsFollowTheCalendar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Resolution(rapid.IntRange(1, int(LastResolution)).Draw(t, "resolution"))
		at := Time(rapid.Int64Range(int64(4*Day), int64(60_000*Day)).Draw(t, "time"))
		start, next := bucket(r, at.Std())

		if got := r.Floor(at); got != TimeOf(start) || r.Floor(got) != got {
			t.Fatalf("%s: the candle of %s starts at %s, want %s", r, at.Std(), got.Std(), start)
		}
		if got := r.Add(TimeOf(start), 1); got != TimeOf(next) || got-TimeOf(start) > r.Width() {
			t.Fatalf("%s: the candle after %s starts at %s, want %s", r, start, got.Std(), next)
		}
		if got := r.Kept().Floor(TimeOf(start)); got != TimeOf(start) {
			t.Fatalf("%s: the kept candle of %s starts at %s", r, start, got.Std())
		}

		n := rapid.IntRange(0, 30).Draw(t, "candles")
		far := r.Add(TimeOf(start), n)
		if r.Floor(far) != far || r.Add(far, -n) != TimeOf(start) && r.Add(far, -n) > 0 {
			t.Fatalf("%s: %d candles from %s to %s and back to %s", r, n, start, far.Std(), r.Add(far, -n).Std())
		}
		for range n {
			_, next = bucket(r, start)
			start = next
		}
		if far != TimeOf(start) {
			t.Fatalf("%s: %d candles on is %s, want %s", r, n, far.Std(), start)
		}
	})
}

func TestResolutionsBeginAtTheEpoch(t *testing.T) {
	for r := Resolution1; r <= LastResolution; r++ {
		if got, known := ParseResolution(r.String()); !known || got != r {
			t.Errorf("%s is parsed as %d", r, got)
		}
		if r.Floor(0) != 0 || r.Floor(1) != 0 || r.Add(0, -7) != 0 {
			t.Errorf("%s: candles start at %d and %d", r, r.Floor(1), r.Add(0, -7))
		}
	}
	if next := Resolution1W.Add(0, 1); next != 4*Day { // Monday, 5 January 1970
		t.Errorf("the second week starts at %s", next.Std())
	}
	if _, known := ParseResolution("7"); known {
		t.Error("7 is a resolution")
	}
}
