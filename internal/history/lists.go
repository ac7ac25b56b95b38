package history

import (
	"cmp"
	"context"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// Fills returns an account's fills that a query selects, newest first.
func (r *Reader) Fills(ctx context.Context, account bourse.AccountID, q *ListQuery) ([]Fill, error) {
	bounds, err := r.fillSpan(ctx, account, q)
	if err != nil {
		return nil, err
	}

	span := bounds.page(q.Skip, q.Limit)
	switch {
	case q.Oldest && !span.empty():
		return r.oldestFills(ctx, account, q.Market, Window{Span: bounds, Limit: q.Limit, Oldest: true})
	case span.empty():
		return nil, nil
	case q.Market != 0:
		return r.fillsIn(ctx, account, q.Market, Window{Span: bounds, Skip: q.Skip, Limit: q.Limit})
	default:
		return r.FillsSpan(ctx, account, span)
	}
}

// FillsSpan returns an account's fills with ordinals in the span, newest first. The span
// must not go beyond the last fill.
func (r *Reader) FillsSpan(ctx context.Context, account bourse.AccountID, span Span) ([]Fill, error) {
	if span.empty() {
		return nil, nil
	}
	g := r.tail.glimpse()
	list := newest(g, fillsByAccount, uint64(account), span, fillAt)
	if n := len(list); n > 0 {
		span.Last = list[n-1].Ordinal - 1
	}
	if span.empty() {
		return list, nil
	}

	if err := r.reach(ctx, g.begin); err != nil {
		return nil, err
	}

	older, err := r.store.Fills(ctx, account, span)
	return append(list, older...), r.told(err)
}

// fillsIn returns a page of an account's fills in one market.
func (r *Reader) fillsIn(
	ctx context.Context, account bourse.AccountID, market bourse.MarketID, w Window,
) ([]Fill, error) {
	g := r.tail.glimpse()
	young := newest(g, fillsByMarket, marketKey(account, market), w.Span, fillAt)
	list := cut(young, w.Skip, w.Limit)
	if len(list) == w.Limit {
		return list, nil
	}
	if err := r.reach(ctx, g.begin); err != nil {
		return nil, err
	}
	// The store may have some of the tail's fills: the query begins below them.
	w.Last = g.firstFill(account, w.Last) - 1
	w.Skip, w.Limit = max(0, w.Skip-len(young)), w.Limit-len(list)
	older, err := r.store.FillsIn(ctx, account, market, w)
	return append(list, older...), r.told(err)
}

// oldestFills returns the oldest fills of one market in a window, newest first.
func (r *Reader) oldestFills(
	ctx context.Context, account bourse.AccountID, market bourse.MarketID, w Window,
) ([]Fill, error) {
	g := r.tail.glimpse()
	young := newest(g, fillsByMarket, marketKey(account, market), w.Span, fillAt)
	if err := r.reach(ctx, g.begin); err != nil {
		return nil, err
	}
	// The store may have some of the tail's fills: the query ends below them.
	w.Last = g.firstFill(account, w.Last) - 1
	stored, err := r.store.FillsIn(ctx, account, market, w)
	more := min(len(young), w.Limit-len(stored))
	return append(young[len(young)-more:], stored...), r.told(err)
}

// firstFill returns the lowest ordinal of an account's fills up to last in the glimpse;
// last plus one if there are none.
func (g *glimpse) firstFill(account bourse.AccountID, last uint64) uint64 {
	for _, c := range g.chunks {
		if found := c.find(fillsByAccount, uint64(account), Span{1, last}); len(found) > 0 {
			return found[0].order
		}
	}
	return last + 1
}

// Trades returns a market's trades, newest first, after skipping skip of them.
func (r *Reader) Trades(ctx context.Context, market bourse.MarketID, skip, limit int) ([]Trade, error) {
	return r.TradesSpan(ctx, market, page(r.live.LastTrade(market), skip, limit))
}

// TradesSpan returns a market's trades with numbers in the span, newest first. The span
// must not go beyond the last trade.
func (r *Reader) TradesSpan(ctx context.Context, market bourse.MarketID, span Span) ([]Trade, error) {
	if span.empty() {
		return nil, nil
	}
	g := r.tail.glimpse()
	list := newest(g, tradesByMarket, uint64(market), span, tradeAt)
	if n := len(list); n > 0 {
		span.Last = list[n-1].Number - 1
	}
	if span.empty() {
		return list, nil
	}
	if err := r.reach(ctx, g.begin); err != nil {
		return nil, err
	}
	older, err := r.store.Trades(ctx, market, span)
	return append(list, older...), r.told(err)
}

// Transfers returns the transfers to or from an account, newest first, after skipping
// skip of them, at most 10,000.
func (r *Reader) Transfers(ctx context.Context, account bourse.AccountID, skip, limit int) ([]Transfer, error) {
	if err := checkSkip(skip); err != nil {
		return nil, err
	}
	g := r.tail.glimpse()
	young := newest(g, transfersByAccount, uint64(account), Span{0, ^uint64(0)}, transferAt)
	compare := func(a, b Transfer) int {
		return cmp.Or(cmp.Compare(b.Seq, a.Seq), cmp.Compare(b.Index, a.Index))
	}
	return follow(young, skip, limit, compare, func(skip, limit int) ([]Transfer, error) {
		if err := r.reach(ctx, g.begin); err != nil {
			return nil, err
		}
		list, err := r.store.Transfers(ctx, account, skip, limit)
		return list, r.told(err)
	})
}

// Notes returns the operators' notes, newest first, after skipping skip of them, at most
// 10,000.
func (r *Reader) Notes(ctx context.Context, skip, limit int) ([]Note, error) {
	if err := checkSkip(skip); err != nil {
		return nil, err
	}
	g := r.tail.glimpse()
	var young []Note
	for _, c := range slices.Backward(g.chunks) {
		for _, n := range slices.Backward(c.Notes) {
			young = append(young, n)
		}
	}
	compare := func(a, b Note) int { return cmp.Compare(b.Seq, a.Seq) }
	return follow(young, skip, limit, compare, func(skip, limit int) ([]Note, error) {
		if err := r.reach(ctx, g.begin); err != nil {
			return nil, err
		}
		list, err := r.store.Notes(ctx, skip, limit)
		return list, r.told(err)
	})
}

// follow returns a page of the tail's rows followed by the store's, all newest first. The
// store may have rows of the tail as well, which merge drops.
func follow[R any](
	young []R, skip, limit int, compare func(a, b R) int, stored func(skip, limit int) ([]R, error),
) ([]R, error) {
	if len(young) >= skip+limit {
		return cut(young, skip, limit), nil
	}
	if len(young) == 0 {
		return stored(skip, limit)
	}
	older, err := stored(0, skip+limit)
	if err != nil {
		return nil, err
	}
	return cut(merge(young, older, compare), skip, limit), nil
}

// merge sorts two lists into one. Of rows that compare equal, it keeps one of the first
// list.
func merge[R any](first, second []R, compare func(a, b R) int) []R {
	list := append(first, second...)
	slices.SortStableFunc(list, compare)
	return slices.CompactFunc(list, func(a, b R) bool { return compare(a, b) == 0 })
}
