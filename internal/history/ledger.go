package history

import (
	"context"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// LedgerQuery selects entries of an account's ledger.
type LedgerQuery struct {
	Account bourse.AccountID
	Assets  []bourse.AssetID
	// From and To bound the time, both included.
	From, To bourse.Time
	// Before selects the entries older than a place; zero selects all.
	Before EntryPlace
	Limit  int
}

// Ledger returns entries, newest first. Entries are in the store alone: a read waits
// until the store has everything announced.
func (r *Reader) Ledger(ctx context.Context, q *LedgerQuery) ([]Entry, error) {
	if err := r.reach(ctx, r.tail.newestRows()); err != nil {
		return nil, err
	}

	ask := *q
	if ask.Before == (EntryPlace{}) {
		ask.Before = EntryPlace{Seq: 1<<63 - 1}
	}

	var list []Entry
	for _, asset := range q.Assets {
		found, err := r.store.Entries(ctx, &ask, asset)
		if err != nil {
			return nil, err
		}
		for i := range found {
			if found[i].Time < q.From {
				break // the rest is older
			}
			list = append(list, found[i])
		}
	}

	slices.SortFunc(list, func(a, b Entry) int { return comparePlaces(b.EntryPlace, a.EntryPlace) })
	return cut(list, 0, q.Limit), nil
}
