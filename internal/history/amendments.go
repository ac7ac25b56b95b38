package history

import (
	"cmp"
	"context"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// Amendment is a change of the terms of an open order.
type Amendment struct {
	// Seq is the command that made it.
	Seq      bourse.Seq
	Account  bourse.AccountID
	Order    bourse.OrderID
	Time     bourse.Time
	From, To bourse.Terms
}

// Amendments returns the latest amendments of an order, oldest first, at most limit. Of an
// open order it leaves out those behind the terms that o has.
func (r *Reader) Amendments(ctx context.Context, o *bourse.Order, limit int) ([]Amendment, error) {
	if !o.Amended {
		return nil, nil
	}

	g := r.tail.glimpse()
	young := newest(g, amendmentsByOrder, uint64(o.ID), Span{0, ^uint64(0)}, amendmentAt)
	compare := func(a, b Amendment) int { return cmp.Compare(b.Seq, a.Seq) }
	list, err := follow(young, 0, limit, compare, func(_, limit int) ([]Amendment, error) {
		if err := r.reach(ctx, g.begin); err != nil {
			return nil, err
		}
		stored, err := r.store.Amendments(ctx, o.Account, o.ID, limit)
		return stored, r.told(err)
	})
	for o.Status == bourse.Open && len(list) > 0 && list[0].To != (bourse.Terms{Price: o.Price, Lots: o.Lots}) {
		list = list[1:]
	}
	slices.Reverse(list)
	return list, err
}

func amendmentAt(c *chunk, at int) Amendment { return c.Amendments[at] }
