package history

import (
	"cmp"
	"context"

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

// Amendments returns the amendments of an order before the one of a command, or the latest
// ones if that is zero, newest first, at most limit. Of an open order the latest ones begin with
// the terms that o has.
func (r *Reader) Amendments(ctx context.Context, o *bourse.Order, before bourse.Seq, limit int) ([]Amendment, error) {
	if !o.Amended {
		return nil, nil
	}

	g := r.tail.glimpse()
	span := Span{0, uint64(before) - 1} // of zero, all
	young := newest(g, amendmentsByOrder, uint64(o.ID), span, amendmentAt)
	compare := func(a, b Amendment) int { return cmp.Compare(b.Seq, a.Seq) }
	list, err := follow(young, 0, limit, compare, func(_, limit int) ([]Amendment, error) {
		if err := r.reach(ctx, g.begin); err != nil {
			return nil, err
		}
		stored, err := r.store.Amendments(ctx, o.Account, o.ID, bourse.Seq(span.Last), limit)
		return stored, r.told(err)
	})
	latest := before == 0 && o.Status == bourse.Open
	for latest && len(list) > 0 && list[0].To != (bourse.Terms{Price: o.Price, Lots: o.Lots}) {
		list = list[1:]
	}
	return list, err
}

func amendmentAt(c *chunk, at int) Amendment { return c.Amendments[at] }
