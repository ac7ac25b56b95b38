package account

import (
	"sync"

	"github.com/bourse-exchange/bourse"
)

// mostNames bounds the names of a quota: at most some 5 MiB.
const mostNames = 1 << 15

// countTables keeps one table per quota, so that names of one quota never evict those of
// another.
type countTables [quotas]countTable

// Take counts one; see Counts.
func (t *countTables) Take(q Quota, name string, now bourse.Time) bool { return t[q].take(name, now) }

// Wait returns the time until Take would allow one.
func (t *countTables) Wait(q Quota, name string, now bourse.Time) bourse.Time {
	return t[q].wait(name, now)
}

// Back takes one count back.
func (t *countTables) Back(q Quota, name string) { t[q].back(name) }

// countTable counts by name. Names never share a count. A full table forgets the names
// with the fewest counts: that forgives the least, and costs no other name anything.
type countTable struct {
	rule

	mu    sync.Mutex
	names map[string]*count
}

// count holds a name's times within the window, and the end of its block.
type count struct {
	at    []bourse.Time
	until bourse.Time
}

// take counts before the outcome of the attempt is known, so that concurrent attempts
// gain nothing.
func (t *countTable) take(name string, now bourse.Time) bool {
	if t.most == 0 {
		return true
	}

	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.names[name]
	if c == nil {
		t.makeRoom(now)
		c = new(count)
		t.names[name] = c
	}

	if now < c.until {
		return false
	}
	for len(c.at) > 0 && c.at[0] <= now-t.within {
		c.at = c.at[1:]
	}
	c.at = append(c.at, now)
	if len(c.at) >= t.most {
		c.until = now + t.within
	}
	return true
}

func (t *countTable) wait(name string, now bourse.Time) bourse.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.names[name]
	if c == nil {
		return 0
	}
	return max(c.until-now, 0)
}

func (t *countTable) back(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.names[name]
	if c == nil || len(c.at) == 0 {
		return
	}
	if c.at = c.at[:len(c.at)-1]; len(c.at) < t.most {
		c.until = 0
	}
	if len(c.at) == 0 {
		delete(t.names, name)
	}
}

// makeRoom frees an eighth of a full table, so that the work is spread over as many
// names. The caller holds mu.
func (t *countTable) makeRoom(now bourse.Time) {
	if len(t.names) < mostNames {
		return
	}

	var bySize []int // how many names have so many counts
	for name, c := range t.names {
		if now >= c.until && c.at[len(c.at)-1] <= now-t.within {
			delete(t.names, name)
			continue
		}
		for len(bySize) <= len(c.at) {
			bySize = append(bySize, 0)
		}
		bySize[len(c.at)]++
	}

	excess := len(t.names) - mostNames/8*7
	for size := 1; excess > 0 && size < len(bySize); size++ {
		excess -= t.forget(size, min(excess, bySize[size]))
	}
}

// forget removes names that have so many counts. The caller holds mu.
func (t *countTable) forget(size, names int) int {
	left := names
	for name, c := range t.names {
		if left == 0 {
			break
		}
		if len(c.at) == size {
			delete(t.names, name)
			left--
		}
	}
	return names - left
}
