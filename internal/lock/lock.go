package lock

import (
	"sync"

	"github.com/bourse-exchange/bourse"
)

// Accounts holds a mutex for each account. The zero value is ready to use.
type Accounts struct {
	mu   sync.Mutex
	held map[bourse.AccountID]*lock
}

type lock struct {
	sync.Mutex
	// users counts holders and waiters; the last one removes the lock.
	users int
}

// Lock locks an account's mutex and returns the function that unlocks it.
func (l *Accounts) Lock(id bourse.AccountID) (unlock func()) {
	l.mu.Lock()
	if l.held == nil {
		l.held = map[bourse.AccountID]*lock{}
	}
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
