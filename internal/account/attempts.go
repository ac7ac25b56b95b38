package account

import (
	"sync"

	"github.com/bourse-exchange/bourse"
)

// mostNames is how many names attempts are counted for.
const mostNames = 1 << 17

// attempts counts what went wrong within the last hour. Who has used up his
// attempts waits for an hour. An attempt is counted before it is known how it
// ends, so that many at once gain nothing.
type attempts struct {
	most int

	mu     sync.Mutex
	byName map[string]*failures
}

type failures struct {
	at    []bourse.Time
	until bourse.Time
}

func newAttempts(most int) *attempts { return &attempts{most: most, byName: map[string]*failures{}} }

// take counts an attempt, and reports whether there was one left. No limit is
// zero.
func (a *attempts) take(name string, now bourse.Time) bool {
	if a.most == 0 {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.failures(name, now)
	if now < f.until {
		return false
	}
	f.at = append(f.at, now)
	for len(f.at) > 0 && f.at[0] <= now-bourse.Hour {
		f.at = f.at[1:]
	}
	if len(f.at) >= a.most {
		f.until = now + bourse.Hour
	}
	return true
}

// free reports whether an attempt is left.
func (a *attempts) free(name string, now bourse.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.byName[name]
	return f == nil || now >= f.until
}

// back gives an attempt back that went well.
func (a *attempts) back(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.byName[name]
	if f == nil || len(f.at) == 0 {
		return
	}
	f.at, f.until = f.at[:len(f.at)-1], 0
	if len(f.at) == 0 {
		delete(a.byName, name)
	}
}

// failures returns those of a name; when there are too many names, the empty one
// stands for all new ones.
func (a *attempts) failures(name string, now bourse.Time) *failures {
	f := a.byName[name]
	if f == nil && len(a.byName) >= mostNames {
		for n, old := range a.byName {
			if now >= old.until && (len(old.at) == 0 || old.at[len(old.at)-1] <= now-bourse.Hour) {
				delete(a.byName, n)
			}
		}
		if len(a.byName) >= mostNames {
			name = ""
			f = a.byName[name]
		}
	}
	if f == nil {
		f = new(failures)
		a.byName[name] = f
	}
	return f
}
