package history

import (
	"cmp"
	"context"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// Fills returns an account's fills, newest first, of one market unless only is
// zero, after passing over skip of them. With a market, more than 10,000 to pass
// over are refused.
func (r *Reader) Fills(ctx context.Context, account bourse.AccountID, only bourse.MarketID, skip, limit int) ([]Fill, error) {
	_, count := r.live.Counts(account)
	if only != 0 {
		return r.fillsIn(ctx, account, only, count, skip, limit)
	}
	span := page(count, skip, limit)
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
	if err := r.reach(ctx, g); err != nil {
		return nil, err
	}
	older, err := r.store.Fills(ctx, account, span)
	return append(list, older...), r.told(err)
}

// fillsIn returns fills of one market up to an ordinal.
func (r *Reader) fillsIn(ctx context.Context, account bourse.AccountID, market bourse.MarketID, last uint64, skip, limit int) ([]Fill, error) {
	if err := checkSkip(skip); err != nil || last == 0 || limit <= 0 {
		return nil, err
	}
	g := r.tail.glimpse()
	young := newest(g, fillsByMarket, marketKey(account, market), Span{1, last}, fillAt)
	list := cut(young, skip, limit)
	if len(list) == limit {
		return list, nil
	}
	if err := r.reach(ctx, g); err != nil {
		return nil, err
	}
	// The store may have some of the tail's; what it is asked for begins below.
	last = g.firstFill(account, last) - 1
	older, err := r.store.FillsIn(ctx, account, market, last, max(0, skip-len(young)), limit-len(list))
	return append(list, older...), r.told(err)
}

// firstFill returns the lowest ordinal of an account's fills up to one; that plus
// one if there are none.
func (g *glimpse) firstFill(account bourse.AccountID, last uint64) uint64 {
	for _, c := range g.chunks {
		if found := c.find(fillsByAccount, uint64(account), Span{1, last}); len(found) > 0 {
			return found[0].order
		}
	}
	return last + 1
}

// Trades returns a market's trades, newest first, after passing over skip of
// them.
func (r *Reader) Trades(ctx context.Context, market bourse.MarketID, skip, limit int) ([]Trade, error) {
	span := page(r.live.LastTrade(market), skip, limit)
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
	if err := r.reach(ctx, g); err != nil {
		return nil, err
	}
	older, err := r.store.Trades(ctx, market, span)
	return append(list, older...), r.told(err)
}

// Transfers returns the transfers to or from an account, newest first, after
// passing over skip of them, at most 10,000.
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
		if err := r.reach(ctx, g); err != nil {
			return nil, err
		}
		list, err := r.store.Transfers(ctx, account, skip, limit)
		return list, r.told(err)
	})
}

// Notes returns the operators' notes, newest first, after passing over skip of
// them, at most 10,000.
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
		if err := r.reach(ctx, g); err != nil {
			return nil, err
		}
		list, err := r.store.Notes(ctx, skip, limit)
		return list, r.told(err)
	})
}

// follow returns a page of the tail's rows followed by the store's, all newest
// first. Which of the tail's the store has as well is not known beforehand.
func follow[R any](young []R, skip, limit int, compare func(a, b R) int, stored func(skip, limit int) ([]R, error)) ([]R, error) {
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

// merge sorts two lists into one. Of rows that compare equal, one of the first
// list is kept.
func merge[R any](first, second []R, compare func(a, b R) int) []R {
	list := append(first, second...)
	slices.SortStableFunc(list, compare)
	return slices.CompactFunc(list, func(a, b R) bool { return compare(a, b) == 0 })
}
