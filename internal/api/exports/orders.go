package exports

import (
	"context"
	"strconv"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/view"
)

var ordersHead = []string{
	"time", "order", "pair", "side", "type", "time_in_force", "price", "stop", "amount", "total", "filled", "status", "client_id",
	"prevented",
}

// orders returns the pages of an account's orders. No order enters a period that is over, so the
// number of earlier rows finds the next page.
func (e *Exports) orders(who bourse.AccountID, s *selection) func(context.Context) ([][]string, error) {
	q := &history.ListQuery{Market: s.market, From: s.from, To: s.to, Limit: pageSize}
	return func(ctx context.Context) ([][]string, error) {
		list, err := e.History.Orders(ctx, who, q)
		if err != nil || len(list) == 0 {
			return nil, err
		}
		q.Skip += len(list)

		catalogue := e.View.Catalogue()
		rows := make([][]string, 0, len(list))
		for i := range list {
			if s.takesOrder(&list[i].Order.Order) {
				rows = append(rows, orderRow(catalogue, &list[i].Order))
			}
		}
		return rows, nil
	}
}

func orderRow(c *view.Catalogue, o *history.Order) []string {
	m := c.Markets[o.Market]
	var price, stop, amount, total string
	if o.Type.HasPrice() {
		price = bourse.Units(uint64(o.Price)).Format(m.QuotePrecision)
	}
	if o.Type.HasStop() {
		stop = bourse.Units(uint64(o.Stop)).Format(m.QuotePrecision)
	}
	if o.Lots > 0 {
		amount = lots(m, o.Lots)
	} else {
		total = o.Total.Format(c.Assets[m.Quote].Scale)
	}
	name := ""
	if !o.ClientID.IsZero() {
		name = o.ClientID.String()
	}
	return []string{
		moment(o.Time), strconv.FormatUint(uint64(o.ID), 10), string(m.Pair), o.Side.String(), o.Type.String(), o.TIF.String(),
		price, stop, amount, total, lots(m, o.Filled), o.Status.String(), name,
		lots(m, o.Prevented),
	}
}

// lots writes a quantity in the base asset.
func lots(m *bourse.Market, l bourse.Lots) string {
	return bourse.Units(uint64(l)).Format(m.BasePrecision)
}
