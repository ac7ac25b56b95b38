package mail

import (
	"context"
	"sync"

	"github.com/bourse-exchange/bourse/internal/account"
)

// mostBoxes is how many addresses letters are kept for.
const mostBoxes = 10_000

// Box keeps the last letter to each address. The zero Box is empty. Any goroutine
// may call it.
type Box struct {
	mu   sync.Mutex
	last map[string]account.Mail
	// order is that of the addresses' first letters.
	order []string
}

// Send puts a letter into the box.
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
