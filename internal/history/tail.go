package history

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bourse-exchange/bourse"
)

// chunkRows is about how many rows are sealed and dropped together. A reader
// scans what is not sealed, some microseconds for this many.
const chunkRows = 2048

// Tail holds the rows that are too young to be in the store. It is an observer of
// the sequencer, and belongs before the view: what has left the view must be here
// already. One goroutine observes, one tells what is stored, any number read.
type Tail struct {
	// bound is how many rows may be held, more or less a chunk; perChunk is how
	// many make a chunk.
	bound, perChunk int

	// batch holds the youngest rows; readers see those up to the last End.
	// touched is the last command that left rows. restored is what a snapshot
	// restores: readers see that at End, too. They belong to who observes.
	batch    Batch
	touched  bourse.Seq
	tip      Cursor
	reset    bool
	restored bourse.Seq
	// has is up to where the store had all rows when the frame began, if nothing
	// was here: what is here has no gaps. passed is the last command that is not
	// here because of that.
	has, passed bourse.Seq

	mu sync.RWMutex
	// chunks are sealed, oldest first; young is batch as readers see it.
	chunks []*chunk
	young  Batch
	// last is touched, and end is tip, as readers see them.
	last bourse.Seq
	end  Cursor
	// rows counts those of chunks, sealed the chunks that there ever were.
	rows   int
	sealed uint64
	// seen is the last chunk that a reader may hold, the young one among them;
	// spare is the memory of one that none does.
	seen  atomic.Uint64
	spare Batch
	// after is the last command whose rows may be missing here.
	after  bourse.Seq
	stored Cursor
	// moved is closed when stored moves, and replaced.
	moved chan struct{}
}

// NewTail returns a tail that holds about bound rows.
func NewTail(bound int) *Tail {
	return &Tail{
		bound: bound, perChunk: min(chunkRows, bound/8+1), moved: make(chan struct{}),
	}
}

// Reset empties the tail: what is restored from a snapshot is in the store, or
// will be.
func (t *Tail) Reset(func(string) ([]byte, bool)) error {
	t.batch, t.touched, t.passed, t.reset = Batch{}, 0, 0, true
	return nil
}

// Unneeded returns up to where a start need not show the tail what the journal
// holds up to some command: the store has it, or it is more than the tail keeps, of
// which a command leaves one row or more, with few exceptions.
func (t *Tail) Unneeded(last bourse.Seq) bourse.Seq {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return max(t.stored.Seq, last-min(last, bourse.Seq(t.bound)))
}

// Begin opens a frame.
func (t *Tail) Begin() {
	t.mu.RLock()
	defer t.mu.RUnlock()
	t.has = 0
	if t.rows == 0 && t.batch.Rows() == 0 {
		t.has = t.stored.Seq
	}
}

// Observe takes in what a command did. Readers see it at End. What the store has
// already, as of most that a start replays, is not needed here.
func (t *Tail) Observe(cmd *bourse.Command, ev *bourse.Events) {
	t.tip.Seq, t.tip.Time = cmd.Seq, cmd.Time
	if cmd.Kind == 0 {
		t.restored = cmd.Seq
		return
	}
	if cmd.Seq <= t.has {
		t.passed = cmd.Seq
		return
	}
	rows := t.batch.Rows()
	Project(cmd, ev, &t.batch)
	if t.batch.Rows() > rows {
		t.touched = cmd.Seq
	}
}

// End closes a frame.
func (t *Tail) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.reset {
		t.reset, t.chunks, t.rows, t.after = false, nil, 0, t.restored
	}
	t.after = max(t.after, t.passed)
	if t.batch.Rows() >= t.perChunk {
		t.seal()
	}
	t.young, t.last, t.end = t.batch, t.touched, t.tip
	t.trim()
}

// seal makes a chunk of the young rows. What follows goes where a chunk was that
// nobody has seen, as in a replay, or gets room for as much, because it is likely
// to be of the same shape.
func (t *Tail) seal() {
	b := t.batch
	t.sealed++
	t.chunks = append(t.chunks, &chunk{Batch: b, last: t.touched, sealed: true, number: t.sealed})
	t.rows += b.Rows()
	if t.batch, t.spare = t.spare, (Batch{}); cap(t.batch.Orders) == 0 {
		t.batch = Batch{
			Orders: make([]Order, 0, len(b.Orders)), Trades: make([]Trade, 0, len(b.Trades)),
			Fills: make([]Fill, 0, len(b.Fills)), Transfers: make([]Transfer, 0, len(b.Transfers)),
		}
	}
}

// trim drops the chunks that are stored, and the oldest ones of too many.
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
	t.after = dropped.last
	t.rows = rows - t.young.Rows()
	t.chunks = slices.Clone(t.chunks[n:]) // lets go of the memory
}

// Stored says that all rows of the commands up to a cursor are in the store.
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

// Lag returns how far the store is behind: zero while it misses no rows.
func (t *Tail) Lag() (commands uint64, span bourse.Time) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if max(t.last, t.after) <= t.stored.Seq {
		return 0, 0
	}
	if commands = uint64(t.end.Seq - t.stored.Seq); t.stored.Seq == 0 {
		return commands, 0 // there is no moment to count from
	}
	return commands, t.end.Time - t.stored.Time
}

// missing returns how many commands the store has to come nearer before a
// command's rows are in it, and a channel that is closed when it has moved.
func (t *Tail) missing(seq bourse.Seq) (uint64, <-chan struct{}) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if seq <= t.stored.Seq {
		return 0, nil
	}
	return uint64(seq - t.stored.Seq), t.moved
}

// await waits until a command's rows are in the store, or ctx ends; it returns
// how many commands are missing then.
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
	return max(t.last, t.after)
}

// glimpse is the tail at one moment. It does not change.
type glimpse struct {
	// after is the last command whose rows may be missing here; those of all
	// later ones, up to that moment, are here.
	after bourse.Seq
	// chunks are the rows, oldest first.
	chunks []*chunk
}

// glimpse returns the tail as it is.
func (t *Tail) glimpse() *glimpse {
	t.mu.RLock()
	g, young := &glimpse{t.after, t.chunks}, t.young
	t.seen.Store(t.sealed + 1)
	t.mu.RUnlock()
	if young.Rows() > 0 {
		// The slice is clipped, so that nobody else sees this chunk.
		g.chunks = append(slices.Clip(g.chunks), &chunk{Batch: young})
	}
	return g
}

// newest returns the rows of a key whose order lies in the span, highest first.
// It is for the columns whose order is that in which rows come.
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
