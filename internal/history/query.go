package history

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sort"

	"github.com/bourse-exchange/bourse"
)

// The errors of queries whose BeforeOrder is missing or wrong.
var (
	// ErrTwoFills means that Before is an account's trade with itself, without BeforeOrder.
	ErrTwoFills = errors.New("the account has two fills of the trade")
	// ErrNoFill means that the account has no fill of that trade and order.
	ErrNoFill = errors.New("the account has no such fill")
)

// ListQuery selects rows of an account's orders or fills, newest first.
type ListQuery struct {
	// Market restricts the list to one market; zero is all markets.
	Market bourse.MarketID
	// Before restricts the list to rows with lower ids: orders by their id, fills of one
	// market by the number of the trade. Zero is no bound.
	Before uint64
	// BeforeOrder is the order of the fill of trade Before that bounds a list of fills: an
	// account that traded with itself has two of one number. It may be zero if there is one.
	BeforeOrder bourse.OrderID
	// From and To bound the times of rows, both included. To is zero for no bound.
	From, To bourse.Time
	// AtLeast restricts the list to rows with this id or a higher one: orders by their id, fills
	// of one market by the number of the trade. Zero is no bound.
	AtLeast uint64
	// Oldest selects the oldest rows of one market in place of the newest; the list is newest
	// first all the same, and Skip must be zero.
	Oldest bool
	// Skip is the number of rows to skip, Limit the most to return.
	Skip, Limit int
}

// whole reports whether the list has all rows of the account.
func (q *ListQuery) whole() bool { return q.Before == 0 && q.AtLeast == 0 && q.From <= 0 && q.To == 0 }

// bound returns the ordinals of a list that a query's bounds admit. ordinal returns the
// highest ordinal of a row at or before a time.
func (q *ListQuery) bound(count uint64, ordinal func(bourse.Time) (uint64, error)) (Span, error) {
	span := Span{First: 1, Last: count}
	if q.To != 0 {
		last, err := ordinal(q.To)
		if err != nil {
			return span, err
		}
		span.Last = min(span.Last, last)
	}
	if q.From > 0 {
		before, err := ordinal(q.From - 1)
		if err != nil {
			return span, err
		}
		span.First = before + 1
	}
	return span, nil
}

// page returns the ordinals of a page of a span without gaps.
func (s Span) page(skip, limit int) Span {
	if s.empty() {
		return s
	}
	p := page(s.Last-s.First+1, skip, limit)
	return Span{First: p.First + s.First - 1, Last: p.Last + s.First - 1}
}

// orderSpan returns the ordinals of the orders that a query's bounds admit.
func (r *Reader) orderSpan(ctx context.Context, account bourse.AccountID, q *ListQuery) (Span, error) {
	count, _ := r.live.Counts(account)
	if q.whole() || count == 0 {
		return Span{First: 1, Last: count}, nil
	}

	const latest = bourse.Time(1<<63 - 1)
	span, err := q.bound(count, func(t bourse.Time) (uint64, error) {
		return r.orderUpTo(ctx, account, ^bourse.OrderID(0), t)
	})
	if err == nil && q.Before != 0 {
		var last uint64
		last, err = r.orderUpTo(ctx, account, bourse.OrderID(q.Before-1), latest)
		span.Last = min(span.Last, last)
	}
	if err == nil && q.AtLeast != 0 {
		var before uint64
		before, err = r.orderUpTo(ctx, account, bourse.OrderID(q.AtLeast-1), latest)
		span.First = max(span.First, before+1)
	}
	return span, err
}

// orderUpTo returns the highest ordinal of an account's order, open or final, with an id
// up to id and accepted up to a time. Ids and times rise with ordinals.
func (r *Reader) orderUpTo(
	ctx context.Context, account bourse.AccountID, id bourse.OrderID, t bourse.Time,
) (uint64, error) {
	last := r.live.OpenOrderUpTo(account, id, t)
	g := r.tail.glimpse()
	for _, c := range g.chunks {
		list := c.find(ordersByAccount, uint64(account), Span{1, ^uint64(0)})
		end := first(list, func(e entry) bool { return c.Orders[e.at].ID > id || c.Orders[e.at].Time > t })
		if end > 0 {
			last = max(last, list[end-1].order)
		}
	}

	if err := r.reach(ctx, g.begin); err != nil {
		return 0, err
	}
	stored, err := r.store.OrderUpTo(ctx, account, id, t)
	return max(last, stored), r.told(err)
}

// fillSpan returns the ordinals of the fills that a query's bounds admit.
func (r *Reader) fillSpan(ctx context.Context, account bourse.AccountID, q *ListQuery) (Span, error) {
	_, count := r.live.Counts(account)
	if q.whole() || count == 0 {
		return Span{First: 1, Last: count}, nil
	}

	span, err := q.bound(count, func(t bourse.Time) (uint64, error) {
		return r.fillUpTo(ctx, fillsByAccount, uint64(account), func(f *Fill) bool { return f.Time <= t },
			func() (uint64, error) { return r.store.FillUpTo(ctx, account, t) })
	})
	if err == nil && q.Before != 0 {
		var last uint64
		last, err = r.fillBefore(ctx, account, q)
		span.Last = min(span.Last, last)
	}
	if err == nil && q.AtLeast != 0 {
		var before uint64
		before, err = r.fillBelow(ctx, account, q.Market, q.AtLeast)
		span.First = max(span.First, before+1)
	}
	return span, err
}

// fillBelow returns the highest ordinal of an account's fills in trades of a market with lower
// numbers.
func (r *Reader) fillBelow(
	ctx context.Context, account bourse.AccountID, market bourse.MarketID, trade uint64,
) (uint64, error) {
	return r.fillUpTo(ctx, fillsByMarket, marketKey(account, market), func(f *Fill) bool { return f.Trade < trade },
		func() (uint64, error) { return r.store.FillBefore(ctx, account, market, trade) })
}

// fillBefore returns the highest ordinal of the fills that a query's Before and
// BeforeOrder admit. The two fills of a trade with oneself have adjacent ordinals.
func (r *Reader) fillBefore(ctx context.Context, account bourse.AccountID, q *ListQuery) (uint64, error) {
	last, err := r.fillBelow(ctx, account, q.Market, q.Before+1)
	if err != nil {
		return 0, err
	}

	fills, err := r.FillsSpan(ctx, account, Span{First: max(last, 2) - 1, Last: last})
	if err != nil {
		return 0, err
	}
	fills = slices.DeleteFunc(fills, func(f Fill) bool { return f.Market != q.Market || f.Trade != q.Before })

	if q.BeforeOrder == 0 {
		if len(fills) > 1 {
			return 0, ErrTwoFills
		}
		return last - uint64(len(fills)), nil
	}
	for i := range fills {
		if fills[i].Order == q.BeforeOrder {
			return fills[i].Ordinal - 1, nil
		}
	}
	return 0, ErrNoFill
}

// fillUpTo returns the highest ordinal of a key's fills that are admitted: of the tail,
// or, if it has none, of the store. Admitted fills come before the others.
func (r *Reader) fillUpTo(
	ctx context.Context, col column, key uint64, admitted func(*Fill) bool, stored func() (uint64, error),
) (uint64, error) {
	g := r.tail.glimpse()
	for _, c := range slices.Backward(g.chunks) {
		list := c.find(col, key, Span{1, ^uint64(0)})
		if end := first(list, func(e entry) bool { return !admitted(&c.Fills[e.at]) }); end > 0 {
			return list[end-1].order, nil
		}
	}

	if err := r.reach(ctx, g.begin); err != nil {
		return 0, err
	}
	last, err := stored()
	return last, r.told(err)
}

// first returns the index of the first entry that is beyond a bound, as all later ones
// are.
func first(list []entry, beyond func(entry) bool) int {
	return sort.Search(len(list), func(i int) bool { return beyond(list[i]) })
}

// weave returns a page of two lists in descending order without common elements: young,
// and the rows after the first skipped ones of stored. skip counts from the beginning of
// both. Skipped must not exceed the difference of skip and the length of young.
func weave(young, stored []uint64, skipped, skip, limit int) []uint64 {
	if skipped > 0 {
		if len(stored) == 0 {
			return nil
		}
		above, _ := slices.BinarySearchFunc(young, stored[0], func(a, b uint64) int { return cmp.Compare(b, a) })
		young, skip = young[above:], skip-skipped-above
	}
	list := slices.Concat(young, stored)
	slices.SortFunc(list, func(a, b uint64) int { return cmp.Compare(b, a) })
	return cut(list, skip, limit)
}
