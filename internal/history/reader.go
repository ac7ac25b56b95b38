package history

import (
	"context"
	"errors"
	"time"

	"github.com/bourse-exchange/bourse"
)

// maxSkip bounds the offset into lists that have no dense ordinals, where what is
// passed over has to be read.
const maxSkip = 10_000

// Live is what a reader asks of the view, which shows what is announced.
type Live interface {
	// Now returns the engine's time.
	Now() bourse.Time
	// Counts returns the ordinals of an account's last order and last fill.
	Counts(account bourse.AccountID) (orders, fills uint64)
	// Movements returns the ordinal of an account's last deposit or withdrawal.
	Movements(account bourse.AccountID) uint64
	// LastMovement returns the highest id of a deposit or withdrawal that was seen;
	// one that was over before a restart may be higher.
	LastMovement() bourse.WalletID
	// OpenMovements returns an account's deposits and withdrawals that are not over,
	// with ordinals in [first, last], newest first.
	OpenMovements(account bourse.AccountID, first, last uint64) ([]bourse.Deposit, []bourse.Withdrawal)
	// OpenMovement returns one of them by its id; both are nil if there is none.
	OpenMovement(account bourse.AccountID, id bourse.WalletID) (*bourse.Deposit, *bourse.Withdrawal)
	// LastTrade returns the number of a market's last trade.
	LastTrade(market bourse.MarketID) uint64
	// OpenOrder returns one open order of an account, OpenOrderNamed the one
	// with a client id; false if there is none.
	OpenOrder(account bourse.AccountID, id bourse.OrderID) (bourse.Order, bool)
	OpenOrderNamed(account bourse.AccountID, id bourse.ClientID) (bourse.Order, bool)
	// OpenOrders returns an account's open orders, newest first: of the market
	// only, or, with only zero, those of the market first in front.
	OpenOrders(account bourse.AccountID, only, first bourse.MarketID, skip, limit int) []bourse.Order
	// OpenOrdersSpan returns an account's open orders with ordinals in
	// [first, last], newest first.
	OpenOrdersSpan(account bourse.AccountID, first, last uint64) []bourse.Order
}

// Reader answers pages that cover everything announced before they were asked
// for. Any goroutine may call it.
//
// Each read asks the view, then the tail, then the store, in this order. A row
// moves the other way only: what has left the view is in the tail already, and
// what has left the tail is in the store, so none slips through; one that is seen
// twice is known by its ordinal, and a final order takes the place of an open
// one. When the store has not come to where the tail begins, a read waits, and
// fails with CodeBehind if that takes too long.
type Reader struct {
	store Store
	tail  *Tail
	live  Live
	// Patience is how long a read waits for the store.
	Patience time.Duration
}

// NewReader returns a reader with a patience of one second.
func NewReader(store Store, tail *Tail, live Live) *Reader {
	return &Reader{store, tail, live, time.Second}
}

// reach waits until the store holds what a glimpse does not.
func (r *Reader) reach(ctx context.Context, g *glimpse) error {
	if n, _ := r.tail.missing(g.after); n == 0 {
		return nil
	}
	patient, cancel := context.WithTimeout(ctx, r.Patience)
	defer cancel()
	n := r.tail.await(patient, g.after)
	switch {
	case n == 0:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return bourse.Errorf(bourse.CodeBehind, "History is %d commands behind", n)
}

// told adds to the error of a store that cannot be asked now how far it lags.
func (r *Reader) told(err error) error {
	var known *bourse.Error
	if !errors.As(err, &known) || known.Code != bourse.CodeUnavailable {
		return err
	}
	n, _ := r.tail.Lag()
	return bourse.Errorf(bourse.CodeUnavailable, "%s and %d commands behind", known.Message, n)
}

// page returns the ordinals of a page, of which the newest is count.
func page(count uint64, skip, limit int) Span {
	if limit <= 0 || skip < 0 || uint64(skip) >= count {
		return Span{First: 1}
	}
	last := count - uint64(skip)
	return Span{First: last - min(last, uint64(limit)) + 1, Last: last}
}

func (s Span) empty() bool { return s.First > s.Last }

// checkSkip refuses an offset that would read too much.
func checkSkip(skip int) error {
	if skip < 0 || skip > maxSkip {
		return bourse.Errorf(bourse.CodeInvalid, "The offset into this list must be from 0 to %d", maxSkip)
	}
	return nil
}

// cut returns a page of a list.
func cut[R any](list []R, skip, limit int) []R {
	if skip < 0 || limit <= 0 || skip >= len(list) {
		return nil
	}
	return list[skip:min(len(list), skip+limit)]
}
