package binance

import (
	"strconv"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/teller"
	"github.com/bourse-exchange/bourse/internal/history"
)

// movementParams are the parameters of lists of deposits and withdrawals.
func movementParams() []Param { return may("coin startTime endTime offset limit") }

// mostOffset bounds the parameter offset.
const mostOffset = 1<<31 - 1

// movements reads an account's movements of one kind, newest first. The parameter status selects
// one of statuses by its number.
func (f *Facade) movements(
	r *Request, kind history.MovementKind, statuses map[int64]bourse.WalletStatus,
) (list []history.Movement, l *teller.Listing, err error) {
	filter := history.MovementFilter{}
	if r.Has("coin") {
		if a := r.coin(); a != nil {
			filter.Asset = a.ID
		}
	}
	filter.From, filter.To = r.walletPeriod()
	filter.Of = filter.Of.With(kind)
	if r.Has("status") {
		status, known := statuses[r.Long("status", 0)]
		if !known {
			return nil, nil, r.Err()
		}
		filter.Of = history.MovementSet(0).With(kind, status)
	}
	skip, limit := int(r.Int("offset", 0, mostOffset, 0)), r.Limit(mostLimit, mostLimit)
	if err := r.Err(); err != nil {
		return nil, nil, err
	}

	l = f.Teller.NewListing()
	r.chargeRows(min(skip, int(f.View.Movements(r.Who.Account))))
	list, err = f.History.WalletTransactions(r.Context, r.Who.Account, filter, skip, limit)
	return list, l, err
}

// transferType tells a movement over a network from one inside the exchange.
func transferType(m *history.Movement) int64 {
	if m.Other != 0 {
		return 1
	}
	return 0
}

// movementID returns the id of a movement, which is a text in this interface.
func movementID(m *history.Movement) string { return strconv.FormatUint(uint64(m.ID), 10) }
