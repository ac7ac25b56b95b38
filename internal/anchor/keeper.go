package anchor

import (
	"errors"
	"sync"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// errSilent reports that an anchor has not answered for long.
var errSilent = errors.New("it does not answer")

// Keeper keeps a record of a running journal at an anchor. One goroutine starts an
// exchange and calls Follow; from then on the keeper is safe for concurrent use, and Keep
// is called by one goroutine at a time.
type Keeper struct {
	// Record is the record to keep. The start may replace and change it until the line
	// runs; then it is guarded by mu.
	Record *Record

	place Anchor
	clock func() time.Time
	// late is the time without a new head after which the anchor counts as away.
	late time.Duration
	// soon receives when a head should be kept before the next turn.
	soon chan struct{}
	// voids is the number of void commands, void the hash of the last void.
	voids int
	void  journal.Hash

	mu sync.Mutex
	// tip is the newest durable frame.
	tip journal.Tip
	// kept is the last kept record, nil before the first, and at its time. err is the
	// error of the last Keep.
	kept *Record
	at   time.Time
	err  error
}

// NewKeeper returns a keeper. The anchor counts as away once no head was kept for late.
func NewKeeper(place Anchor, clock func() time.Time, late time.Duration) *Keeper {
	return &Keeper{place: place, clock: clock, late: late, soon: make(chan struct{}, 1)}
}

// Load loads the record from the anchor. With ErrNone, Record is nil.
func (k *Keeper) Load() (err error) {
	k.Record, err = k.place.Load()
	return err
}

// Follow sets the opened journal's tip, its number of void commands, and the hash of the
// last void.
func (k *Keeper) Follow(tip journal.Tip, voids int, void journal.Hash) {
	k.tip, k.voids, k.void = tip, voids, void
}

// Soon returns a channel that receives when Keep should not wait for its next turn.
func (k *Keeper) Soon() <-chan struct{} { return k.soon }

// Tip returns the newest durable frame.
func (k *Keeper) Tip() journal.Tip {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tip
}

// Note records a durable frame as the tip.
func (k *Keeper) Note(t journal.Tip) {
	k.mu.Lock()
	k.tip = t
	k.mu.Unlock()
}

// State returns the head with the state hash at a command, or nil.
func (k *Keeper) State(seq bourse.Seq) *Head {
	k.mu.Lock()
	defer k.mu.Unlock()
	if known := k.Record.State(seq); known != nil {
		found := *known
		return &found
	}
	return nil
}

// Anchored reports whether the state at a command is durably anchored.
func (k *Keeper) Anchored(seq bourse.Seq) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.kept != nil && k.kept.State(seq) != nil
}

// AddState adds a head with a state hash, to be anchored soon.
func (k *Keeper) AddState(tip journal.Tip, state journal.Hash) {
	k.mu.Lock()
	k.Record.AddState(Head{Tip: tip, State: state, Voids: k.voids, Void: k.void})
	k.mu.Unlock()
	select {
	case k.soon <- struct{}{}:
	default: // already signalled
	}
}

// Keep anchors the record with the newest head. It holds no lock during the write, which
// may block for ever.
func (k *Keeper) Keep() error {
	k.mu.Lock()
	if k.tip.Last > k.Record.Newest.Tip.Last {
		k.Record.Newest = Head{Tip: k.tip, Voids: k.voids, Void: k.void}
	}
	next := k.Record.Clone()
	k.mu.Unlock()

	err := k.place.Keep(next)

	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err = err; err == nil {
		k.kept, k.at = next, k.clock()
	}
	return err
}

// Reached returns the newest anchored command and the time since it was anchored. err is
// the reason why the anchor counts as away, or nil.
func (k *Keeper) Reached() (kept bourse.Seq, since time.Duration, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	since = k.clock().Sub(k.at)
	if err = k.err; err == nil && since > k.late {
		err = errSilent
	}
	if k.kept != nil {
		kept = k.kept.Newest.Tip.Last
	}
	return kept, since, err
}
