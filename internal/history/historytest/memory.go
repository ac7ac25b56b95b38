package historytest

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

// Memory is a store in memory. Each read of candles draws them from the trades.
type Memory struct {
	mu     sync.RWMutex
	cursor history.Cursor
	// orders are sorted by ordinal; fills and trades lie at their ordinals and numbers,
	// which have no gaps.
	orders    map[bourse.AccountID][]history.Order
	fills     map[bourse.AccountID][]history.Fill
	trades    map[bourse.MarketID][]history.Trade
	transfers []history.Transfer
	notes     []history.Note
	amended   []history.Amendment
	// movements are sorted by ordinal.
	movements map[bourse.AccountID][]history.Movement
	entries   map[bourse.AccountID][]history.Entry
	bulletins []history.Bulletin
}

var _ history.Store = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{
		orders: map[bourse.AccountID][]history.Order{},
		fills:  map[bourse.AccountID][]history.Fill{},
		trades: map[bourse.MarketID][]history.Trade{},

		movements: map[bourse.AccountID][]history.Movement{},
		entries:   map[bourse.AccountID][]history.Entry{},
	}
}

// Cursor returns the store's position.
func (m *Memory) Cursor(context.Context) (history.Cursor, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.cursor, nil
}

// Write adds a batch.
func (m *Memory) Write(_ context.Context, b *history.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b.From != m.cursor.Seq+1 {
		return history.ErrOutOfOrder
	}

	for _, o := range b.Orders {
		list := m.orders[o.Account]
		at, _ := slices.BinarySearchFunc(list, o.Ordinal, compareOrdinal)
		m.orders[o.Account] = slices.Insert(list, at, o)
	}
	for _, f := range b.Fills {
		m.fills[f.Account] = append(m.fills[f.Account], f)
	}
	for _, t := range b.Trades {
		m.trades[t.Market] = append(m.trades[t.Market], t)
	}
	m.transfers = append(m.transfers, b.Transfers...)
	m.notes = append(m.notes, b.Notes...)
	m.amended = append(m.amended, b.Amendments...)
	for _, v := range b.Movements {
		m.move(v)
	}
	for _, e := range b.Entries {
		m.entries[e.Account] = append(m.entries[e.Account], e)
	}

	m.bulletins = append(m.bulletins, b.Bulletins...)

	m.cursor = history.Cursor{Seq: b.To, Time: b.Time, Chain: b.Chain}
	return nil
}

// move writes a movement, or replaces its earlier row.
func (m *Memory) move(v history.Movement) {
	list := m.movements[v.Account]
	at, found := slices.BinarySearchFunc(list, v.Ordinal, func(w history.Movement, ordinal uint64) int {
		return cmp.Compare(w.Ordinal, ordinal)
	})
	if found {
		list[at] = v
		return
	}
	m.movements[v.Account] = slices.Insert(list, at, v)
}

func compareOrdinal(o history.Order, ordinal uint64) int { return cmp.Compare(o.Ordinal, ordinal) }

// pick returns the rows that pass a filter, last first, after skipping skip of them, at
// most limit unless that is negative.
func pick[R any](rows []R, skip, limit int, filter func(*R) bool) []R {
	var list []R
	for i := len(rows) - 1; i >= 0 && len(list) != limit; i-- {
		switch {
		case !filter(&rows[i]):
		case skip > 0:
			skip--
		default:
			list = append(list, rows[i])
		}
	}
	return list
}

// pickWindow is pick, of a window's newest rows or its oldest ones.
func pickWindow[R any](rows []R, w history.Window, filter func(*R) bool) []R {
	if !w.Oldest {
		return pick(rows, w.Skip, w.Limit, filter)
	}
	list := pick(rows, 0, -1, filter)
	return list[max(0, len(list)-w.Limit):]
}

// within reports whether a number lies in a span.
func within(n uint64, s history.Span) bool { return n >= s.First && n <= s.Last }

// dense returns the rows whose numbers, from one without gaps, lie in a span, last first.
func dense[R any](rows []R, s history.Span) []R {
	last := min(s.Last, uint64(len(rows)))
	if s.First > last {
		return nil
	}
	list := slices.Clone(rows[max(s.First, 1)-1 : last])
	slices.Reverse(list)
	return list
}

// Orders returns final orders in a span of ordinals.
func (m *Memory) Orders(_ context.Context, account bourse.AccountID, span history.Span) ([]history.Order, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	list := m.orders[account]
	from, _ := slices.BinarySearchFunc(list, span.First, compareOrdinal)
	var found []history.Order
	for _, o := range list[from:] {
		if !within(o.Ordinal, span) {
			break
		}
		found = append(found, o)
	}
	slices.Reverse(found)
	return found, nil
}

// OrdersIn returns final orders in a market.
func (m *Memory) OrdersIn(
	_ context.Context, account bourse.AccountID, market bourse.MarketID, w history.Window,
) ([]history.Order, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return pickWindow(m.orders[account], w, func(o *history.Order) bool {
		return o.Market == market && within(o.Ordinal, w.Span) && o.Seq <= w.Until
	}), nil
}

// OrdinalsIn returns the ordinals of final orders in a market.
func (m *Memory) OrdinalsIn(
	ctx context.Context, account bourse.AccountID, market bourse.MarketID, w history.Window,
) ([]uint64, error) {
	var list []uint64
	orders, err := m.OrdersIn(ctx, account, market, w)
	for i := range orders {
		list = append(list, orders[i].Ordinal)
	}
	return list, err
}

// OrderUpTo returns the highest ordinal of a final order up to an id and a time.
func (m *Memory) OrderUpTo(
	_ context.Context, account bourse.AccountID, id bourse.OrderID, t bourse.Time,
) (uint64, error) {
	o, _, err := m.latest(account, func(o *history.Order) bool { return o.ID <= id && o.Time <= t })
	return o.Ordinal, err
}

// Order returns a final order.
func (m *Memory) Order(_ context.Context, account bourse.AccountID, id bourse.OrderID) (history.Order, bool, error) {
	return m.latest(account, func(o *history.Order) bool { return o.ID == id })
}

// OrderNamed returns the latest final order with a client id.
func (m *Memory) OrderNamed(
	_ context.Context, account bourse.AccountID, id bourse.ClientID,
) (history.Order, bool, error) {
	return m.latest(account, func(o *history.Order) bool { return o.ClientID == id })
}

func (m *Memory) latest(account bourse.AccountID, filter func(*history.Order) bool) (history.Order, bool, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, o := range pick(m.orders[account], 0, 1, filter) {
		return o, true, nil
	}
	return history.Order{}, false, nil
}

// Fills returns fills in a span of ordinals.
func (m *Memory) Fills(_ context.Context, account bourse.AccountID, span history.Span) ([]history.Fill, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return dense(m.fills[account], span), nil
}

// FillsIn returns fills in a market.
func (m *Memory) FillsIn(
	_ context.Context, account bourse.AccountID, market bourse.MarketID, w history.Window,
) ([]history.Fill, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return pickWindow(m.fills[account], w, func(f *history.Fill) bool {
		return f.Market == market && within(f.Ordinal, w.Span)
	}), nil
}

// FillUpTo returns the highest ordinal of a fill up to a time.
func (m *Memory) FillUpTo(_ context.Context, account bourse.AccountID, t bourse.Time) (uint64, error) {
	return m.lastFill(account, func(f *history.Fill) bool { return f.Time <= t })
}

// FillBefore returns the highest ordinal of a fill in a trade with a lower number.
func (m *Memory) FillBefore(
	_ context.Context, account bourse.AccountID, market bourse.MarketID, trade uint64,
) (uint64, error) {
	return m.lastFill(account, func(f *history.Fill) bool { return f.Market == market && f.Trade < trade })
}

func (m *Memory) lastFill(account bourse.AccountID, filter func(*history.Fill) bool) (uint64, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, f := range pick(m.fills[account], 0, 1, filter) {
		return f.Ordinal, nil
	}
	return 0, nil
}

// FillsOf returns the fills of some orders.
func (m *Memory) FillsOf(_ context.Context, account bourse.AccountID, orders []bourse.OrderID) ([]history.Fill, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	list := pick(m.fills[account], 0, -1, func(f *history.Fill) bool { return slices.Contains(orders, f.Order) })
	slices.Reverse(list)
	return list, nil
}

// Amendments returns the latest amendments of an order.
func (m *Memory) Amendments(
	_ context.Context, account bourse.AccountID, order bourse.OrderID, last bourse.Seq, limit int,
) ([]history.Amendment, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return pick(m.amended, 0, limit, func(a *history.Amendment) bool {
		return a.Account == account && a.Order == order && a.Seq <= last
	}), nil
}

// Trades returns trades in a span of numbers.
func (m *Memory) Trades(_ context.Context, market bourse.MarketID, span history.Span) ([]history.Trade, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return dense(m.trades[market], span), nil
}

// Candles returns the candles with starts in [from, to].
func (m *Memory) Candles(
	_ context.Context, series history.Series, from, to bourse.Time, limit int,
) ([]history.Candle, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var list []history.Candle

	for i := range m.trades[series.Market] {
		t := &m.trades[series.Market][i]
		start := t.Time.Floor(bourse.Time(series.Width))
		if start < from || start > to {
			continue
		}
		if n := len(list); n == 0 || list[n-1].Start != start {
			if n == limit {
				break
			}
			list = append(list, history.Candle{Start: start})
		}
		list[len(list)-1].Add(t)
	}
	return list, nil
}

// CandleBefore returns the last candle that starts before a time.
func (m *Memory) CandleBefore(
	ctx context.Context, series history.Series, before bourse.Time,
) (history.Candle, bool, error) {
	list, err := m.Candles(ctx, series, 0, before-1, -1)
	if len(list) == 0 {
		return history.Candle{}, false, err
	}
	return list[len(list)-1], true, nil
}

// FirstCandle returns a series' first candle.
func (m *Memory) FirstCandle(ctx context.Context, series history.Series) (history.Candle, bool, error) {
	list, err := m.Candles(ctx, series, 0, 1<<62, 1)
	if len(list) == 0 {
		return history.Candle{}, false, err
	}
	return list[0], true, nil
}

// Transfers returns the transfers to or from an account.
func (m *Memory) Transfers(_ context.Context, account bourse.AccountID, skip, limit int) ([]history.Transfer, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return pick(m.transfers, skip, limit, func(t *history.Transfer) bool {
		return t.From == account || t.To == account
	}), nil
}

// Movements returns movements in a span of ordinals.
func (m *Memory) Movements(_ context.Context, account bourse.AccountID, span history.Span) ([]history.Movement, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return pick(m.movements[account], 0, -1, func(v *history.Movement) bool { return within(v.Ordinal, span) }), nil
}

// MovementsIn returns movements that pass a filter.
func (m *Memory) MovementsIn(
	_ context.Context, account bourse.AccountID, filter history.MovementFilter, w history.Window,
) ([]history.Movement, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return pick(m.movements[account], w.Skip, w.Limit, func(v *history.Movement) bool {
		return within(v.Ordinal, w.Span) && filter.Passes(v)
	}), nil
}

// Movement returns a movement.
func (m *Memory) Movement(
	_ context.Context, account bourse.AccountID, id bourse.WalletID,
) (history.Movement, bool, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, v := range pick(m.movements[account], 0, 1, func(v *history.Movement) bool { return v.ID == id }) {
		return v, true, nil
	}
	return history.Movement{}, false, nil
}

// HasMovement reports whether there is a movement.
func (m *Memory) HasMovement(_ context.Context, id bourse.WalletID) (bool, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, list := range m.movements {
		if slices.ContainsFunc(list, func(v history.Movement) bool { return v.ID == id }) {
			return true, nil
		}
	}
	return false, nil
}

// Entries returns entries of an account's ledger.
func (m *Memory) Entries(_ context.Context, q *history.LedgerQuery, asset bourse.AssetID) ([]history.Entry, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return pick(m.entries[q.Account], 0, q.Limit, func(e *history.Entry) bool {
		return e.Asset == asset && e.Time <= q.To &&
			(e.Seq < q.Before.Seq || e.Seq == q.Before.Seq && e.Place < q.Before.Place)
	}), nil
}

// Notes returns the operators' notes.
func (m *Memory) Notes(_ context.Context, skip, limit int) ([]history.Note, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return pick(m.notes, skip, limit, func(*history.Note) bool { return true }), nil
}

// Close does nothing: the store can be opened again with its rows.
func (m *Memory) Close() error { return nil }

// Bulletins returns the bulletins behind a place.
func (m *Memory) Bulletins(_ context.Context, after history.BulletinPlace, limit int) ([]history.Bulletin, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	at, found := slices.BinarySearchFunc(m.bulletins, after, func(b history.Bulletin, p history.BulletinPlace) int {
		return b.Compare(p)
	})
	if found {
		at++
	}
	return slices.Clone(m.bulletins[at:min(at+limit, len(m.bulletins))]), nil
}
