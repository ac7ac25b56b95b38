package limits

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/codec"
)

const (
	hoursInDay = 24
	// hours and days are the numbers of buckets: the current one, and the earlier ones that end
	// within the last 24 hours or 30 days.
	hours = 24 + 1
	days  = 30 + 1
)

// Window sums the movements of one account, asset and flow by hour and by day in UTC. Hours and
// days are numbered from the Unix epoch. The zero value is empty.
type Window struct {
	// hour is the newest hour. Hour h is at hours[h%hours], day d at days[d%days].
	hour  uint32
	hours [hours]bourse.Amount
	days  [days]bourse.Amount
}

// Hour returns the hour of a time.
func Hour(t bourse.Time) uint32 { return uint32(t / bourse.Hour) }

// since returns the oldest of the n buckets that end with last.
func since(last, n uint32) uint32 { return last - min(last, n-1) }

// turn moves the window on to a later hour, and clears the buckets that it enters.
func (w *Window) turn(hour uint32) {
	if hour <= w.hour {
		return
	}
	for h := max(w.hour+1, since(hour, hours)); h <= hour; h++ {
		w.hours[h%hours] = bourse.Amount{}
	}
	for d := max(w.hour/hoursInDay+1, since(hour/hoursInDay, days)); d <= hour/hoursInDay; d++ {
		w.days[d%days] = bourse.Amount{}
	}
	w.hour = hour
}

// Add counts a movement of the current hour, which must not be older than earlier ones.
func (w *Window) Add(hour uint32, amount bourse.Amount) {
	w.turn(hour)
	h, d := &w.hours[hour%hours], &w.days[hour/hoursInDay%days]
	*h, *d = h.PlusOrMax(amount), d.PlusOrMax(amount)
}

// TakeBack uncounts a movement of an earlier hour. A bucket that is too old has forgotten it,
// and one that reached bourse.MaxAmount keeps it, because its sum is unknown.
func (w *Window) TakeBack(now, hour uint32, amount bourse.Amount) {
	w.turn(now)
	if w.hasHour(hour) {
		takeBack(&w.hours[hour%hours], amount)
	}
	if w.hasDay(hour / hoursInDay) {
		takeBack(&w.days[hour/hoursInDay%days], amount)
	}
}

func takeBack(sum *bourse.Amount, amount bourse.Amount) {
	if *sum != bourse.MaxAmount {
		*sum = sum.Minus(amount)
	}
}

// Set replaces the sums of an hour and of its day.
func (w *Window) Set(hour uint32, inHour, inDay bourse.Amount) {
	w.turn(hour)
	if w.hasHour(hour) {
		w.hours[hour%hours] = inHour
	}
	if w.hasDay(hour / hoursInDay) {
		w.days[hour/hoursInDay%days] = inDay
	}
}

// In returns the sums of an hour and of its day; zero if they are too old.
func (w *Window) In(hour uint32) (inHour, inDay bourse.Amount) {
	if w.hasHour(hour) {
		inHour = w.hours[hour%hours]
	}
	if w.hasDay(hour / hoursInDay) {
		inDay = w.days[hour/hoursInDay%days]
	}
	return inHour, inDay
}

// Covers reports whether the buckets of an hour and of its day have at least these sums at the
// hour now. A bucket that is too old covers any sum.
func (w *Window) Covers(now, hour uint32, inHour, inDay bourse.Amount) bool {
	x := *w
	x.turn(now)
	hourHas, dayHas := x.In(hour)
	return (!x.hasHour(hour) || !hourHas.Less(inHour)) && (!x.hasDay(hour/hoursInDay) || !dayHas.Less(inDay))
}

func (w *Window) hasHour(hour uint32) bool { return hour >= since(w.hour, hours) && hour <= w.hour }

func (w *Window) hasDay(day uint32) bool {
	return day >= since(w.hour/hoursInDay, days) && day <= w.hour/hoursInDay
}

// Sums returns the sums at the hour now, or at the window's newest hour if that is later.
func (w *Window) Sums(now uint32) (s bourse.Sums) {
	now = max(now, w.hour)
	for h := since(now, hours); h <= w.hour; h++ {
		s.Day = s.Day.PlusOrMax(w.hours[h%hours])
	}
	for d := since(now/hoursInDay, days); d <= w.hour/hoursInDay; d++ {
		s.Month = s.Month.PlusOrMax(w.days[d%days])
	}
	return s
}

// IsEmpty reports whether both sums are zero at the hour now.
func (w *Window) IsEmpty(now uint32) bool { return w.Sums(now) == bourse.Sums{} }

// Buckets yields the buckets that count at the hour now, by ascending hour. A day without a
// bucket of an hour is yielded at its first hour.
func (w *Window) Buckets(now uint32, yield func(hour uint32, inHour, inDay bourse.Amount)) {
	x := *w
	x.turn(now)
	for d := since(now/hoursInDay, days); d <= now/hoursInDay; d++ {
		told := false
		for h := d * hoursInDay; h < (d+1)*hoursInDay; h++ {
			if inHour, inDay := x.In(h); !inHour.IsZero() {
				yield(h, inHour, inDay)
				told = true
			}
		}
		if _, inDay := x.In(d * hoursInDay); !told && !inDay.IsZero() {
			yield(d*hoursInDay, bourse.Amount{}, inDay)
		}
	}
}

// IsValid reports whether the sum of each day is at least that of its hours.
func (w *Window) IsValid() bool {
	for d := since(w.hour/hoursInDay, days); d <= w.hour/hoursInDay; d++ {
		var sum bourse.Amount
		for h := d * hoursInDay; h < (d+1)*hoursInDay; h++ {
			inHour, _ := w.In(h)
			sum = sum.PlusOrMax(inHour)
		}
		if w.days[d%days].Less(sum) {
			return false
		}
	}
	return true
}

// Code codes the buckets that count at the hour now. An empty one takes a bit.
func (w *Window) Code(c *codec.Codec, now uint32) {
	x := *w
	x.turn(now)
	codeBuckets(c, x.hours[:])
	codeBuckets(c, x.days[:])
	*w = x
}

func codeBuckets(c *codec.Codec, list []bourse.Amount) {
	var filled uint32 // a bit for each bucket
	for i := range list {
		if !list[i].IsZero() {
			filled |= 1 << i
		}
	}
	codec.Uint32(c, &filled)
	for i := range list {
		if filled&(1<<i) != 0 {
			c.Amount(&list[i])
		}
	}
}
