package history

import (
	"context"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// LedgerQuery says which entries of an account are wanted.
type LedgerQuery struct {
	Account bourse.AccountID
	Assets  []bourse.AssetID
	// From and To bound the time, both included.
	From, To bourse.Time
	// Before leaves the entries in front of a place; none if zero.
	Before EntryPlace
	Limit  int
}

// Ledger returns entries, newest first. Entries are in the store alone: a read
// waits until it has everything announced.
func (r *Reader) Ledger(ctx context.Context, q *LedgerQuery) ([]Entry, error) {
	if err := r.reach(ctx, &glimpse{after: r.tail.newestRows()}); err != nil {
		return nil, err
	}
	before := q.Before
	if before == (EntryPlace{}) {
		before = EntryPlace{Seq: 1<<63 - 1}
	}
	var list []Entry
	for _, asset := range q.Assets {
		found, err := r.store.Entries(ctx, q.Account, asset, q.To, before, q.Limit)
		if err != nil {
			return nil, err
		}
		for i := range found {
			if found[i].Time < q.From {
				break // those behind it are older
			}
			list = append(list, found[i])
		}
	}
	slices.SortFunc(list, func(a, b Entry) int { return comparePlaces(b.EntryPlace, a.EntryPlace) })
	return cut(list, 0, q.Limit), nil
}
