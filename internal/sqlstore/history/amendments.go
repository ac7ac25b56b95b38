package history

import (
	"cmp"
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

const selectAmendments = `SELECT seq, account, order_id, time, from_price, from_lots, to_price, to_lots
	FROM amendments WHERE account = $1 AND order_id = $2 AND seq <= $3 ORDER BY seq DESC LIMIT $4`

// Amendments returns the amendments of an account's order up to a command.
func (s *Store) Amendments(
	ctx context.Context, account bourse.AccountID, order bourse.OrderID, last bourse.Seq, limit int,
) ([]history.Amendment, error) {
	return list(ctx, s, selectAmendments, func(r scanner, a *history.Amendment) error {
		return r.Scan(&a.Seq, &a.Account, &a.Order, &a.Time, &a.From.Price, &a.From.Lots, &a.To.Price, &a.To.Lots)
	}, int64(account), integer(order), integer(last), limit)
}

func (i *inserts) addAmendments(ctx context.Context, b *history.Batch) error {
	for _, n := range i.sorted(len(b.Amendments), func(x, y int) int {
		a, o := &b.Amendments[x], &b.Amendments[y]
		return cmp.Or(cmp.Compare(a.Account, o.Account), cmp.Compare(a.Order, o.Order), cmp.Compare(x, y))
	}) {
		a := &b.Amendments[n]
		err := i.amendments.Add(ctx, int64(a.Account), integer(a.Order), integer(a.Seq), int64(a.Time),
			integer(a.From.Price), integer(a.From.Lots), integer(a.To.Price), integer(a.To.Lots))
		if err != nil {
			return err
		}
	}
	return i.amendments.Flush(ctx)
}
