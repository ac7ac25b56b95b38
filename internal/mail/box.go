package mail

import (
	"context"
	"sync"

	"github.com/bourse-exchange/bourse/internal/account"
)

// mostBoxes bounds the addresses with a letter.
const mostBoxes = 10_000

// Box keeps the last letter to each address. The zero value is empty. Safe for concurrent
// use.
type Box struct {
	mu   sync.Mutex
	last map[string]account.Mail
	// order has the addresses in order of their first letters; the oldest one is evicted.
	order []string
}

// Send stores a letter.
func (b *Box) Send(_ context.Context, m *account.Mail) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last == nil {
		b.last = map[string]account.Mail{}
	}
	if _, known := b.last[m.To]; !known {
		if len(b.order) == mostBoxes {
			delete(b.last, b.order[0])
			b.order = b.order[1:]
		}
		b.order = append(b.order, m.To)
	}
	b.last[m.To] = *m
	return nil
}

// Last returns the last letter to an address; false if there is none.
func (b *Box) Last(to string) (account.Mail, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m, ok := b.last[to]
	return m, ok
}
