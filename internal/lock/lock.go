// Package lock has a mutex for each account.
//
// It stands below what must do one thing of an account at a time: the changes of a
// person and its keys, and the orders that walk a book.
//
// Invariant: whoever waits waits for requests of one account alone.
package lock

import (
	"sync"

	"github.com/bourse-exchange/bourse"
)

// Accounts is a mutex for each account. The zero Accounts has nobody who holds one.
type Accounts struct {
	mu   sync.Mutex
	held map[bourse.AccountID]*lock
}

type lock struct {
	sync.Mutex
	// users are who holds it or waits for it; with the last one it goes.
	users int
}

// Lock waits until nobody else holds an account's mutex, and returns what gives it
// back.
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
