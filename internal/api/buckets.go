package api

import (
	"sync"
	"time"
)

// The bounds of a table of buckets. A bucket takes about 70 bytes.
const (
	// fewBuckets is the size below which a table drops no bucket.
	fewBuckets = 1024
	// mostBuckets bounds the buckets of a table.
	mostBuckets = 1 << 17
	// lookedAt is the number of buckets that an insertion inspects for one to drop.
	lookedAt = 8
)

// bucket is a token bucket. It stores only the time at which it is full again, counted
// from the limiter's start.
type bucket[K comparable] struct {
	name K
	full time.Duration
}

// buckets holds a token bucket for each name. A new name in a full table replaces the
// least indebted of lookedAt buckets and forgives its debt.
type buckets[K comparable] struct {
	// every is the refill time of one token, depth that of all but one.
	every, depth time.Duration
	// most is the number of tokens in a full bucket.
	most int

	mu  sync.Mutex
	at  map[K]int32
	all []bucket[K]
	// hand is the index at which makeRoom resumes.
	hand int
}

// newBuckets returns nil for a rate that sets no limit.
func newBuckets[K comparable](r Rate) *buckets[K] {
	if r.PerSecond <= 0 {
		return nil
	}

	every := max(time.Duration(float64(time.Second)/r.PerSecond), 1)
	most := max(r.Burst, 1)
	return &buckets[K]{every: every, depth: every * time.Duration(most-1), most: most, at: map[K]int32{}}
}

// take takes tokens if the bucket has at least one, and reports whether it had. Tokens
// beyond those available become a debt. A nil *buckets has no limit.
func (b *buckets[K]) take(name K, tokens int, now time.Duration) (Standing, bool) {
	if b == nil {
		return Standing{}, true
	}

	b.mu.Lock()
	defer b.mu.Unlock()

	e := b.find(name, now)
	if e.full-now > b.depth {
		return b.standing(e.full - now), false
	}

	b.add(e, tokens, now)
	return b.standing(e.full - now), true
}

// standing returns the state of a bucket that is full again in owed.
func (b *buckets[K]) standing(owed time.Duration) Standing {
	s := Standing{Limit: b.most, Full: max(owed, 0)}
	if owed > b.depth {
		s.Next = owed - b.depth
		return s
	}
	s.Left = int((b.depth-s.Full)/b.every) + 1
	return s
}

// look returns the state of a bucket; the zero Standing if b is nil.
func (b *buckets[K]) look(name K, now time.Duration) Standing {
	if b == nil {
		return Standing{}
	}

	b.mu.Lock()
	defer b.mu.Unlock()
	if at, known := b.at[name]; known {
		return b.standing(b.all[at].full - now)
	}
	return b.standing(0)
}

// charge takes tokens even from an empty bucket. It returns the debt before the call as a
// multiple of the bucket's depth: zero while there was a token.
func (b *buckets[K]) charge(name K, tokens int, now time.Duration) (depths int, after Standing) {
	if b == nil {
		return 0, Standing{}
	}

	b.mu.Lock()
	defer b.mu.Unlock()

	e := b.find(name, now)
	if owed := e.full - now; owed > b.depth {
		depths = int(owed / (b.depth + b.every))
	}

	b.add(e, tokens, now)
	return depths, b.standing(e.full - now)
}

// overdrawn reports whether a bucket owes more than the taking of its last token.
func (b *buckets[K]) overdrawn(name K, now time.Duration) bool {
	if b == nil {
		return false
	}

	b.mu.Lock()
	defer b.mu.Unlock()

	at, known := b.at[name]
	return known && b.all[at].full-now > b.depth+b.every
}

// mostOwed bounds a debt, in depths, so that a bucket refills in bounded time.
const mostOwed = 8

// add charges tokens to a bucket. The caller holds mu.
func (b *buckets[K]) add(e *bucket[K], tokens int, now time.Duration) {
	most := now + mostOwed*(b.depth+b.every)
	tokens = min(tokens, mostOwed*int(b.depth/b.every+1)) // more than that would pass most
	e.full = min(max(e.full, now)+time.Duration(tokens)*b.every, max(e.full, most))
}

// find returns the bucket of a name, a full one if the name is new. The caller holds mu.
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

// makeRoom inspects the next lookedAt buckets and drops the ones that are full again. If the
// table is still full it drops the least indebted of them. The caller holds mu.
func (b *buckets[K]) makeRoom(now time.Duration) {
	least := -1
	for range min(lookedAt, len(b.all)) {
		if b.hand >= len(b.all) {
			b.hand = 0
		}

		switch {
		case b.all[b.hand].full <= now:
			b.drop(b.hand)
			least = -1 // drop may have moved it, and there is room now
			continue   // drop moved another bucket here
		case least < 0 || b.all[b.hand].full < b.all[least].full:
			least = b.hand
		}
		b.hand++
	}

	if len(b.all) >= mostBuckets {
		b.drop(least)
	}
}

// drop removes a bucket and moves the last one into its place.
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
