package exports

import (
	"context"
	"strconv"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/view"
)

var tradesHead = []string{
	"time", "trade", "order", "pair", "side", "role", "price", "amount", "total", "fee", "fee_asset",
}

// trades returns the pages of an account's trades, which have ordinals as orders have.
func (e *Exports) trades(who bourse.AccountID, s *selection) func(context.Context) ([][]string, error) {
	q := &history.ListQuery{Market: s.market, From: s.from, To: s.to, Limit: pageSize}
	return func(ctx context.Context) ([][]string, error) {
		list, err := e.History.Fills(ctx, who, q)
		if err != nil || len(list) == 0 {
			return nil, err
		}
		q.Skip += len(list)

		catalogue := e.View.Catalogue()
		rows := make([][]string, 0, len(list))
		for i := range list {
			if s.side == 0 || s.side == list[i].Side {
				rows = append(rows, tradeRow(catalogue, &list[i]))
			}
		}
		return rows, nil
	}
}

func tradeRow(c *view.Catalogue, f *history.Fill) []string {
	m := c.Markets[f.Market]
	received := c.Assets[m.Received(f.Side)]
	return []string{
		moment(f.Time), strconv.FormatUint(f.Trade, 10), strconv.FormatUint(uint64(f.Order), 10), string(m.Pair), f.Side.String(),
		f.Role.String(), bourse.Units(uint64(f.Price)).Format(m.QuotePrecision), lots(m, f.Lots),
		f.Total.Format(c.Assets[m.Quote].Scale), f.Fee.Format(received.Scale), string(received.Symbol),
	}
}
