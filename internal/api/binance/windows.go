package binance

import (
	"sync"
	"time"
)

// mostWindows bounds the windows of a table; one takes about 60 bytes.
const mostWindows = 1 << 16

// windows counts, for each name, what happened in the current window of time. Windows begin
// at multiples of their width. Safe for concurrent use.
type windows[K comparable] struct {
	width time.Duration

	mu sync.Mutex
	// current is the number of the window of counts; those of an earlier one are forgotten.
	current int64
	counts  map[K]int
}

func newWindows[K comparable](width time.Duration) *windows[K] {
	return &windows[K]{width: width, counts: map[K]int{}}
}

// add counts n for a name and returns its count in the window. In a full table new names
// share no count: theirs is n.
func (w *windows[K]) add(name K, n int, now time.Time) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.turn(now)
	before, known := w.counts[name]
	if n > 0 && (known || len(w.counts) < mostWindows) {
		w.counts[name] = before + n
	}
	return before + n
}

// turn forgets the counts of an earlier window. The caller holds mu.
func (w *windows[K]) turn(now time.Time) {
	if number := now.UnixNano() / int64(w.width); number != w.current {
		w.current = number
		clear(w.counts)
	}
}

// rest returns the time until the window ends.
func (w *windows[K]) rest(now time.Time) time.Duration {
	return w.width - time.Duration(now.UnixNano()%int64(w.width))
}
