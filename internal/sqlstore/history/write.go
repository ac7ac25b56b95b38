package history

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/sqlstore"
)

// updateCursor moves the cursor only from this process's last position. Otherwise another
// process has written, or the server has lost a confirmed write.
const updateCursor = `UPDATE cursor SET seq = $1, time = $2, chain = $3 WHERE seq = $4`

// Write adds a batch and moves the cursor.
func (s *Store) Write(ctx context.Context, b *history.Batch) error {
	next := history.Cursor{Seq: b.To, Time: b.Time, Chain: b.Chain}
	ctx, cancel := s.db.Patient(ctx)
	defer cancel()
	if b.From != s.cursor.Seq+1 {
		return history.ErrOutOfOrder
	}

	err := s.db.Write(ctx, func(tx *sql.Tx) error { return s.write(ctx, tx, b, &next) })
	if err == nil {
		s.cursor = next
		return nil
	}

	clear(s.drawing) // they may hold trades that were not written
	// A failed commit may have succeeded. While its outcome is unknown, the caller tries
	// the same batch again, and resume finds it here.
	if unknown := s.resume(ctx); unknown != nil {
		return fmt.Errorf("%w (after %v)", unknown, err) //nolint:errorlint // the first error is context only
	}
	if s.cursor == next {
		return nil
	}
	return err
}

// resume reads the cursor from the database.
func (s *Store) resume(ctx context.Context) error {
	now, err := s.Cursor(ctx)
	if err == nil {
		s.cursor = now
	}
	return err
}

func (s *Store) write(ctx context.Context, tx *sql.Tx, b *history.Batch, next *history.Cursor) error {
	s.inserts.begin(ctx, tx)
	if err := s.inserts.batch(ctx, b); err != nil {
		return err
	}
	if err := s.draw(ctx, tx, b.Trades); err != nil {
		return err
	}
	result, err := tx.ExecContext(ctx, updateCursor, integer(next.Seq), int64(next.Time), next.Chain[:],
		integer(s.cursor.Seq))
	if err != nil {
		return err
	}
	if moved, err := result.RowsAffected(); err != nil || moved != 1 {
		return errors.Join(
			fmt.Errorf("%w: the store is no longer at command %d", history.ErrOutOfOrder, s.cursor.Seq), err)
	}
	return nil
}

// inserts holds the Inserters of a batch's tables.
type inserts struct {
	orders, trades, fills, transfers, notes, amendments, movements, entries, bulletins, candles sqlstore.Inserter
	// order holds the row order of a batch for one table.
	order []int
}

// sorted returns the indexes of n rows in the order of their table, so that neighbours in
// the table are written together.
func (i *inserts) sorted(n int, compare func(a, b int) int) []int {
	i.order = i.order[:0]
	for at := range n {
		i.order = append(i.order, at)
	}
	slices.SortFunc(i.order, compare)
	return i.order
}

// prepare creates the Inserters of all tables.
func (i *inserts) prepare(ctx context.Context, db sqlstore.Database) (err error) {
	for _, t := range i.tables() {
		if *t.insert, err = db.Inserter(ctx, t.Table); err != nil {
			return err
		}
	}
	return nil
}

// begin starts a transaction.
func (i *inserts) begin(ctx context.Context, tx *sql.Tx) {
	for _, t := range i.tables() {
		(*t.insert).Begin(ctx, tx)
	}
}

func (i *inserts) batch(ctx context.Context, b *history.Batch) error {
	for _, add := range [...]func(context.Context, *history.Batch) error{
		i.addOrders, i.addTrades, i.addFills, i.addTransfers, i.addNotes, i.addAmendments,
		i.addMovements, i.addEntries, i.addBulletins,
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
		err := i.orders.Add(ctx, int64(o.Account), integer(o.Ordinal), integer(o.ID), int64(o.Market),
			int64(o.Side), int64(o.Type), int64(o.TIF), int64(o.SelfTrade), flag(o.PostOnly), integer(o.Price),
			integer(o.Stop), integer(o.Lots), high(o.Total), low(o.Total), clientID(&o.ClientID), int64(o.Status),
			flag(o.Triggered), flag(o.Amended), integer(o.List), int64(o.Time), integer(o.Filled), integer(o.Prevented),
			integer(o.Seq), int64(o.Closed))
		if err != nil {
			return err
		}
	}
	return i.orders.Flush(ctx)
}

// flag returns a truth value for a column.
func flag(on bool) int64 {
	if on {
		return 1
	}
	return 0
}

// clientID returns a client id for a column: text, or null for none.
func clientID(id *bourse.ClientID) any {
	if id.IsZero() {
		return nil
	}
	return id.String()
}

func (i *inserts) addTrades(ctx context.Context, b *history.Batch) error {
	for n := range b.Trades {
		t := &b.Trades[n]
		err := i.trades.Add(ctx, int64(t.Market), integer(t.Number), integer(t.Seq), int64(t.Time),
			int64(t.TakerSide), integer(t.Price), integer(t.Lots), high(t.Total), low(t.Total))
		if err != nil {
			return err
		}
	}
	return i.trades.Flush(ctx)
}

func (i *inserts) addFills(ctx context.Context, b *history.Batch) error {
	for _, n := range i.sorted(len(b.Fills), func(x, y int) int {
		f, g := &b.Fills[x], &b.Fills[y]
		return cmp.Or(cmp.Compare(f.Account, g.Account), cmp.Compare(f.Ordinal, g.Ordinal))
	}) {
		f := &b.Fills[n]
		err := i.fills.Add(ctx, int64(f.Account), integer(f.Ordinal), integer(f.Order), int64(f.Market),
			integer(f.Trade), integer(f.Seq), int64(f.Time), int64(f.Side), int64(f.Role), integer(f.Price), integer(f.Lots),
			high(f.Total), low(f.Total), high(f.Fee), low(f.Fee))
		if err != nil {
			return err
		}
	}
	return i.fills.Flush(ctx)
}

func (i *inserts) addTransfers(ctx context.Context, b *history.Batch) error {
	for n := range b.Transfers {
		t := &b.Transfers[n]
		for _, account := range [...]bourse.AccountID{t.From, t.To} {
			err := i.transfers.Add(ctx, int64(account), integer(t.Seq), int64(t.Index), int64(t.Time),
				int64(t.Kind), int64(t.From), int64(t.To), int64(t.Asset), high(t.Amount), low(t.Amount))
			if err != nil {
				return err
			}
			if t.From == t.To {
				break
			}
		}
	}
	return i.transfers.Flush(ctx)
}

func (i *inserts) addNotes(ctx context.Context, b *history.Batch) error {
	for n := range b.Notes {
		note := &b.Notes[n]
		err := i.notes.Add(ctx, integer(note.Seq), int64(note.Time), int64(note.Operator), note.Text)
		if err != nil {
			return err
		}
	}
	return i.notes.Flush(ctx)
}

// addMovements writes the last row of each ordinal.
func (i *inserts) addMovements(ctx context.Context, b *history.Batch) error {
	order := i.sorted(len(b.Movements), func(x, y int) int {
		m, o := &b.Movements[x], &b.Movements[y]
		return cmp.Or(cmp.Compare(m.Account, o.Account), cmp.Compare(m.Ordinal, o.Ordinal), cmp.Compare(x, y))
	})

	for at, n := range order {
		m := &b.Movements[n]
		if at+1 < len(order) {
			if next := &b.Movements[order[at+1]]; next.Account == m.Account && next.Ordinal == m.Ordinal {
				continue
			}
		}
		err := i.movements.Add(ctx, int64(m.Account), integer(m.Ordinal), integer(m.ID), integer(m.Seq), int64(m.Kind),
			int64(m.Network), int64(m.Asset), high(m.Amount), low(m.Amount), high(m.Fee), low(m.Fee), int64(m.Status),
			m.Address, []byte(m.Memo), m.Tx[:], flag(m.Mined), integer(m.Height), int64(m.Target), integer(m.Other),
			flag(m.Refunded), int64(m.Created), int64(m.Done), int64(m.Party), m.Message[:])
		if err != nil {
			return err
		}
	}
	return i.movements.Flush(ctx)
}

func (i *inserts) addEntries(ctx context.Context, b *history.Batch) error {
	for _, n := range i.sorted(len(b.Entries), func(x, y int) int {
		e, o := &b.Entries[x], &b.Entries[y]
		return cmp.Or(cmp.Compare(e.Account, o.Account), cmp.Compare(e.Asset, o.Asset), cmp.Compare(x, y))
	}) {
		e := &b.Entries[n]
		err := i.entries.Add(ctx, int64(e.Account), int64(e.Asset), integer(e.Seq), int64(e.Place), int64(e.Time),
			int64(e.Kind), flag(e.Debit), high(e.Amount), low(e.Amount), high(e.Balance), low(e.Balance),
			int64(e.Market), integer(e.Trade), integer(e.Order), integer(e.Movement))
		if err != nil {
			return err
		}
	}
	return i.entries.Flush(ctx)
}
