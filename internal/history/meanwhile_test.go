package history_test

import (
	"context"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/view"
)

// TestWhatHappensWithinARead lets orders come, trade and end, and rows move to
// the store, between the steps of a read: what follows from the order of the
// steps is met each time, and not only when goroutines happen to meet.
func TestWhatHappensWithinARead(t *testing.T) {
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		r := newRig(seed, 1500)
		r.follow(1)
		r.reader = history.NewReader(laterStore{r.store, r.meanwhile}, r.tail, laterView{r.view, r.meanwhile})
		r.reader.Patience = 0
		w := newWatcher(t, r, seed)
		for range 250 {
			r.frame(r.some(1 + r.rng.IntN(5))...)
			w.round()
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		w.check()
	}
}

// meanwhile applies frames, and follows so that the tail never drops what is not
// stored.
func (r *rig) meanwhile() {
	for range r.rng.IntN(3) {
		r.frame(r.some(1 + r.rng.IntN(5))...)
		r.pass()
	}
	if n := len(r.behind); r.rng.IntN(3) == 0 || n > 10 {
		r.follow(max(n-10, r.rng.IntN(n+1)))
	}
}

// laterView is a view after whose answers things happen.
type laterView struct {
	*view.View
	then func()
}

func (v laterView) Counts(id bourse.AccountID) (orders, fills uint64) {
	defer v.then()
	return v.View.Counts(id)
}

func (v laterView) LastTrade(id bourse.MarketID) uint64 {
	defer v.then()
	return v.View.LastTrade(id)
}

func (v laterView) OpenOrder(id bourse.AccountID, order bourse.OrderID) (bourse.Order, bool) {
	defer v.then()
	return v.View.OpenOrder(id, order)
}

func (v laterView) OpenOrderNamed(id bourse.AccountID, name bourse.ClientID) (bourse.Order, bool) {
	defer v.then()
	return v.View.OpenOrderNamed(id, name)
}

func (v laterView) OpenOrderUpTo(id bourse.AccountID, order bourse.OrderID, t bourse.Time) uint64 {
	defer v.then()
	return v.View.OpenOrderUpTo(id, order, t)
}

func (v laterView) OpenOrdersSpan(id bourse.AccountID, only bourse.MarketID, first, last uint64, limit int) []bourse.Order {
	defer v.then()
	return v.View.OpenOrdersSpan(id, only, first, last, limit)
}

func (v laterView) Movements(id bourse.AccountID) uint64 {
	defer v.then()
	return v.View.Movements(id)
}

func (v laterView) OpenMovements(id bourse.AccountID, first, last uint64) ([]bourse.Deposit, []bourse.Withdrawal) {
	defer v.then()
	return v.View.OpenMovements(id, first, last)
}

func (v laterView) OpenMovement(id bourse.AccountID, movement bourse.WalletID) (*bourse.Deposit, *bourse.Withdrawal) {
	defer v.then()
	return v.View.OpenMovement(id, movement)
}

// laterStore is a store before whose answers things happen.
type laterStore struct {
	history.Store
	first func()
}

func (s laterStore) Orders(ctx context.Context, id bourse.AccountID, span history.Span) ([]history.Order, error) {
	s.first()
	return s.Store.Orders(ctx, id, span)
}

func (s laterStore) OrdersIn(ctx context.Context, id bourse.AccountID, market bourse.MarketID, w history.Window) ([]history.Order, error) {
	s.first()
	return s.Store.OrdersIn(ctx, id, market, w)
}

func (s laterStore) OrdinalsIn(ctx context.Context, id bourse.AccountID, market bourse.MarketID, w history.Window) ([]uint64, error) {
	s.first()
	return s.Store.OrdinalsIn(ctx, id, market, w)
}

func (s laterStore) OrderUpTo(ctx context.Context, id bourse.AccountID, order bourse.OrderID, t bourse.Time) (uint64, error) {
	s.first()
	return s.Store.OrderUpTo(ctx, id, order, t)
}

func (s laterStore) FillUpTo(ctx context.Context, id bourse.AccountID, t bourse.Time) (uint64, error) {
	s.first()
	return s.Store.FillUpTo(ctx, id, t)
}

func (s laterStore) FillBefore(ctx context.Context, id bourse.AccountID, market bourse.MarketID, trade uint64) (uint64, error) {
	s.first()
	return s.Store.FillBefore(ctx, id, market, trade)
}

func (s laterStore) Order(ctx context.Context, id bourse.AccountID, order bourse.OrderID) (history.Order, bool, error) {
	s.first()
	return s.Store.Order(ctx, id, order)
}

func (s laterStore) OrderNamed(ctx context.Context, id bourse.AccountID, name bourse.ClientID) (history.Order, bool, error) {
	s.first()
	return s.Store.OrderNamed(ctx, id, name)
}

func (s laterStore) Fills(ctx context.Context, id bourse.AccountID, span history.Span) ([]history.Fill, error) {
	s.first()
	return s.Store.Fills(ctx, id, span)
}

func (s laterStore) FillsIn(ctx context.Context, id bourse.AccountID, market bourse.MarketID, w history.Window) ([]history.Fill, error) {
	s.first()
	return s.Store.FillsIn(ctx, id, market, w)
}

func (s laterStore) FillsOf(ctx context.Context, id bourse.AccountID, orders []bourse.OrderID) ([]history.Fill, error) {
	s.first()
	return s.Store.FillsOf(ctx, id, orders)
}

func (s laterStore) Trades(ctx context.Context, market bourse.MarketID, span history.Span) ([]history.Trade, error) {
	s.first()
	return s.Store.Trades(ctx, market, span)
}

func (s laterStore) Candles(ctx context.Context, series history.Series, from, to bourse.Time, limit int) ([]history.Candle, error) {
	s.first()
	return s.Store.Candles(ctx, series, from, to, limit)
}

func (s laterStore) Notes(ctx context.Context, skip, limit int) ([]history.Note, error) {
	s.first()
	return s.Store.Notes(ctx, skip, limit)
}

func (s laterStore) Movements(ctx context.Context, id bourse.AccountID, span history.Span) ([]history.Movement, error) {
	s.first()
	return s.Store.Movements(ctx, id, span)
}

func (s laterStore) MovementsIn(ctx context.Context, id bourse.AccountID, filter history.MovementFilter, w history.Window) ([]history.Movement, error) {
	s.first()
	return s.Store.MovementsIn(ctx, id, filter, w)
}

func (s laterStore) Movement(ctx context.Context, id bourse.AccountID, movement bourse.WalletID) (history.Movement, bool, error) {
	s.first()
	return s.Store.Movement(ctx, id, movement)
}
