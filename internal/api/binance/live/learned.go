package live

import (
	"sync"

	"github.com/bourse-exchange/bourse"
)

// mostLearned bounds the values that are kept, some 60 bytes each. Beyond it all are read again.
const mostLearned = 1 << 16

// learned are values traded of orders that were read from the history. The zero value is ready to
// use. Safe for concurrent use: the publisher does not wait for a reading.
type learned struct {
	mu     sync.Mutex
	values map[bourse.OrderID]worth
}

// worth is the value that was traded of an order when a quantity was filled.
type worth struct {
	filled bourse.Lots
	value  bourse.Amount
}

// at returns the value of an order when a quantity was filled, if it is known.
func (l *learned) at(id bourse.OrderID, filled bourse.Lots) (bourse.Amount, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w, known := l.values[id]
	if !known || w.filled != filled {
		return bourse.Amount{}, false
	}
	return w.value, true
}

// keep keeps the value of an order when a quantity was filled.
func (l *learned) keep(id bourse.OrderID, filled bourse.Lots, value bourse.Amount) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.values == nil || len(l.values) == mostLearned {
		l.values = map[bourse.OrderID]worth{}
	}
	l.values[id] = worth{filled, value}
}

// value returns the value traded of an order when a quantity was filled: counted, or learned. It is
// zero for an order that had not traded, also without a subscriber when the order was accepted.
func (u *users) value(id bourse.OrderID, filled bourse.Lots) (value bourse.Amount, known bool) {
	if value, known = u.values[id]; known || filled == 0 {
		return value, true
	}
	return u.learned.at(id, filled)
}
