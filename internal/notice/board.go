package notice

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bourse-exchange/bourse"
)

// mostLive bounds the live notices, which are kept in memory: about 1 MB.
const mostLive = 500

// Board serves the live notices. Safe for concurrent use.
type Board struct {
	store Store
	clock func() time.Time
	// live are the live notices, newest first. A list is never changed once it is here.
	live atomic.Pointer[[]Notice]
	// writing serialises changes. It guards unsure, which is set while the store may have made
	// a change that live has not.
	writing sync.Mutex
	unsure  bool
}

// Open reads the live notices from a store.
func Open(ctx context.Context, store Store, clock func() time.Time) (*Board, error) {
	live, err := store.LiveNotices(ctx)
	if err != nil {
		return nil, err
	}
	b := &Board{store: store, clock: clock}
	b.live.Store(&live)
	return b, nil
}

// Live returns the live notices of a kind, newest first.
func (b *Board) Live(kind Kind) []Notice {
	var list []Notice
	for _, n := range *b.live.Load() {
		if n.Kind == kind {
			list = append(list, n)
		}
	}
	return list
}

// Check returns the error with which Add refuses texts, or nil.
func (b *Board) Check(kind Kind, title, body string) error {
	n := Notice{Kind: kind, Title: strings.TrimSpace(title), Body: strings.TrimSpace(body)}
	return n.check()
}

// Add publishes a notice. It returns an *bourse.Error with CodeInvalid for a malformed text and
// with CodeRefused if mostLive notices are live, and the store's errors.
func (b *Board) Add(ctx context.Context, kind Kind, title, body string) (Notice, error) {
	n := Notice{
		Kind: kind, Title: strings.TrimSpace(title), Body: strings.TrimSpace(body),
		Created: bourse.TimeOf(b.clock()),
	}
	if err := n.check(); err != nil {
		return n, err
	}

	b.writing.Lock()
	defer b.writing.Unlock()
	if err := b.refresh(ctx); err != nil {
		return n, err
	}
	live := *b.live.Load()
	if len(live) >= mostLive {
		return n, bourse.Errorf(bourse.CodeRefused, "there are %d notices; end one first", mostLive)
	}

	if err := b.store.AddNotice(ctx, &n); err != nil {
		b.doubt(ctx)
		return n, err
	}
	live = slices.Insert(slices.Clone(live), 0, n)
	b.live.Store(&live)
	return n, nil
}

// End withdraws a notice. It returns an *bourse.Error with CodeNotFound if no live one has the
// id, and the store's errors.
func (b *Board) End(ctx context.Context, id ID) (Notice, error) {
	b.writing.Lock()
	defer b.writing.Unlock()
	if err := b.refresh(ctx); err != nil {
		return Notice{}, err
	}
	live := slices.Clone(*b.live.Load())
	at := slices.IndexFunc(live, func(n Notice) bool { return n.ID == id })
	if at < 0 {
		return Notice{}, bourse.Errorf(bourse.CodeNotFound, "there is no live notice %d", id)
	}

	n := live[at]
	n.Ended = bourse.TimeOf(b.clock())
	if err := b.store.EndNotice(ctx, id, n.Ended); err != nil {
		b.doubt(ctx)
		return Notice{}, err
	}
	live = slices.Delete(live, at, at+1)
	b.live.Store(&live)
	return n, nil
}

// refreshFor bounds the reading of the live notices after a failed change.
const refreshFor = 5 * time.Second

// doubt reads the live notices again after a failed change, which the store may have made. If
// it cannot, the next change does. The caller holds writing.
func (b *Board) doubt(ctx context.Context) {
	b.unsure = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshFor) // ctx may be why it failed
	defer cancel()
	_ = b.refresh(ctx)
}

// refresh reads the live notices if they are in doubt. The caller holds writing.
func (b *Board) refresh(ctx context.Context) error {
	if !b.unsure {
		return nil
	}
	live, err := b.store.LiveNotices(ctx)
	if err != nil {
		return err
	}
	b.live.Store(&live)
	b.unsure = false
	return nil
}

// All returns live and ended notices, newest first: at most limit with ids below before,
// or the newest if before is zero.
func (b *Board) All(ctx context.Context, before ID, limit int) ([]Notice, error) {
	return b.store.Notices(ctx, before, limit)
}
