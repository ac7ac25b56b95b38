package bourse

import "time"

// Resolution is the width of candles. Their buckets begin at multiples of it since
// midnight, weeks on Mondays and months on their first day, in UTC.
type Resolution uint8

// The resolutions: numbers of minutes, a day, a week and a month.
const (
	Resolution1 Resolution = iota + 1
	Resolution3
	Resolution5
	Resolution15
	Resolution30
	Resolution60
	Resolution120
	Resolution240
	Resolution360
	Resolution720
	Resolution1D
	Resolution1W
	Resolution1M

	// LastResolution is the greatest resolution.
	LastResolution = Resolution1M
)

// resolutions are the terms of the resolutions.
var resolutions = [...]struct {
	// word is the resolution's name in the interfaces.
	word string
	// kept is the resolution of the candles that make up one of these.
	kept Resolution
	// width is the longest time from a candle to the next one.
	width Time
}{
	Resolution1:   {"1", Resolution1, Minute},
	Resolution3:   {"3", Resolution1, 3 * Minute},
	Resolution5:   {"5", Resolution1, 5 * Minute},
	Resolution15:  {"15", Resolution1, 15 * Minute},
	Resolution30:  {"30", Resolution1, 30 * Minute},
	Resolution60:  {"60", Resolution60, Hour},
	Resolution120: {"120", Resolution60, 2 * Hour},
	Resolution240: {"240", Resolution60, 4 * Hour},
	Resolution360: {"360", Resolution60, 6 * Hour},
	Resolution720: {"720", Resolution60, 12 * Hour},
	Resolution1D:  {"1D", Resolution1D, Day},
	Resolution1W:  {"1W", Resolution1D, 7 * Day},
	Resolution1M:  {"1M", Resolution1D, 31 * Day},
}

// ParseResolution returns the resolution of a word.
func ParseResolution(word string) (Resolution, bool) {
	for r := Resolution1; r <= LastResolution; r++ {
		if resolutions[r].word == word {
			return r, true
		}
	}
	return 0, false
}

// String returns the resolution's word of the interfaces.
func (r Resolution) String() string { return resolutions[r].word }

// Kept returns the resolution of the candles that are kept for r, of which each of r's is
// made: a minute, an hour or a day.
func (r Resolution) Kept() Resolution { return resolutions[r].kept }

// Width returns the longest time between the starts of two adjacent candles.
func (r Resolution) Width() Time { return resolutions[r].width }

// Floor returns the start of the candle that holds t, which must not be negative. The week
// that holds the epoch starts with it.
func (r Resolution) Floor(t Time) Time {
	const monday = 3 * Day // from the Monday before the epoch

	switch r {
	case Resolution1W:
		return max(t-(t+monday)%resolutions[r].width, 0)
	case Resolution1M:
		return month(t, 0)
	default:
		return t.Floor(resolutions[r].width)
	}
}

// Add returns the start of the candle n candles after the one that starts at start, or
// before it if n is negative; none is before the epoch. n candles must fit a Time.
func (r Resolution) Add(start Time, n int) Time {
	if r == Resolution1M {
		return month(start, n)
	}
	return r.Floor(max(start+Time(n)*resolutions[r].width, 0))
}

// month returns the start of the month n months after t's.
func month(t Time, n int) Time {
	year, m, _ := t.Std().Date()
	return max(TimeOf(time.Date(year, m+time.Month(n), 1, 0, 0, 0, 0, time.UTC)), 0)
}
