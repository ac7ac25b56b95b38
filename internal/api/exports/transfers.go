package exports

import (
	"context"
	"strconv"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/history"
)

var transfersHead = []string{
	"time", "xid", "type", "asset", "amount", "fee", "status", "done", "network", "address", "memo", "txid",
}

// transfers returns the pages of an account's deposits, withdrawals and transfers. New ones push
// the others down; a row that is read again is skipped. A page that is newer than the period has
// no rows.
func (e *Exports) transfers(who bourse.AccountID, s *selection) func(context.Context) ([][]string, error) {
	filter := history.MovementFilter{Asset: s.asset}
	if s.movement != 0 {
		filter.Of = filter.Of.With(s.movement)
	}
	skip, oldest, over := 0, ^uint64(0), false
	return func(ctx context.Context) ([][]string, error) {
		if over {
			return nil, nil
		}
		listing := e.NewListing()
		list, err := e.History.WalletTransactions(ctx, who, filter, skip, pageSize)
		if err != nil || len(list) == 0 {
			return nil, err
		}
		skip += len(list)

		rows := make([][]string, 0, len(list))
		for i := range list {
			m := &list[i]
			if m.Ordinal >= oldest || m.Created > s.to {
				continue
			}
			oldest, over = m.Ordinal, m.Created < s.from
			if over {
				break
			}
			row, err := e.transferRow(ctx, listing, m)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
		return rows, nil
	}
}

func (e *Exports) transferRow(ctx context.Context, l *teller.Listing, m *history.Movement) ([]string, error) {
	c := e.View.Catalogue()
	address, memo, err := l.Parties(ctx, m)
	if err != nil {
		return nil, err
	}

	asset := c.Assets[m.Asset]
	var network, tx, fee, done string
	if !teller.Given(m) {
		network, tx = string(c.Networks[m.Network].Symbol), l.TxID(m)
	}
	if m.Kind != history.MovementDeposit {
		fee = m.Fee.Format(asset.Scale)
	}
	if m.Status == bourse.WalletDone {
		done = moment(m.Done)
	}
	return []string{
		moment(m.Created), strconv.FormatUint(uint64(m.ID), 10), teller.KindWords[m.Kind], string(asset.Symbol),
		m.Amount.Format(asset.Scale), fee, m.Status.String(), done, network, address, memo, tx,
	}, nil
}
