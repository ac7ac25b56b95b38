package api

import (
	"sync"
	"time"
)

// The bounds of a table of buckets. A bucket takes some 70 bytes.
const (
	// fewBuckets stay in a table that nobody presses.
	fewBuckets = 1024
	// mostBuckets is the most that a table holds.
	mostBuckets = 1 << 17
	// lookedAt is how many buckets a newcomer has looked at for one to drop.
	lookedAt = 8
)

// bucket is one token bucket. Only the moment is kept at which it will be full
// again, counted from the limiter's start.
type bucket[K comparable] struct {
	name K
	full time.Duration
}

// buckets are token buckets by name. Every name has a bucket of its own: a newcomer
// to a full table takes the place of the least indebted of a few, whose small debt
// is forgiven.
type buckets[K comparable] struct {
	// every is how long one token takes to come back, depth how long all but one.
	every, depth time.Duration

	mu  sync.Mutex
	at  map[K]int32
	all []bucket[K]
	// hand is where the search for room goes on.
	hand int
}

// newBuckets returns nil for a rate that sets no limit.
func newBuckets[K comparable](r Rate) *buckets[K] {
	if r.PerSecond <= 0 {
		return nil
	}

	every := max(time.Duration(float64(time.Second)/r.PerSecond), 1)
	return &buckets[K]{every: every, depth: every * time.Duration(max(r.Burst, 1)-1), at: map[K]int32{}}
}

// take takes tokens if there is at least one, and reports whether there was. The
// rest of a large weight becomes a debt. Nil buckets never run dry.
func (b *buckets[K]) take(name K, tokens int, now time.Duration) bool {
	if b == nil {
		return true
	}

	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.find(name, now)
	if e.full-now > b.depth {
		return false
	}

	b.add(e, tokens, now)
	return true
}

// charge takes tokens whether there are any or not. It reports how many times the
// bucket's depth is owed by then: zero while there was a token.
func (b *buckets[K]) charge(name K, tokens int, now time.Duration) (depths int) {
	if b == nil {
		return 0
	}

	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.find(name, now)
	if owed := e.full - now; owed > b.depth {
		depths = int(owed / (b.depth + b.every))
	}

	b.add(e, tokens, now)
	return depths
}

// overdrawn reports whether a bucket owes more than taking its last token alone made it.
func (b *buckets[K]) overdrawn(name K, now time.Duration) bool {
	if b == nil {
		return false
	}

	b.mu.Lock()
	defer b.mu.Unlock()
	at, known := b.at[name]
	return known && b.all[at].full-now > b.depth+b.every
}

// mostOwed bounds a debt, in depths, so that what is owed is paid in finite time.
const mostOwed = 8

// add makes a bucket owe tokens. The caller holds mu.
func (b *buckets[K]) add(e *bucket[K], tokens int, now time.Duration) {
	most := now + mostOwed*(b.depth+b.every)
	tokens = min(tokens, mostOwed*int(b.depth/b.every+1)) // more than that would pass most
	e.full = min(max(e.full, now)+time.Duration(tokens)*b.every, max(e.full, most))
}

// find returns the bucket of a name. The caller holds mu.
func (b *buckets[K]) find(name K, now time.Duration) *bucket[K] {
	at, known := b.at[name]
	if known {
		return &b.all[at]
	}

	if len(b.all) >= fewBuckets {
		b.makeRoom(now)
	}
	b.at[name] = int32(len(b.all))
	b.all = append(b.all, bucket[K]{name, now})
	return &b.all[len(b.all)-1]
}

// makeRoom drops buckets that are full again among the next few, and in a full
// table the least indebted of them at least. The caller holds mu.
func (b *buckets[K]) makeRoom(now time.Duration) {
	least := -1
	for range min(lookedAt, len(b.all)) {
		if b.hand >= len(b.all) {
			b.hand = 0
		}

		switch {
		case b.all[b.hand].full <= now:
			b.drop(b.hand)
			least = -1 // it may have been moved, and there is room now
			continue   // another one stands here now
		case least < 0 || b.all[b.hand].full < b.all[least].full:
			least = b.hand
		}
		b.hand++
	}

	if len(b.all) >= mostBuckets {
		b.drop(least)
	}
}

// drop takes a bucket out; the last one takes its place.
func (b *buckets[K]) drop(at int) {
	last := len(b.all) - 1
	delete(b.at, b.all[at].name)
	if at != last {
		b.all[at] = b.all[last]
		b.at[b.all[at].name] = int32(at)
	}
	b.all[last] = bucket[K]{}
	b.all = b.all[:last]
}
