package limits_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/codec"
	"github.com/bourse-exchange/bourse/internal/core/limits"
)

// moves are the movements that a window should count, one by one.
type moves []struct {
	hour   uint32
	amount uint64
}

func (m moves) sums(now uint32) (s bourse.Sums) {
	for _, one := range m {
		if one.hour+24 >= now {
			s.Day = s.Day.Plus(bourse.Units(one.amount))
		}
		if one.hour/24+30 >= now/24 {
			s.Month = s.Month.Plus(bourse.Units(one.amount))
		}
	}
	return s
}

// TestWindow compares windows with lists of movements: while they are counted and taken back,
// while time passes, after a snapshot, and as told to a view.
func TestWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w, told limits.Window
		var list moves
		now := rapid.Uint32Range(0, 1000).Draw(t, "hour")
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += rapid.SampledFrom([]uint32{0, 0, 1, 2, 23, 24, 25, 300, 720, 2000}).Draw(t, "pass")
			hour := now
			if len(list) > 0 && rapid.Bool().Draw(t, "back") {
				at := rapid.IntRange(0, len(list)-1).Draw(t, "which")
				hour = list[at].hour
				w.TakeBack(now, hour, bourse.Units(list[at].amount))
				list = append(list[:at], list[at+1:]...)
			} else {
				amount := rapid.Uint64Range(1, 100).Draw(t, "amount")
				w.Add(now, bourse.Units(amount))
				list = append(list, moves{{now, amount}}...)
			}

			inHour, inDay := w.In(hour)
			told.Set(hour, inHour, inDay)
			for name, got := range map[string]bourse.Sums{
				"the window": w.Sums(now), "the view": told.Sums(now), "a snapshot": restored(t, w, now).Sums(now),
				"a seeded view": seeded(&w, now).Sums(now),
			} {
				if want := list.sums(now); got != want {
					t.Fatalf("hour %d: %s has %+v, want %+v", now, name, got, want)
				}
			}
			if !w.IsValid() || w.IsEmpty(now) != (list.sums(now) == bourse.Sums{}) {
				t.Fatalf("hour %d: %+v", now, w)
			}
		}
	})
}

// restored returns a window that is written and read again.
func restored(t *rapid.T, w limits.Window, now uint32) *limits.Window {
	var data []byte
	c := codec.NewWriter(func(b []byte) { data = append(data, b...) })
	w.Code(c, now)
	c.Flush()
	r, again := codec.NewReader(data), new(limits.Window)
	again.Code(r, now)
	if !r.Done() {
		t.Fatal("the form was not read whole")
	}
	return again
}

// seeded returns a window that is told the buckets of another one.
func seeded(w *limits.Window, now uint32) *limits.Window {
	seeded := new(limits.Window)
	w.Buckets(now, seeded.Set)
	return seeded
}

// TestFullBucket wants a bucket at the largest amount to keep it.
func TestFullBucket(t *testing.T) {
	var w limits.Window
	w.Add(500, bourse.MaxAmount)
	w.Add(500, bourse.Units(5))
	w.TakeBack(501, 500, bourse.MaxAmount)
	if s := w.Sums(501); s.Day != bourse.MaxAmount || s.Month != bourse.MaxAmount {
		t.Errorf("%+v", s)
	}
	if !w.IsEmpty(500 + 32*24) {
		t.Error("it counts after a month")
	}
}
