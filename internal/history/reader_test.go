package history_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

// TestPagesAreExact reads every kind of page after each frame of a random
// exchange, while the store is anywhere from far behind to level, and compares
// them with what happened. The tail is small, so that rows are dropped, too.
func TestPagesAreExact(t *testing.T) {
	const rounds = 70
	for seed := range uint64(6) { // each bound twice
		bound := [...]int{60, 120, 1 << 20}[seed%3]
		t.Run(fmt.Sprintf("seed %d, %d rows", seed, bound), func(t *testing.T) {
			r := newRig(seed, bound)
			busy := 0
			for range rounds {
				r.frame(r.some(1 + r.rng.IntN(12))...)
				r.pass()
				if r.rng.IntN(5) == 0 {
					r.follow(r.rng.IntN(len(r.behind) + 1))
				}
				if !r.check(t) {
					busy++
				}
			}
			r.follow(len(r.behind))
			if !r.check(t) {
				t.Error("busy, although everything is stored")
			}
			if (busy > 0) != (bound <= 120) || busy == rounds {
				t.Errorf("%d rounds had a read that failed", busy)
			}
		})
	}
}

// check compares pages drawn at random. It returns false if the store was too
// far behind for one of them.
func (r *rig) check(t *testing.T) bool {
	t.Helper()
	ok := true
	for account := bourse.AccountID(1); account <= accounts; account++ {
		only := bourse.MarketID(r.rng.IntN(markets + 1))
		skip, limit := r.rng.IntN(40), 1+r.rng.IntN(30)
		ok = r.checkAccount(t, account, only, skip, limit) && ok
		ok = r.checkAccount(t, account, only, 0, limit) && ok
		ok = r.checkMovements(t, account, r.rng.IntN(9), limit) && ok
	}
	for market := bourse.MarketID(1); market <= markets; market++ {
		ok = r.checkMarket(t, market) && ok
	}
	id := bourse.OrderID(1 + r.rng.Uint64N(uint64(len(r.all.orders))+3))
	return r.checkOrder(t, id) && r.checkNotes(t) && ok
}

// busy reports whether an error says that the store is too far behind; another
// error fails the test.
func (r *rig) busy(t *testing.T, err error) bool {
	t.Helper()
	var e *bourse.Error
	switch {
	case err == nil:
		return false
	case errors.As(err, &e) && e.Code == bourse.CodeBehind && strings.HasPrefix(e.Message, "History is ") && len(r.behind) > 0:
		return true
	}
	t.Fatal(err)
	return false
}

func (r *rig) checkAccount(t *testing.T, account bourse.AccountID, only bourse.MarketID, skip, limit int) bool {
	t.Helper()
	ok := r.checkPast(t, account, only, skip, limit) && (only == 0 || r.checkOldest(t, account, only, limit))
	about := fmt.Sprintf("of account %d, skip %d, limit %d", account, skip, limit)
	transfers, err := r.reader.Transfers(context.Background(), account, skip, limit)
	if r.busy(t, err) {
		return false
	}
	sameRows(t, "transfers "+about, transfers, page(r.all.transfers, skip, limit, func(tr history.Transfer) bool {
		return tr.From == account || tr.To == account
	}), equal)
	return ok
}

// checkPast compares pages of orders and fills, half of them within bounds of their times
// or ids.
func (r *rig) checkPast(t *testing.T, account bourse.AccountID, only bourse.MarketID, skip, limit int) bool {
	t.Helper()
	ctx := context.Background()
	q := &history.ListQuery{Market: only, Skip: skip, Limit: limit}
	if r.rng.IntN(2) == 0 {
		q.From, q.To = r.past(), r.past()
	}
	if r.rng.IntN(2) == 0 {
		q.Before = 1 + r.rng.Uint64N(uint64(len(r.all.orders))+3)
	}
	during := func(t bourse.Time) bool { return t >= q.From && (q.To == 0 || t <= q.To) }
	about := fmt.Sprintf("of account %d, %+v", account, *q)
	orders, err := r.reader.Orders(ctx, account, q)
	ok := !r.busy(t, err)
	if ok {
		var want []history.OrderFills
		for _, o := range page(r.all.orders, skip, limit, func(o *history.OrderFills) bool {
			return o.Account == account && (only == 0 || o.Market == only) && during(o.Time) &&
				(q.Before == 0 || uint64(o.ID) < q.Before)
		}) {
			want = append(want, *o)
		}
		sameRows(t, "orders "+about, orders, want, equalOrders)
	}
	if only == 0 {
		q.Before = 0 // each market numbers its own trades
	}
	named := page(r.all.fills, 0, 2, func(f history.Fill) bool {
		return q.Before != 0 && f.Account == account && f.Market == only && f.Trade == q.Before
	})
	before := ^uint64(0)
	if len(named) > 0 && (len(named) > 1 || r.rng.IntN(2) == 0) {
		row := named[r.rng.IntN(len(named))]
		q.BeforeOrder, before = row.Order, row.Ordinal
	}
	about = fmt.Sprintf("of account %d, %+v", account, *q)
	fills, err := r.reader.Fills(ctx, account, q)
	if r.busy(t, err) {
		return false
	}
	sameRows(t, "fills "+about, fills, page(r.all.fills, skip, limit, func(f history.Fill) bool {
		return f.Account == account && (only == 0 || f.Market == only) && during(f.Time) &&
			(q.Before == 0 || f.Trade <= q.Before && f.Ordinal < before && (q.BeforeOrder != 0 || f.Trade < q.Before))
	}), equal)
	return ok
}

// checkOldest compares the oldest orders and fills of a market, from an id on and within times.
func (r *rig) checkOldest(t *testing.T, account bourse.AccountID, only bourse.MarketID, limit int) bool {
	t.Helper()
	ctx := context.Background()
	q := &history.ListQuery{Market: only, Limit: limit, Oldest: true, From: r.past(), To: r.past()}
	if r.rng.IntN(2) == 0 {
		q.AtLeast = 1 + r.rng.Uint64N(uint64(len(r.all.orders))+3)
	}
	admits := func(at bourse.Time, id uint64) bool {
		return at >= q.From && (q.To == 0 || at <= q.To) && id >= q.AtLeast
	}
	about := fmt.Sprintf("of account %d, %+v", account, *q)

	orders, err := r.reader.Orders(ctx, account, q)
	if r.busy(t, err) {
		return false
	}
	var want []history.OrderFills
	for _, o := range page(r.all.orders, 0, len(r.all.orders), func(o *history.OrderFills) bool {
		return o.Account == account && o.Market == only && admits(o.Time, uint64(o.ID))
	}) {
		want = append(want, *o)
	}
	sameRows(t, "oldest orders "+about, orders, want[max(0, len(want)-limit):], equalOrders)

	fills, err := r.reader.Fills(ctx, account, q)
	if r.busy(t, err) {
		return false
	}
	all := page(r.all.fills, 0, len(r.all.fills), func(f history.Fill) bool {
		return f.Account == account && f.Market == only && admits(f.Time, f.Trade)
	})
	sameRows(t, "oldest fills "+about, fills, all[max(0, len(all)-limit):], equal)
	return true
}

// past returns no time, or one of the past or close to it.
func (r *rig) past() bourse.Time {
	if r.rng.IntN(3) == 0 {
		return 0
	}
	return r.now + 5 - bourse.Time(r.rng.Int64N(int64(r.now-began)+10))
}

func (r *rig) checkMarket(t *testing.T, market bourse.MarketID) bool {
	t.Helper()
	ctx := context.Background()
	skip, limit := r.rng.IntN(30), 1+r.rng.IntN(30)
	about := fmt.Sprintf("of market %d, skip %d, limit %d", market, skip, limit)
	trades, err := r.reader.Trades(ctx, market, skip, limit)
	if r.busy(t, err) {
		return false
	}
	sameRows(t, "trades "+about, trades, page(r.all.trades, skip, limit, func(tr history.Trade) bool {
		return tr.Market == market
	}), equal)
	for res := bourse.Resolution1; res <= bourse.LastResolution; res++ {
		if !r.checkCandles(t, market, res, limit) {
			return false
		}
	}
	return true
}

// checkCandles compares pages of candles with candles made of the trades.
func (r *rig) checkCandles(t *testing.T, market bourse.MarketID, res bourse.Resolution, limit int) bool {
	t.Helper()
	most := int64(max(2*bourse.Day, 3*res.Width()))
	from := r.now - bourse.Time(r.rng.Int64N(most))
	to := from + bourse.Time(r.rng.Int64N(most))
	all := r.all.candles(market, res, r.view.Now())
	for _, span := range [][2]bourse.Time{{from, to}, {0, 1 << 62}, {-5, r.now}, {r.now, 1 << 62}, {to, from - 1}} {
		q := &history.CandleQuery{
			Market: market, Resolution: res, From: span[0], To: span[1], Newest: r.rng.IntN(2) == 0, Limit: limit,
		}
		candles, read, err := r.reader.Candles(context.Background(), q)
		if r.busy(t, err) {
			return false
		}

		want := all[startsFrom(all, q.From):]
		want = want[:startsFrom(want, q.To+1)]
		if skip := max(0, len(want)-limit); q.Newest {
			want = want[skip:]
		} else {
			want = want[:len(want)-skip]
		}
		sameRows(t, fmt.Sprintf("candles of market %d, %s: %+v", market, res, *q), candles, want, equal)
		if most := len(candles) * int(res.Width()/res.Kept().Width()); read > most {
			t.Fatalf("%+v read %d stored candles, want at most %d", *q, read, most)
		}
	}
	return true
}

// startsFrom returns the number of candles that start before a time.
func startsFrom(list []history.Candle, at bourse.Time) int {
	n, _ := slices.BinarySearchFunc(list, at, func(c history.Candle, at bourse.Time) int { return cmp.Compare(c.Start, at) })
	return n
}

func (r *rig) checkOrder(t *testing.T, id bourse.OrderID) bool {
	t.Helper()
	var want history.OrderFills
	account := bourse.AccountID(1)
	if int(id) <= len(r.all.orders) {
		want = *r.all.orders[id-1]
		account = want.Account
	}
	got, found, err := r.reader.Order(context.Background(), account, id)
	if r.busy(t, err) {
		return false
	}
	if found != (want.ID != 0) || !equalOrders(got, want) {
		t.Fatalf("order %d: %+v (%t), want %+v", id, got, found, want)
	}
	if _, found, err := r.reader.Order(context.Background(), account%accounts+1, id); !r.busy(t, err) && found {
		t.Fatalf("order %d was shown to another account", id)
	}
	if !r.checkAmendments(t, &want.Order.Order) {
		return false
	}
	return want.ClientID.IsZero() || r.checkNamed(t, account, want.ClientID)
}

// checkAmendments compares the amendments of an order, page by page.
func (r *rig) checkAmendments(t *testing.T, o *bourse.Order) bool {
	t.Helper()
	limit := 1 + r.rng.IntN(3)
	want := page(r.all.amendments, 0, len(r.all.amendments), func(a history.Amendment) bool { return a.Order == o.ID })
	for before := bourse.Seq(0); ; {
		got, err := r.reader.Amendments(context.Background(), o, before, limit)
		if r.busy(t, err) {
			return false
		}
		n := min(limit, len(want))
		sameRows(t, fmt.Sprintf("amendments of order %d before command %d", o.ID, before), got, want[:n], equal)
		if n == 0 {
			return true
		}
		before, want = want[n-1].Seq, want[n:]
	}
}

func (r *rig) checkNamed(t *testing.T, account bourse.AccountID, name bourse.ClientID) bool {
	t.Helper()
	got, found, err := r.reader.OrderNamed(context.Background(), account, name)
	if r.busy(t, err) {
		return false
	}
	want := page(r.all.orders, 0, 1, func(o *history.OrderFills) bool { return o.Account == account && o.ClientID == name })
	if !found || !equalOrders(got, *want[0]) {
		t.Fatalf("order %s of account %d: %+v (%t), want %+v", name, account, got, found, want[0])
	}
	return true
}

func (r *rig) checkNotes(t *testing.T) bool {
	t.Helper()
	skip, limit := r.rng.IntN(10), 1+r.rng.IntN(10)
	notes, err := r.reader.Notes(context.Background(), skip, limit)
	if r.busy(t, err) {
		return false
	}
	sameRows(t, "notes", notes, page(r.all.notes, skip, limit, func(history.Note) bool { return true }), equal)
	return true
}

// away is a store that cannot be asked.
type away struct{ history.Store }

func (away) Fills(context.Context, bourse.AccountID, history.Span) ([]history.Fill, error) {
	return nil, fmt.Errorf("%w: no route", bourse.Errorf(bourse.CodeUnavailable, "History is away"))
}

// TestAwayNamesTheLag asks for what only the store has while that cannot be asked.
func TestAwayNamesTheLag(t *testing.T) {
	r := newRig(1, 1<<20)
	for range 40 {
		r.frame(r.some(5)...)
	}
	tail := history.NewTail(1) // has none of these rows
	reader := history.NewReader(away{r.store}, tail, r.view)
	var e *bourse.Error
	for account := bourse.AccountID(1); account <= accounts; account++ {
		_, err := reader.Fills(t.Context(), account, &history.ListQuery{Limit: 10})
		if !errors.As(err, &e) || e.Code != bourse.CodeUnavailable || e.Message != "History is away and 0 commands behind" {
			t.Errorf("account %d: %v", account, err)
		}
	}
}
