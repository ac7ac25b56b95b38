package sim

import (
	"cmp"
	"encoding/hex"
	"math"
	"slices"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/audit"
	"github.com/bourse-exchange/bourse/internal/history"
	"github.com/bourse-exchange/bourse/internal/journal"
)

// checkDeep replays the whole journal, from its beginning and from each snapshot, and
// reads all of history. It works on a copy of the disk, so that pending faults stay
// pending.
func (w *world) checkDeep() {
	d := w.disk.Clone()
	d.SetCapacity(math.MaxInt64)
	w.withoutDecayed(d)

	voids, err := journal.LoadVoids(d, w.identity)
	want(err, "voids")
	x := &audit.Exchange{
		Identity: w.identity, Files: journal.NewFiles(d, w.identity),
		Snapshots: journal.NewSnapshots(d, w.identity), Voids: voids,
	}

	verified, err := x.Verify(nil)
	want(err, "verifying the journal")
	if verified.Last < w.truth.last() || verified.First != 1 {
		fail("the journal has commands %d to %d, and %d were yielded", verified.First, verified.Last, w.truth.last())
	}
	w.checkStates(x)

	report, err := x.Audit(nil)
	want(err, "the audit")
	if len(report.Violations) > 0 {
		fail("the audit says: %v", report.Violations)
	}

	w.checkHistory()
}

// checkStates checks that every replay has the same state hash.
func (w *world) checkStates(x *audit.Exchange) {
	states, err := x.States(w.truth.last(), func() time.Time { return time.Time{} })
	want(err, "replaying the journal")
	hash := w.truth.pair.Engine.StateHash()
	if states.StateHash != hex.EncodeToString(hash[:]) {
		fail("a replay from the beginning has another state at %d", states.Seq)
	}
	for _, s := range states.Snapshots {
		if !s.Agrees {
			fail("the snapshot at %d does not agree with a replay", s.Seq)
		}
	}
}

// checkHistory checks that the history store is the fold of the events up to its cursor.
func (w *world) checkHistory() {
	cursor, err := w.store.Cursor(w.ctx)
	want(err, "the history's cursor")
	if cursor.Seq > w.truth.last() {
		fail("history is at %d, and %d commands were yielded", cursor.Seq, w.truth.last())
	}

	rows := &w.truth.rows
	everything := history.Span{First: 1, Last: math.MaxInt64}
	for account := bourse.AccountID(1); ; account++ {
		if _, ok := w.process.view.Account(account); !ok {
			break
		}
		orders, err := w.store.Orders(w.ctx, account, everything)
		want(err, "orders")
		compareRows(w, "orders", orders, until(rows.Orders, cursor.Seq, func(o *history.Order) (bourse.Seq, bool) {
			return o.Seq, o.Account == account
		}), func(a, b history.Order) int { return int(int64(a.Ordinal) - int64(b.Ordinal)) })
		fills, err := w.store.Fills(w.ctx, account, everything)
		want(err, "fills")
		compareRows(w, "fills", fills, until(rows.Fills, cursor.Seq, func(f *history.Fill) (bourse.Seq, bool) {
			return f.Seq, f.Account == account
		}), func(a, b history.Fill) int { return int(int64(a.Ordinal) - int64(b.Ordinal)) })
		movements, err := w.store.Movements(w.ctx, account, everything)
		want(err, "movements")
		slices.Reverse(movements)
		compareRows(w, "movements", movements, w.movements(account, cursor.Seq), nil)
	}

	for _, m := range w.process.view.Catalogue().Markets[1:] {
		trades, err := w.store.Trades(w.ctx, m.ID, everything)
		want(err, "trades")
		compareRows(w, "trades", trades, until(rows.Trades, cursor.Seq, func(t *history.Trade) (bourse.Seq, bool) {
			return t.Seq, t.Market == m.ID
		}), func(a, b history.Trade) int { return int(int64(a.Number) - int64(b.Number)) })
	}

	transfers, err := w.store.Transfers(w.ctx, bourse.AccountSandbox, 0, math.MaxInt32)
	want(err, "transfers")
	slices.Reverse(transfers)
	compareRows(w, "transfers", transfers,
		until(rows.Transfers, cursor.Seq, func(t *history.Transfer) (bourse.Seq, bool) {
			return t.Seq, t.From == bourse.AccountSandbox
		}), nil)
}

// movements returns the last version of each of an account's deposits and withdrawals.
func (w *world) movements(account bourse.AccountID, last bourse.Seq) []history.Movement {
	told := until(w.truth.rows.Movements, last, func(m *history.Movement) (bourse.Seq, bool) {
		return m.Seq, m.Account == account
	})
	var list []history.Movement
	for i := range told {
		at, found := slices.BinarySearchFunc(list, told[i].Ordinal, func(m history.Movement, ordinal uint64) int {
			return cmp.Compare(m.Ordinal, ordinal)
		})
		if found {
			list[at] = told[i]
		} else {
			list = slices.Insert(list, at, told[i])
		}
	}
	return list
}

// until returns the rows that pass, of commands up to last.
func until[R any](rows []R, last bourse.Seq, pass func(*R) (bourse.Seq, bool)) []R {
	var list []R
	for i := range rows {
		if seq, ok := pass(&rows[i]); ok && seq <= last {
			list = append(list, rows[i])
		}
	}
	return list
}

// compareRows compares rows, sorted by order unless that is nil.
func compareRows[R comparable](w *world, about string, got, wanted []R, order func(a, b R) int) {
	if order != nil {
		slices.SortFunc(got, order)
		slices.SortFunc(wanted, order)
	}
	for i := range max(len(got), len(wanted)) {
		switch {
		case i >= len(got):
			fail("history lacks of %s: %+v", about, wanted[i])
		case i >= len(wanted):
			fail("history has of %s what never was: %+v", about, got[i])
		case got[i] != wanted[i]:
			fail("history has of %s:\n\t%+v, and it was\n\t%+v", about, got[i], wanted[i])
		}
	}
	w.trail.mark(uint64(len(got)))
}

// checkCandles recomputes candles from the trades. The follower must have caught up.
func (w *world) checkCandles() {
	now := w.process.engine.Now()
	for _, m := range w.process.view.Catalogue().Markets[1:] {
		for res := bourse.Resolution1; res <= bourse.LastResolution; res++ {
			q := &history.CandleQuery{Market: m.ID, Resolution: res, From: res.Add(res.Floor(now), -299), To: now, Limit: 1000}
			got, _, err := w.process.reader.Candles(w.ctx, q)
			want(err, "candles")
			compareRows(w, "candles", got, w.candles(m.ID, res, q.From), nil)
		}
	}
}

// candles computes a market's candles in the simplest way.
func (w *world) candles(market bourse.MarketID, res bourse.Resolution, from bourse.Time) []history.Candle {
	trades := until(w.truth.rows.Trades, w.truth.last(), func(t *history.Trade) (bourse.Seq, bool) {
		return t.Seq, t.Market == market
	})
	if len(trades) == 0 {
		return nil
	}

	var list []history.Candle
	var price bourse.Price
	start := res.Floor(trades[0].Time)
	for now := w.process.engine.Now(); start <= now; start = res.Add(start, 1) {
		c := history.Candle{Start: start, Open: price, High: price, Low: price, Close: price}
		for len(trades) > 0 && trades[0].Time < res.Add(start, 1) {
			c.Add(&trades[0])
			trades = trades[1:]
		}
		price = c.Close
		if start >= from {
			list = append(list, c)
		}
	}
	return list
}
