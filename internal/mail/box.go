package mail

import (
	"context"
	"slices"
	"sync"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

const (
	// mostBoxes bounds the addresses with a letter.
	mostBoxes = 10_000
	// mostKept bounds the letters of an address.
	mostKept = 8
)

// Letter is a letter in a box, with the time at which it was sent.
type Letter struct {
	account.Mail
	Time bourse.Time
}

// Box keeps the last letters to each address. Safe for concurrent use.
type Box struct {
	now func() bourse.Time

	mu sync.Mutex
	// kept has the letters of each address, oldest first.
	kept map[string][]Letter
	// order has the addresses in order of their first letters; the oldest one is evicted.
	order []string
}

// NewBox returns an empty box with a clock.
func NewBox(now func() bourse.Time) *Box { return &Box{now: now, kept: map[string][]Letter{}} }

// Send stores a letter.
func (b *Box) Send(_ context.Context, m *account.Mail) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	list, known := b.kept[m.To]
	if !known {
		if len(b.order) == mostBoxes {
			delete(b.kept, b.order[0])
			b.order = b.order[1:]
		}
		b.order = append(b.order, m.To)
	}

	if len(list) == mostKept {
		list = slices.Delete(list, 0, 1)
	}
	b.kept[m.To] = append(list, Letter{*m, b.now()})
	return nil
}

// Last returns the last letter to an address; false if there is none.
func (b *Box) Last(to string) (account.Mail, bool) {
	list := b.Letters(to)
	if len(list) == 0 {
		return account.Mail{}, false
	}
	return list[0].Mail, true
}

// Letters returns the letters to an address, newest first.
func (b *Box) Letters(to string) []Letter {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := slices.Clone(b.kept[to])
	slices.Reverse(list)
	return list
}
