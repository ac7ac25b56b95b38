package bourse

import "time"

// Time is an instant in microseconds since the Unix epoch. Engine time comes
// from the journal and never goes back.
type Time int64

// Spans of time, in microseconds.
const (
	Second Time = 1e6
	Minute      = 60 * Second
	Hour        = 60 * Minute
	Day         = 24 * Hour
)

// TimeOf converts a standard time.
func TimeOf(t time.Time) Time { return Time(t.UnixMicro()) }

// Std returns t as a standard time in UTC.
func (t Time) Std() time.Time { return time.UnixMicro(int64(t)).UTC() }

// Seconds returns the Unix seconds of t, rounded down.
func (t Time) Seconds() int64 {
	s := int64(t) / int64(Second)
	if int64(t)%int64(Second) < 0 {
		s--
	}
	return s
}

// Append appends the Unix seconds of t with six decimals. t must not be negative.
func (t Time) Append(dst []byte) []byte {
	return appendFixed64(dst, uint64(t), 6)
}

// Floor returns the start of the span that holds t. Spans start at the epoch.
func (t Time) Floor(span Time) Time { return t - t%span }
