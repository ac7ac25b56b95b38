package history

import (
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

const (
	selectCursor = `SELECT seq, time, chain FROM cursor`

	orderColumns = `account, ordinal, id, market, side, type, tif, selftrade, postonly, price, stop, lots,
		total_hi, total_lo, coalesce(client_id, ''), status, triggered, amended, list, time, filled, prevented, seq,
		closed`
	selectOrders     = `SELECT ` + orderColumns + ` FROM orders WHERE account = $1 `
	selectOrdersSpan = selectOrders + `AND ordinal BETWEEN $2 AND $3 ORDER BY ordinal DESC`
	// Skipped rows are read from the index alone.
	selectOrdinalsIn = `SELECT ordinal FROM orders
		WHERE account = $1 AND market = $2 AND ordinal BETWEEN $3 AND $4 AND seq <= $5
		ORDER BY ordinal DESC LIMIT $6 OFFSET $7`
	selectOrdersIn     = selectOrders + `AND ordinal IN (` + selectOrdinalsIn + `) ORDER BY ordinal DESC`
	selectOldestOrders = selectOrders + `AND ordinal IN (SELECT ordinal FROM orders
		WHERE account = $1 AND market = $2 AND ordinal BETWEEN $3 AND $4 AND seq <= $5
		ORDER BY ordinal LIMIT $6 OFFSET $7) ORDER BY ordinal DESC`
	// Ids and times rise with ordinals: as for selectOrder, below.
	selectOrderUpTo = `WITH RECURSIVE search(low, high, found) AS (
			SELECT CAST(1 AS bigint), max(ordinal), CAST(0 AS bigint) FROM orders WHERE account = $1
			UNION ALL
			SELECT CASE WHEN o.id <= $2 AND o.time <= $3 THEN o.ordinal + 1 ELSE low END,
				CASE WHEN o.id <= $2 AND o.time <= $3 THEN high ELSE (low + high) / 2 - 1 END,
				CASE WHEN o.id <= $2 AND o.time <= $3 THEN o.ordinal ELSE found END
			FROM search JOIN orders o ON o.account = $1 AND o.ordinal = (SELECT min(p.ordinal) FROM orders p
				WHERE p.account = $1 AND p.ordinal >= (low + high) / 2)
			WHERE low <= high)
		SELECT max(found) FROM search`
	// Ids rise with ordinals: a binary search by the first final order from the middle
	// on.
	selectOrder = `WITH RECURSIVE search(low, high, found) AS (
			SELECT CAST(1 AS bigint), max(ordinal), CAST(0 AS bigint) FROM orders WHERE account = $1
			UNION ALL
			SELECT CASE WHEN o.id < $2 THEN o.ordinal + 1 ELSE low END,
				CASE WHEN o.id < $2 THEN high ELSE (low + high) / 2 - 1 END,
				CASE WHEN o.id = $2 THEN o.ordinal ELSE 0 END
			FROM search JOIN orders o ON o.account = $1 AND o.ordinal = (SELECT min(p.ordinal) FROM orders p
				WHERE p.account = $1 AND p.ordinal >= (low + high) / 2)
			WHERE low <= high AND found = 0)
		` + selectOrders + `AND ordinal = (SELECT max(found) FROM search)`
	selectOrderNamed = selectOrders + `AND client_id = $2 ORDER BY ordinal DESC LIMIT 1`

	fillColumns = `account, ordinal, order_id, market, trade, seq, time, side, role, price, lots,
		total_hi, total_lo, fee_hi, fee_lo`
	selectFills     = `SELECT ` + fillColumns + ` FROM fills WHERE account = $1 `
	selectFillsSpan = selectFills + `AND ordinal BETWEEN $2 AND $3 ORDER BY ordinal DESC`
	selectFillsIn   = selectFills + `AND ordinal IN (SELECT ordinal FROM fills
		WHERE account = $1 AND market = $2 AND ordinal BETWEEN $3 AND $4 ORDER BY ordinal DESC LIMIT $5 OFFSET $6)
		ORDER BY ordinal DESC`
	selectOldestFills = selectFills + `AND ordinal IN (SELECT ordinal FROM fills
		WHERE account = $1 AND market = $2 AND ordinal BETWEEN $3 AND $4 ORDER BY ordinal LIMIT $5 OFFSET $6)
		ORDER BY ordinal DESC`
	selectFillUpTo = `WITH RECURSIVE search(low, high, found) AS (
			SELECT CAST(1 AS bigint), max(ordinal), CAST(0 AS bigint) FROM fills WHERE account = $1
			UNION ALL
			SELECT CASE WHEN f.time <= $2 THEN f.ordinal + 1 ELSE low END,
				CASE WHEN f.time <= $2 THEN high ELSE f.ordinal - 1 END,
				CASE WHEN f.time <= $2 THEN f.ordinal ELSE found END
			FROM search JOIN fills f ON f.account = $1 AND f.ordinal = (low + high) / 2
			WHERE low <= high)
		SELECT max(found) FROM search`
	selectFillBefore = `WITH RECURSIVE search(low, high, found) AS (
			SELECT CAST(1 AS bigint), max(ordinal), CAST(0 AS bigint) FROM fills WHERE account = $1 AND market = $2
			UNION ALL
			SELECT CASE WHEN f.trade < $3 THEN f.ordinal + 1 ELSE low END,
				CASE WHEN f.trade < $3 THEN high ELSE (low + high) / 2 - 1 END,
				CASE WHEN f.trade < $3 THEN f.ordinal ELSE found END
			FROM search JOIN fills f ON f.account = $1 AND f.ordinal = (SELECT min(p.ordinal) FROM fills p
				WHERE p.account = $1 AND p.market = $2 AND p.ordinal >= (low + high) / 2)
			WHERE low <= high)
		SELECT max(found) FROM search`

	selectTrades = `SELECT market, number, seq, time, taker_side, price, lots, total_hi, total_lo
		FROM trades WHERE market = $1 AND number BETWEEN $2 AND $3 ORDER BY number DESC`
	selectTransfers = `SELECT seq, place, time, kind, from_account, to_account, asset, amount_hi, amount_lo
		FROM transfers WHERE account = $1 ORDER BY seq DESC, place DESC LIMIT $2 OFFSET $3`
	movementColumns = `account, ordinal, id, seq, kind, network, asset, amount_hi, amount_lo, fee_hi, fee_lo, status,
		address, memo, tx, mined, height, target, other, refunded, created, done, party, message`
	selectMovements     = `SELECT ` + movementColumns + ` FROM movements WHERE account = $1 `
	selectMovementsSpan = selectMovements + `AND ordinal BETWEEN $2 AND $3 ORDER BY ordinal DESC`
	// An account has few enough movements to scan past the filtered ones.
	selectMovementsIn = selectMovements + `AND ordinal BETWEEN $2 AND $3 AND $4 IN (0, asset) AND $5 IN (0, network)
		AND (CAST($6 AS bigint) >> (8 * kind + status)) & 1 = 1 AND id < $7 AND created BETWEEN $8 AND $9
		ORDER BY ordinal DESC LIMIT $10 OFFSET $11`
	selectMovementID = `SELECT id FROM movements WHERE id = $1 LIMIT 1`
	selectMovement   = selectMovements + `AND id = $2`
	// Entries are few enough to scan those after a time.
	selectEntries = `SELECT account, asset, seq, place, time, kind, debit, amount_hi, amount_lo, balance_hi, balance_lo,
		market, trade, order_id, movement FROM entries
		WHERE account = $1 AND asset = $2 AND (seq, place) < ($3, $4) AND time <= $5
		ORDER BY seq DESC, place DESC LIMIT $6`
	selectNotes = `SELECT seq, time, operator, text FROM notes ORDER BY seq DESC LIMIT $1 OFFSET $2`
)

// queries are the queries shared by both kinds of database.
var queries = [...]string{
	selectCursor, selectOrdersSpan, selectOrdersIn, selectOrder, selectOrderNamed,
	selectOldestOrders, selectOldestFills, selectOrdinalsIn, selectOrderUpTo, selectFillUpTo, selectFillBefore,
	selectFillsSpan, selectFillsIn, selectTrades, selectTransfers, selectNotes, selectAmendments, selectBulletins,
	selectMovementsSpan, selectMovementsIn, selectMovement, selectMovementID, selectEntries,
	selectCandlesIn, selectCandleBefore, selectFirstCandle,
}

func scanOrder(r scanner, o *history.Order) error {
	var total amount
	var client string
	err := r.Scan(&o.Account, &o.Ordinal, &o.ID, &o.Market, &o.Side, &o.Type, &o.TIF, &o.SelfTrade, &o.PostOnly,
		&o.Price, &o.Stop, &o.Lots, &total.hi, &total.lo, &client, &o.Status, &o.Triggered, &o.Amended, &o.List, &o.Time,
		&o.Filled, &o.Prevented, &o.Seq, &o.Closed)
	o.Total = total.get()
	copy(o.ClientID[:], client)
	return err
}

// Orders returns an account's final orders with ordinals in the span.
func (s *Store) Orders(ctx context.Context, account bourse.AccountID, span history.Span) ([]history.Order, error) {
	return list(ctx, s, selectOrdersSpan, scanOrder, int64(account), integer(span.First), integer(span.Last))
}

// OrdersIn returns an account's final orders in a market.
func (s *Store) OrdersIn(
	ctx context.Context, account bourse.AccountID, market bourse.MarketID, w history.Window,
) ([]history.Order, error) {
	query := selectOrdersIn
	if w.Oldest {
		query = selectOldestOrders
	}
	return list(ctx, s, query, scanOrder, int64(account), int64(market), integer(w.First), integer(w.Last),
		integer(w.Until), w.Limit, w.Skip)
}

func scanOrdinal(r scanner, n *uint64) error { return r.Scan(n) }

// OrdinalsIn returns the ordinals of an account's final orders in a market.
func (s *Store) OrdinalsIn(
	ctx context.Context, account bourse.AccountID, market bourse.MarketID, w history.Window,
) ([]uint64, error) {
	return list(ctx, s, selectOrdinalsIn, scanOrdinal, int64(account), int64(market), integer(w.First),
		integer(w.Last), integer(w.Until), w.Limit, w.Skip)
}

// OrderUpTo returns the highest ordinal of an account's final order up to an id and a
// time.
func (s *Store) OrderUpTo(
	ctx context.Context, account bourse.AccountID, id bourse.OrderID, t bourse.Time,
) (uint64, error) {
	n, _, err := one(ctx, s, selectOrderUpTo, scanOrdinal, int64(account), integer(id), int64(t))
	return n, err
}

// Order returns one final order of an account.
func (s *Store) Order(ctx context.Context, account bourse.AccountID, id bourse.OrderID) (history.Order, bool, error) {
	return one(ctx, s, selectOrder, scanOrder, int64(account), integer(id))
}

// OrderNamed returns an account's latest final order with this client id.
func (s *Store) OrderNamed(
	ctx context.Context, account bourse.AccountID, id bourse.ClientID,
) (history.Order, bool, error) {
	return one(ctx, s, selectOrderNamed, scanOrder, int64(account), id.String())
}

func scanFill(r scanner, f *history.Fill) error {
	var total, fee amount
	err := r.Scan(&f.Account, &f.Ordinal, &f.Order, &f.Market, &f.Trade, &f.Seq, &f.Time, &f.Side, &f.Role, &f.Price,
		&f.Lots, &total.hi, &total.lo, &fee.hi, &fee.lo)
	f.Total, f.Fee = total.get(), fee.get()
	return err
}

// Fills returns an account's fills with ordinals in the span.
func (s *Store) Fills(ctx context.Context, account bourse.AccountID, span history.Span) ([]history.Fill, error) {
	return list(ctx, s, selectFillsSpan, scanFill, int64(account), integer(span.First), integer(span.Last))
}

// FillsIn returns an account's fills in a market.
func (s *Store) FillsIn(
	ctx context.Context, account bourse.AccountID, market bourse.MarketID, w history.Window,
) ([]history.Fill, error) {
	query := selectFillsIn
	if w.Oldest {
		query = selectOldestFills
	}
	return list(ctx, s, query, scanFill, int64(account), int64(market), integer(w.First), integer(w.Last),
		w.Limit, w.Skip)
}

// FillUpTo returns the highest ordinal of an account's fill up to a time.
func (s *Store) FillUpTo(ctx context.Context, account bourse.AccountID, t bourse.Time) (uint64, error) {
	n, _, err := one(ctx, s, selectFillUpTo, scanOrdinal, int64(account), int64(t))
	return n, err
}

// FillBefore returns the highest ordinal of an account's fill in a market's trade with a
// lower number.
func (s *Store) FillBefore(
	ctx context.Context, account bourse.AccountID, market bourse.MarketID, trade uint64,
) (uint64, error) {
	n, _, err := one(ctx, s, selectFillBefore, scanOrdinal, int64(account), int64(market), integer(trade))
	return n, err
}

// FillsOf returns the fills of an account's orders.
func (s *Store) FillsOf(
	ctx context.Context, account bourse.AccountID, orders []bourse.OrderID,
) ([]history.Fill, error) {
	if len(orders) == 0 {
		return nil, nil
	}
	return list(ctx, s, s.kind.fillsOf, scanFill, int64(account), s.kind.ids(orders))
}

// Trades returns a market's trades with numbers in the span.
func (s *Store) Trades(ctx context.Context, market bourse.MarketID, span history.Span) ([]history.Trade, error) {
	return list(ctx, s, selectTrades, func(r scanner, t *history.Trade) error {
		var total amount
		err := r.Scan(&t.Market, &t.Number, &t.Seq, &t.Time, &t.TakerSide, &t.Price, &t.Lots, &total.hi, &total.lo)
		t.Total = total.get()
		return err
	}, int64(market), integer(span.First), integer(span.Last))
}

// Transfers returns the transfers to or from an account.
func (s *Store) Transfers(
	ctx context.Context, account bourse.AccountID, skip, limit int,
) ([]history.Transfer, error) {
	return list(ctx, s, selectTransfers, func(r scanner, t *history.Transfer) error {
		var sum amount
		err := r.Scan(&t.Seq, &t.Index, &t.Time, &t.Kind, &t.From, &t.To, &t.Asset, &sum.hi, &sum.lo)
		t.Amount = sum.get()
		return err
	}, int64(account), limit, skip)
}

func scanMovement(r scanner, m *history.Movement) error {
	var sum, fee amount
	var tx, message []byte
	err := r.Scan(&m.Account, &m.Ordinal, &m.ID, &m.Seq, &m.Kind, &m.Network, &m.Asset, &sum.hi, &sum.lo,
		&fee.hi, &fee.lo, &m.Status, &m.Address, &m.Memo, &tx, &m.Mined, &m.Height, &m.Target, &m.Other,
		&m.Refunded, &m.Created, &m.Done, &m.Party, &message)
	m.Amount, m.Fee = sum.get(), fee.get()
	copy(m.Tx[:], tx)
	copy(m.Message[:], message)
	return err
}

// Movements returns an account's movements with ordinals in the span.
func (s *Store) Movements(
	ctx context.Context, account bourse.AccountID, span history.Span,
) ([]history.Movement, error) {
	return list(ctx, s, selectMovementsSpan, scanMovement, int64(account), integer(span.First), integer(span.Last))
}

// MovementsIn returns an account's movements that pass a filter.
func (s *Store) MovementsIn(
	ctx context.Context, account bourse.AccountID, filter history.MovementFilter, w history.Window,
) ([]history.Movement, error) {
	of := int64(filter.Of)
	if of == 0 {
		of = -1
	}
	before, to := filter.Before, filter.To
	if before == 0 {
		before = 1<<63 - 1
	}
	if to == 0 {
		to = 1<<63 - 1
	}
	return list(ctx, s, selectMovementsIn, scanMovement, int64(account), integer(w.First), integer(w.Last),
		int64(filter.Asset), int64(filter.Network), of, integer(before), int64(filter.From), int64(to), w.Limit, w.Skip)
}

// Movement returns one movement of an account.
func (s *Store) Movement(
	ctx context.Context, account bourse.AccountID, id bourse.WalletID,
) (history.Movement, bool, error) {
	return one(ctx, s, selectMovement, scanMovement, int64(account), integer(id))
}

// HasMovement reports whether an account has a movement with this id.
func (s *Store) HasMovement(ctx context.Context, id bourse.WalletID) (bool, error) {
	_, found, err := one(ctx, s, selectMovementID, func(r scanner, id *bourse.WalletID) error { return r.Scan(id) },
		integer(id))
	return found, err
}

// Entries returns entries of an account's ledger in an asset.
func (s *Store) Entries(ctx context.Context, q *history.LedgerQuery, asset bourse.AssetID) ([]history.Entry, error) {
	return list(ctx, s, selectEntries, func(r scanner, e *history.Entry) error {
		var sum, balance amount
		err := r.Scan(&e.Account, &e.Asset, &e.Seq, &e.Place, &e.Time, &e.Kind, &e.Debit, &sum.hi, &sum.lo,
			&balance.hi, &balance.lo, &e.Market, &e.Trade, &e.Order, &e.Movement)
		e.Amount, e.Balance = sum.get(), balance.get()
		return err
	}, int64(q.Account), int64(asset), integer(q.Before.Seq), int64(q.Before.Place), int64(q.To), q.Limit)
}

// Notes returns the operators' notes.
func (s *Store) Notes(ctx context.Context, skip, limit int) ([]history.Note, error) {
	return list(ctx, s, selectNotes, func(r scanner, n *history.Note) error {
		return r.Scan(&n.Seq, &n.Time, &n.Operator, &n.Text)
	}, limit, skip)
}
