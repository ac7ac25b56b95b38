package account

import (
	"sync"

	"github.com/bourse-exchange/bourse"
)

// locks is a mutex for each account, so that whoever waits waits for requests of
// his own account alone.
type locks struct {
	mu   sync.Mutex
	held map[bourse.AccountID]*lock
}

type lock struct {
	sync.Mutex
	// users are who holds it or waits for it; with the last one it goes.
	users int
}

// lock waits until nobody else holds an account's mutex, and returns what gives it
// back.
func (l *locks) lock(id bourse.AccountID) (unlock func()) {
	l.mu.Lock()
	one := l.held[id]
	if one == nil {
		one = new(lock)
		l.held[id] = one
	}
	one.users++
	l.mu.Unlock()

	one.Lock()
	return func() {
		one.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if one.users--; one.users == 0 {
			delete(l.held, id)
		}
	}
}
