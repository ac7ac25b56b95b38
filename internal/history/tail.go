package history

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
)

// chunkRows is about the number of rows that are sealed and dropped together. A reader
// scans unsealed rows, some microseconds for this many.
const chunkRows = 2048

// Tail holds the rows that are too young to be in the store. It is an observer of the
// sequencer, before the view: a row that has left the view must be here already. One
// goroutine observes, one calls Stored, any number read.
type Tail struct {
	// bound is the number of rows to hold, give or take a chunk; perChunk is the number
	// of rows of a chunk.
	bound, perChunk int

	// Owned by the observer: batch holds the youngest rows, and next is the tail's
	// position with them. Readers see both as of the last End. If reset is true, the next
	// End empties the tail.
	batch Batch
	next  position
	reset bool
	// storedAtBegin is the store's cursor when the frame began and the tail was empty, else
	// zero. Commands up to it are skipped: the tail begins after them, without a gap.
	storedAtBegin bourse.Seq

	// Guarded by mu: chunks are sealed, oldest first; young is batch as readers see it, and
	// announced is next.
	mu        sync.RWMutex
	chunks    []*chunk
	young     Batch
	announced position
	// stored is the store's cursor: it has the rows of all commands up to it. moved is
	// closed and replaced when stored moves.
	stored Cursor
	moved  chan struct{}
	// rows counts the rows of chunks, sealed the chunks ever sealed.
	rows   int
	sealed uint64
	// seen is the number of the last chunk that a reader may hold, the young one
	// included; spare is the memory of a dropped chunk that no reader holds.
	seen  atomic.Uint64
	spare Batch
}

// NewTail returns a tail that holds about bound rows.
func NewTail(bound int) *Tail {
	return &Tail{
		bound: bound, perChunk: min(chunkRows, bound/8+1), moved: make(chan struct{}),
	}
}

// Reset empties the tail: the rows behind a restored snapshot are in the store, or will
// be.
func (t *Tail) Reset(func(string) ([]byte, bool)) error {
	t.batch, t.next, t.reset = Batch{}, position{}, true
	return nil
}

// Unneeded returns the last command that a start need not show the tail, of a journal
// that ends at last: the store has its rows, or the tail has no room for them. With few
// exceptions a command leaves at least one row.
func (t *Tail) Unneeded(last bourse.Seq) bourse.Seq {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return max(t.stored.Seq, last-min(last, bourse.Seq(t.bound)))
}

// Begin opens a frame.
func (t *Tail) Begin() {
	t.mu.RLock()
	defer t.mu.RUnlock()

	t.storedAtBegin = 0
	if t.rows == 0 && t.batch.Rows() == 0 {
		t.storedAtBegin = t.stored.Seq
	}
}

// Observe takes in a command's events, or, of kind zero, a restore's announcements.
// Readers see them at End.
func (t *Tail) Observe(cmd *bourse.Command, ev *bourse.Events) {
	t.next.end.Seq, t.next.end.Time = cmd.Seq, cmd.Time
	if cmd.Kind == 0 || cmd.Seq <= t.storedAtBegin {
		t.next.begin = cmd.Seq
		return
	}

	rows := t.batch.Rows()
	Project(cmd, ev, &t.batch)
	if t.batch.Rows() > rows {
		t.next.rows = cmd.Seq
	}
}

// End closes a frame.
func (t *Tail) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reset {
		t.reset, t.chunks, t.rows, t.announced = false, nil, 0, position{}
	}
	if t.batch.Rows() >= t.perChunk {
		t.seal()
	}

	t.next.begin = max(t.next.begin, t.announced.begin)
	t.young, t.announced = t.batch, t.next
	t.trim()
}

// seal makes a chunk of the young rows. The next rows use the memory of a dropped chunk
// that no reader has seen, as in a replay, or get room for as many, because they are
// likely to be alike.
func (t *Tail) seal() {
	b := t.batch
	t.sealed++
	t.chunks = append(t.chunks, &chunk{Batch: b, last: t.next.rows, sealed: true, number: t.sealed})
	t.rows += b.Rows()
	if t.batch, t.spare = t.spare, (Batch{}); cap(t.batch.Orders) == 0 {
		t.batch = Batch{
			Orders: make([]Order, 0, len(b.Orders)), Trades: make([]Trade, 0, len(b.Trades)),
			Fills: make([]Fill, 0, len(b.Fills)), Transfers: make([]Transfer, 0, len(b.Transfers)),
		}
	}
}

// trim drops the chunks that are stored, and the oldest chunks beyond the bound.
func (t *Tail) trim() {
	n, rows := 0, t.rows+t.young.Rows()
	for n < len(t.chunks) && (t.chunks[n].last <= t.stored.Seq || rows > t.bound) {
		rows -= t.chunks[n].Rows()
		n++
	}
	if n == 0 {
		return
	}
	dropped := t.chunks[n-1]
	if dropped.number > t.seen.Load() {
		t.spare = dropped.Batch
		t.spare.Reset()
	}
	t.announced.begin = dropped.last
	t.rows = rows - t.young.Rows()
	t.chunks = slices.Clone(t.chunks[n:]) // lets go of the memory
}

// Stored records that the store has all rows of the commands up to a cursor.
func (t *Tail) Stored(c Cursor) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.Seq <= t.stored.Seq {
		return
	}
	t.stored = c
	close(t.moved)
	t.moved = make(chan struct{})
	t.trim()
}

// Lag returns the distance of the store: zero while it misses no rows.
func (t *Tail) Lag() (commands uint64, span bourse.Time) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.announced.lag(&t.stored)
}

// missing returns the number of commands from the store's cursor to seq, zero if the
// store has its rows, and a channel that is closed when the cursor moves.
func (t *Tail) missing(seq bourse.Seq) (uint64, <-chan struct{}) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if seq <= t.stored.Seq {
		return 0, nil
	}
	return uint64(seq - t.stored.Seq), t.moved
}

// await waits until the store has a command's rows, or ctx ends; it returns the number of
// commands that are missing then.
func (t *Tail) await(ctx context.Context, seq bourse.Seq) uint64 {
	for {
		n, moved := t.missing(seq)
		if n == 0 {
			return 0
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return n
		}
	}
}

// newestRows returns the last command that left rows.
func (t *Tail) newestRows() bourse.Seq {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.announced.newest()
}

// glimpse is an immutable copy of the tail at one moment.
type glimpse struct {
	// begin is the last command whose rows may be missing here; the rows of all later
	// commands, up to that moment, are here.
	begin bourse.Seq
	// chunks are the rows, oldest first.
	chunks []*chunk
}

// glimpse returns the tail as readers see it now.
func (t *Tail) glimpse() *glimpse {
	t.mu.RLock()
	g, young := &glimpse{t.announced.begin, t.chunks}, t.young
	t.seen.Store(t.sealed + 1)
	t.mu.RUnlock()
	if young.Rows() > 0 {
		// The slice is clipped, so that no other glimpse shares this chunk.
		g.chunks = append(slices.Clip(g.chunks), &chunk{Batch: young})
	}
	return g
}

// newest returns the rows of a key whose order lies in the span, highest first. It is for
// the columns whose order is that of the rows' arrival.
func newest[R any](g *glimpse, col column, key uint64, span Span, row func(*chunk, int) R) []R {
	var list []R
	for _, c := range slices.Backward(g.chunks) {
		for _, e := range slices.Backward(c.find(col, key, span)) {
			list = append(list, row(c, e.at))
		}
	}
	return list
}

func fillAt(c *chunk, at int) Fill         { return c.Fills[at] }
func tradeAt(c *chunk, at int) Trade       { return c.Trades[at] }
func transferAt(c *chunk, at int) Transfer { return c.Transfers[at] }
