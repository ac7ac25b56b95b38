package exports

import (
	"context"
	"strconv"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/view"
)

var ledgerHead = []string{"time", "seq", "asset", "delta", "balance", "kind", "order", "trade", "xid"}

// ledger returns the pages of the changes of an account's balances.
func (e *Exports) ledger(who bourse.AccountID, s *selection) func(context.Context) ([][]string, error) {
	q := &history.LedgerQuery{Account: who, From: s.from, To: s.to, Limit: pageSize}
	for _, a := range e.View.Catalogue().Assets[1:] {
		if s.asset == 0 || s.asset == a.ID {
			q.Assets = append(q.Assets, a.ID)
		}
	}
	return func(ctx context.Context) ([][]string, error) {
		list, err := e.History.Ledger(ctx, q)
		if err != nil || len(list) == 0 {
			return nil, err
		}
		q.Before = list[len(list)-1].EntryPlace

		catalogue := e.View.Catalogue()
		rows := make([][]string, len(list))
		for i := range list {
			rows[i] = entryRow(catalogue, &list[i])
		}
		return rows, nil
	}
}

func entryRow(c *view.Catalogue, e *history.Entry) []string {
	asset := c.Assets[e.Asset]
	delta := e.Amount.Format(asset.Scale)
	if e.Debit {
		delta = "-" + delta
	}
	return []string{
		moment(e.Time), id(uint64(e.Seq)), string(asset.Symbol), delta, e.Balance.Format(asset.Scale), e.Kind.String(),
		id(uint64(e.Order)), id(e.Trade), id(uint64(e.Movement)),
	}
}

// id writes an id; zero is empty.
func id(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}
