package history

import (
	"context"
	"errors"
	"time"

	"github.com/bourse-exchange/bourse"
)

// maxSkip bounds the offset into lists without ordinals, where skipped rows have to be
// read.
const maxSkip = 10_000

// Live is the reader's interface of the view, which shows the announced state.
type Live interface {
	// Now returns the engine's time.
	Now() bourse.Time
	// Counts returns the ordinals of an account's last order and last fill.
	Counts(account bourse.AccountID) (orders, fills uint64)
	// Movements returns the ordinal of an account's last deposit or withdrawal.
	Movements(account bourse.AccountID) uint64
	// LastMovement returns the highest id of a deposit or withdrawal that was seen;
	// movements that ended before a restart may have higher ones.
	LastMovement() bourse.WalletID
	// OpenMovements returns an account's open deposits and withdrawals with ordinals in
	// [first, last], newest first.
	OpenMovements(account bourse.AccountID, first, last uint64) ([]bourse.Deposit, []bourse.Withdrawal)
	// OpenMovement returns an open movement by its id; both are nil if there is none.
	OpenMovement(account bourse.AccountID, id bourse.WalletID) (*bourse.Deposit, *bourse.Withdrawal)
	// LastTrade returns the number of a market's last trade.
	LastTrade(market bourse.MarketID) uint64
	// OpenOrder returns an open order of an account, OpenOrderNamed the one with a client
	// id; false if there is none.
	OpenOrder(account bourse.AccountID, id bourse.OrderID) (bourse.Order, bool)
	OpenOrderNamed(account bourse.AccountID, id bourse.ClientID) (bourse.Order, bool)
	// OpenOrderUpTo returns the highest ordinal of an account's open order with an id up to
	// id and accepted up to a time; zero if there is none.
	OpenOrderUpTo(account bourse.AccountID, id bourse.OrderID, t bourse.Time) uint64
	// OpenOrdersSpan returns an account's open orders with ordinals in [first, last], newest
	// first: at most limit, of the market only, or, with only zero, of all markets.
	OpenOrdersSpan(account bourse.AccountID, only bourse.MarketID, first, last uint64, limit int) []bourse.Order
}

// Reader answers pages that cover everything announced before the call. Safe for
// concurrent use.
//
// Each read asks the view, then the tail, then the store, the order in which rows move: a
// row that has left the view is in the tail already, and a row that has left the tail is
// in the store, so that none is missed. A row that is seen twice is known by its ordinal,
// and a final order replaces an open one. If the store has not reached the tail's begin,
// a read waits, and fails with CodeBehind after Patience.
type Reader struct {
	store Store
	tail  *Tail
	live  Live
	// Patience bounds how long a read waits for the store.
	Patience time.Duration
}

// NewReader returns a reader with a patience of one second.
func NewReader(store Store, tail *Tail, live Live) *Reader {
	return &Reader{store, tail, live, time.Second}
}

// Ready waits, within Patience, until the reader has everything announced before the call,
// and returns an error that names the lag if it has not.
func (r *Reader) Ready(ctx context.Context) error { return r.reach(ctx, r.tail.glimpse().begin) }

// reach waits until the store has the rows of the commands up to seq.
func (r *Reader) reach(ctx context.Context, seq bourse.Seq) error {
	if n, _ := r.tail.missing(seq); n == 0 {
		return nil
	}
	patient, cancel := context.WithTimeout(ctx, r.Patience)
	defer cancel()
	n := r.tail.await(patient, seq)
	switch {
	case n == 0:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return bourse.Errorf(bourse.CodeBehind, "History is %d commands behind", n)
}

// told adds the lag to the error of a store that is unavailable.
func (r *Reader) told(err error) error {
	var known *bourse.Error
	if !errors.As(err, &known) || known.Code != bourse.CodeUnavailable {
		return err
	}
	n, _ := r.tail.Lag()
	return bourse.Errorf(bourse.CodeUnavailable, "%s and %d commands behind", known.Message, n)
}

// page returns the ordinals of a page of a list whose newest ordinal is count.
func page(count uint64, skip, limit int) Span {
	if limit <= 0 || skip < 0 || uint64(skip) >= count {
		return Span{First: 1}
	}
	last := count - uint64(skip)
	return Span{First: last - min(last, uint64(limit)) + 1, Last: last}
}

func (s Span) empty() bool { return s.First > s.Last }

func (s Span) has(n uint64) bool { return n >= s.First && n <= s.Last }

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
