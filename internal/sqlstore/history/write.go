package history

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

const updateCursor = `UPDATE cursor SET seq = ?, time = ?, chain = ?`

// Write adds a batch and moves the cursor.
func (s *Store) Write(ctx context.Context, b *history.Batch) error {
	if b.From != s.cursor.Seq+1 {
		return history.ErrOutOfOrder
	}
	// A batch takes less than a second: it is not worth breaking off, and watching
	// for that costs with every statement.
	ctx = context.WithoutCancel(ctx)
	next := history.Cursor{Seq: b.To, Time: b.Time, Chain: b.Chain}
	err := s.file.Write(ctx, func(tx *sql.Tx) error {
		s.inserts.begin(ctx, tx)
		if err := s.inserts.batch(ctx, b); err != nil {
			return err
		}
		if err := s.draw(ctx, tx, b.Trades); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, updateCursor, integer(next.Seq), int64(next.Time), next.Chain[:])
		return err
	})
	if err != nil {
		clear(s.drawing) // they may hold trades that were not written
		return s.recover(ctx, next, err)
	}
	s.cursor = next
	s.fold(ctx)
	return nil
}

// recover finds out what a failed write left, which after a failed commit can be
// all of it.
func (s *Store) recover(ctx context.Context, next history.Cursor, failed error) error {
	now, err := s.Cursor(ctx)
	if err != nil {
		return failed // and the next write will fail as well
	}
	s.cursor = now
	if now == next {
		return nil
	}
	return failed
}

// fold keeps the log short. The batch is written: if the log cannot be folded
// now it grows, that is all, and the next batch says what is wrong.
func (s *Store) fold(ctx context.Context) {
	if size, err := s.file.LogSize(); err == nil && size >= foldAt {
		_ = s.file.Fold(ctx)
	}
}

// inserts puts rows into the tables, many with each statement. A statement that
// fails leaves what it did so far (OR FAIL), because the transaction undoes it
// anyway; else SQLite would keep notes to undo each statement alone.
type inserts struct {
	orders, trades, fills, transfers, notes, movements, candles insert
	// order is the order in which a batch's rows go into a table.
	order []int
}

// sorted returns the indices of n rows in the order of their table: neighbours in
// the table are written together.
func (i *inserts) sorted(n int, compare func(a, b int) int) []int {
	i.order = i.order[:0]
	for at := range n {
		i.order = append(i.order, at)
	}
	slices.SortFunc(i.order, compare)
	return i.order
}

// prepare prepares all statements.
func (i *inserts) prepare(ctx context.Context, db *sql.DB) error {
	for _, table := range [...]struct {
		insert  *insert
		into    string
		columns int
	}{
		{&i.orders, `INSERT OR FAIL INTO orders (account, ordinal, id, market, side, type, tif, selftrade, postonly, price,
			stop, lots, total_hi, total_lo, client_id, status, triggered, time, filled, seq, closed) VALUES `, 21},
		{&i.trades, `INSERT OR FAIL INTO trades (market, number, seq, time, taker_side, price, lots, total_hi, total_lo) VALUES `, 9},
		{&i.fills, `INSERT OR FAIL INTO fills (account, ordinal, order_id, market, seq, time, side, role, price, lots,
			total_hi, total_lo, fee_hi, fee_lo) VALUES `, 14},
		{&i.transfers, `INSERT OR FAIL INTO transfers (account, seq, place, time, kind, from_account, to_account, asset,
			amount_hi, amount_lo) VALUES `, 10},
		{&i.notes, `INSERT OR FAIL INTO notes (seq, time, operator, text) VALUES `, 4},
		{&i.movements, `INSERT OR REPLACE INTO movements (account, ordinal, id, seq, kind, network, asset, amount_hi,
			amount_lo, fee_hi, fee_lo, status, address, memo, tx, mined, height, target, other, refunded, created,
			done) VALUES `, 22},
		{&i.candles, `INSERT OR REPLACE INTO candles (market, width, start, open, high, low, close,
			volume_hi, volume_lo, value_hi, value_lo, last) VALUES `, 12},
	} {
		if err := table.insert.prepare(ctx, db, table.into, table.columns); err != nil {
			return err
		}
	}
	return nil
}

// begin begins a transaction.
func (i *inserts) begin(ctx context.Context, tx *sql.Tx) {
	for _, table := range [...]*insert{&i.orders, &i.trades, &i.fills, &i.transfers, &i.notes, &i.movements, &i.candles} {
		table.begin(ctx, tx)
	}
}

func (i *inserts) batch(ctx context.Context, b *history.Batch) error {
	for _, add := range [...]func(context.Context, *history.Batch) error{
		i.addOrders, i.addTrades, i.addFills, i.addTransfers, i.addNotes, i.addMovements,
	} {
		if err := add(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

func (i *inserts) addOrders(ctx context.Context, b *history.Batch) error {
	for _, n := range i.sorted(len(b.Orders), func(x, y int) int {
		o, p := &b.Orders[x], &b.Orders[y]
		return cmp.Or(cmp.Compare(o.Account, p.Account), cmp.Compare(o.Ordinal, p.Ordinal))
	}) {
		o := &b.Orders[n]
		err := i.orders.add(ctx, int64(o.Account), integer(o.Ordinal), integer(o.ID), int64(o.Market),
			int64(o.Side), int64(o.Type), int64(o.TIF), int64(o.SelfTrade), o.PostOnly, integer(o.Price),
			integer(o.Stop), integer(o.Lots), high(o.Total), low(o.Total), clientID(&o.ClientID), int64(o.Status),
			o.Triggered, int64(o.Time), integer(o.Filled), integer(o.Seq), int64(o.Closed))
		if err != nil {
			return err
		}
	}
	return i.orders.flush(ctx)
}

// clientID returns what a column holds: text, or null for none.
func clientID(id *bourse.ClientID) any {
	if !id.Given() {
		return nil
	}
	return id.String()
}

func (i *inserts) addTrades(ctx context.Context, b *history.Batch) error {
	for n := range b.Trades {
		t := &b.Trades[n]
		err := i.trades.add(ctx, int64(t.Market), integer(t.Number), integer(t.Seq), int64(t.Time),
			int64(t.TakerSide), integer(t.Price), integer(t.Lots), high(t.Total), low(t.Total))
		if err != nil {
			return err
		}
	}
	return i.trades.flush(ctx)
}

func (i *inserts) addFills(ctx context.Context, b *history.Batch) error {
	for _, n := range i.sorted(len(b.Fills), func(x, y int) int {
		f, g := &b.Fills[x], &b.Fills[y]
		return cmp.Or(cmp.Compare(f.Account, g.Account), cmp.Compare(f.Ordinal, g.Ordinal))
	}) {
		f := &b.Fills[n]
		err := i.fills.add(ctx, int64(f.Account), integer(f.Ordinal), integer(f.Order), int64(f.Market),
			integer(f.Seq), int64(f.Time), int64(f.Side), int64(f.Role), integer(f.Price), integer(f.Lots),
			high(f.Total), low(f.Total), high(f.Fee), low(f.Fee))
		if err != nil {
			return err
		}
	}
	return i.fills.flush(ctx)
}

func (i *inserts) addTransfers(ctx context.Context, b *history.Batch) error {
	for n := range b.Transfers {
		t := &b.Transfers[n]
		for _, account := range [...]bourse.AccountID{t.From, t.To} {
			err := i.transfers.add(ctx, int64(account), integer(t.Seq), int64(t.Index), int64(t.Time),
				int64(t.Kind), int64(t.From), int64(t.To), int64(t.Asset), high(t.Amount), low(t.Amount))
			if err != nil {
				return err
			}
			if t.From == t.To {
				break
			}
		}
	}
	return i.transfers.flush(ctx)
}

func (i *inserts) addNotes(ctx context.Context, b *history.Batch) error {
	for n := range b.Notes {
		note := &b.Notes[n]
		err := i.notes.add(ctx, integer(note.Seq), int64(note.Time), int64(note.Operator), note.Text)
		if err != nil {
			return err
		}
	}
	return i.notes.flush(ctx)
}

// addMovements puts the rows of one ordinal in their order: the last one stays.
func (i *inserts) addMovements(ctx context.Context, b *history.Batch) error {
	for _, n := range i.sorted(len(b.Movements), func(x, y int) int {
		m, o := &b.Movements[x], &b.Movements[y]
		return cmp.Or(cmp.Compare(m.Account, o.Account), cmp.Compare(m.Ordinal, o.Ordinal), cmp.Compare(x, y))
	}) {
		m := &b.Movements[n]
		err := i.movements.add(ctx, int64(m.Account), integer(m.Ordinal), integer(m.ID), integer(m.Seq), int64(m.Kind),
			int64(m.Network), int64(m.Asset), high(m.Amount), low(m.Amount), high(m.Fee), low(m.Fee), int64(m.Status),
			m.Address, []byte(m.Memo), m.Tx[:], m.Mined, integer(m.Height), int64(m.Target), integer(m.Other), m.Refunded,
			int64(m.Created), int64(m.Done))
		if err != nil {
			return err
		}
	}
	return i.movements.flush(ctx)
}
