package historytest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

// comparison compares the answers of two stores.
type comparison struct {
	t         *testing.T
	want, got history.Store
}

// compare compares both stores' answers about everything in a past, with random spans and
// pages.
func compare(t *testing.T, p *past, want, got history.Store) {
	t.Helper()
	c, rng := comparison{t, want, got}, p.rng

	for account := bourse.AccountID(1); account <= pastAccounts+1; account++ {
		span := history.Span{First: 1 + rng.Uint64N(p.orders[account]+3), Last: rng.Uint64N(p.orders[account] + 3)}
		c.account(account, p.market(), everything(1000))
		c.account(account, p.market(), history.Window{
			Span: span, Until: bourse.Seq(rng.Uint64N(uint64(p.cursor.Seq) + 2)), Skip: rng.IntN(20), Limit: 1 + rng.IntN(20),
		})
		c.bounds(account, p)
		name, _ := bourse.ParseClientID(fmt.Sprintf("name-%d", rng.IntN(p.names/3+1)))
		c.order(account, 1+bourse.OrderID(rng.Uint64N(uint64(p.lastOrder)+1)), name)
		c.fillsOf(account, p.lastOrder, rng)
		for range 20 {
			c.amendments(account, 1+bourse.OrderID(rng.Uint64N(uint64(p.lastOrder)+1)),
				bourse.Seq(rng.Uint64N(uint64(p.cursor.Seq)+2)), 1+rng.IntN(4))
		}
		c.movements(account, p.movements[account], rng)
		c.entries(account, p.cursor, rng)
	}

	for market := bourse.MarketID(1); market <= pastMarkets+1; market++ {
		for _, res := range []history.Width{history.Minute, history.Hour, history.Day} {
			at := p.cursor.Time - bourse.Time(rng.Int64N(int64(20*bourse.Day)))
			c.market(market, res, 0, 1<<62, 1000)
			c.market(market, res, at.Floor(bourse.Time(res)), p.cursor.Time, 1+rng.IntN(5))
			c.market(market, res, at, at+bourse.Day, 50)
		}
	}

	c.notes(0, 1000)
	c.notes(rng.IntN(10), 1+rng.IntN(10))
	c.bulletins(history.BulletinPlace{}, 1000)
	c.bulletins(history.BulletinPlace{Seq: bourse.Seq(rng.Uint64N(uint64(p.cursor.Seq) + 2)), Place: rng.Uint32N(3)}, 1+rng.IntN(5))
}

// everything is the window of a list's newest rows.
func everything(limit int) history.Window {
	return history.Window{Span: history.Span{First: 1, Last: 1 << 40}, Until: 1<<63 - 1, Limit: limit}
}

// account compares an account's lists.
func (c comparison) account(account bourse.AccountID, market bourse.MarketID, window history.Window) {
	c.t.Helper()
	ctx, about := context.Background(), fmt.Sprintf("account %d, market %d, %+v", account, market, window)
	span, skip, limit := window.Span, window.Skip, window.Limit

	same(c, "Orders of "+about, func(s history.Store) ([]history.Order, error) { return s.Orders(ctx, account, span) })
	same(c, "Fills of "+about, func(s history.Store) ([]history.Fill, error) { return s.Fills(ctx, account, span) })
	same(c, "OrdersIn of "+about, func(s history.Store) ([]history.Order, error) {
		return s.OrdersIn(ctx, account, market, window)
	})
	same(c, "FillsIn of "+about, func(s history.Store) ([]history.Fill, error) {
		return s.FillsIn(ctx, account, market, window)
	})
	oldest := window
	oldest.Oldest, oldest.Skip = true, 0
	same(c, "the oldest OrdersIn of "+about, func(s history.Store) ([]history.Order, error) {
		return s.OrdersIn(ctx, account, market, oldest)
	})
	same(c, "the oldest FillsIn of "+about, func(s history.Store) ([]history.Fill, error) {
		return s.FillsIn(ctx, account, market, oldest)
	})
	same(c, "OrdinalsIn of "+about, func(s history.Store) ([]uint64, error) {
		return s.OrdinalsIn(ctx, account, market, window)
	})
	same(c, "Transfers of "+about, func(s history.Store) ([]history.Transfer, error) {
		return s.Transfers(ctx, account, skip, limit)
	})
}

// bounds compares the highest ordinals up to random ids, times and numbers of trades.
func (c comparison) bounds(account bourse.AccountID, p *past) {
	c.t.Helper()
	ctx, rng, market := context.Background(), p.rng, p.market()
	id := bourse.OrderID(rng.Uint64N(uint64(p.lastOrder) + 2))
	t := p.cursor.Time - bourse.Time(rng.Int64N(int64(p.cursor.Time)+2))
	if rng.IntN(3) == 0 {
		id = ^bourse.OrderID(0)
	}
	trade := rng.Uint64N(p.trades[market] + 3)

	about := fmt.Sprintf("account %d, market %d, up to id %d, time %d, trade %d", account, market, id, t, trade)
	for name, ordinal := range map[string]func(history.Store) (uint64, error){
		"OrderUpTo":  func(s history.Store) (uint64, error) { return s.OrderUpTo(ctx, account, id, t) },
		"FillUpTo":   func(s history.Store) (uint64, error) { return s.FillUpTo(ctx, account, t) },
		"FillBefore": func(s history.Store) (uint64, error) { return s.FillBefore(ctx, account, market, trade) },
	} {
		same(c, name+" of "+about, func(s history.Store) ([]uint64, error) {
			n, err := ordinal(s)
			return []uint64{n}, err
		})
	}
}

// order compares an order, and the latest order with a name.
func (c comparison) order(account bourse.AccountID, id bourse.OrderID, name bourse.ClientID) {
	c.t.Helper()
	ctx := context.Background()
	same(c, fmt.Sprintf("Order %d of account %d", id, account), one(func(s history.Store) (history.Order, bool, error) {
		return s.Order(ctx, account, id)
	}))
	same(c, fmt.Sprintf("OrderNamed %s of account %d", name, account),
		one(func(s history.Store) (history.Order, bool, error) {
			return s.OrderNamed(ctx, account, name)
		}))
}

// amendments compares the amendments of an order, those up to a command and the latest.
func (c comparison) amendments(account bourse.AccountID, id bourse.OrderID, last bourse.Seq, limit int) {
	c.t.Helper()
	for _, last := range [...]bourse.Seq{last, 1<<64 - 1} {
		about := fmt.Sprintf("Amendments of order %d of account %d up to %d, at most %d", id, account, last, limit)
		same(c, about, func(s history.Store) ([]history.Amendment, error) {
			return s.Amendments(context.Background(), account, id, last, limit)
		})
	}
}

// fillsOf compares the fills of some orders, other accounts' orders included.
func (c comparison) fillsOf(account bourse.AccountID, last bourse.OrderID, rng *rand.Rand) {
	c.t.Helper()
	ids := []bourse.OrderID{last + 9}
	for id := bourse.OrderID(1); id <= last; id++ {
		if rng.IntN(3) == 0 && len(ids) < 50 {
			ids = append(ids, id)
		}
	}
	same(c, fmt.Sprintf("FillsOf %v of account %d", ids, account), func(s history.Store) ([]history.Fill, error) {
		return s.FillsOf(context.Background(), account, ids)
	})
}

// market compares a market's trades and candles.
func (c comparison) market(market bourse.MarketID, res history.Width, from, to bourse.Time, limit int) {
	c.t.Helper()
	ctx, about := context.Background(), fmt.Sprintf("market %d, width %d, from %d to %d, limit %d", market, res,
		from, to, limit)
	series := history.Series{Market: market, Width: res}

	same(c, "Trades of "+about, func(s history.Store) ([]history.Trade, error) {
		return s.Trades(ctx, market, history.Span{First: 3, Last: uint64(2 + limit)})
	})
	same(c, "Candles of "+about, func(s history.Store) ([]history.Candle, error) {
		return s.Candles(ctx, series, from, to, limit)
	})
	same(c, "CandleBefore of "+about, one(func(s history.Store) (history.Candle, bool, error) {
		return s.CandleBefore(ctx, series, to)
	}))
	same(c, "CandleBefore the start of "+about, one(func(s history.Store) (history.Candle, bool, error) {
		return s.CandleBefore(ctx, series, from)
	}))
	same(c, "FirstCandle of "+about, one(func(s history.Store) (history.Candle, bool, error) {
		return s.FirstCandle(ctx, series)
	}))
}

func (c comparison) notes(skip, limit int) {
	c.t.Helper()
	same(c, fmt.Sprintf("Notes, skip %d, limit %d", skip, limit), func(s history.Store) ([]history.Note, error) {
		return s.Notes(context.Background(), skip, limit)
	})
}

// one makes a list of an optional row.
func one[R any](get func(history.Store) (R, bool, error)) func(history.Store) ([]R, error) {
	return func(s history.Store) ([]R, error) {
		r, found, err := get(s)
		if err != nil || !found {
			return nil, err
		}
		return []R{r}, nil
	}
}

// same fails the test unless both stores return the same rows.
func same[R comparable](c comparison, about string, ask func(history.Store) ([]R, error)) {
	c.t.Helper()
	want, err := ask(c.want)
	if err != nil {
		c.t.Fatalf("%s: the model says %v", about, err)
	}
	got, err := ask(c.got)
	switch {
	case err != nil:
		c.t.Errorf("%s: %v", about, err)
	case !slices.Equal(got, want):
		c.t.Errorf("%s:\n got %+v\nwant %+v", about, got, want)
	}
}

// movements compares an account's deposits and withdrawals.
func (c comparison) movements(account bourse.AccountID, count uint64, rng *rand.Rand) {
	c.t.Helper()
	ctx := context.Background()
	for _, span := range []history.Span{
		{First: 1, Last: 1 << 40}, {First: 1 + rng.Uint64N(count+3), Last: rng.Uint64N(count + 3)},
	} {
		same(c, fmt.Sprintf("Movements %+v of account %d", span, account),
			func(s history.Store) ([]history.Movement, error) {
				return s.Movements(ctx, account, span)
			})
	}

	id := bourse.WalletID(10*(1+rng.Uint64N(count+3)) + uint64(account))
	same(c, fmt.Sprintf("Movement %d of account %d", id, account),
		one(func(s history.Store) (history.Movement, bool, error) {
			return s.Movement(ctx, account, id)
		}))
	same(c, fmt.Sprintf("HasMovement %d", id), func(s history.Store) ([]bool, error) {
		found, err := s.HasMovement(ctx, id)
		return []bool{found}, err
	})

	filter := history.MovementFilter{Asset: bourse.AssetID(rng.IntN(4)), Network: bourse.NetworkID(rng.IntN(3))}
	for range rng.IntN(3) {
		filter.Of = filter.Of.With(history.MovementKind(1+rng.IntN(4)),
			bourse.WalletCanceled+bourse.WalletStatus(rng.IntN(2)))
	}
	if rng.IntN(3) == 0 {
		filter.Before, filter.To = bourse.WalletID(rng.Uint64N(count+3)), bourse.Time(rng.Int64N(int64(bourse.Day)))
		filter.From = filter.To - bourse.Hour
	}
	w := history.Window{
		Span: history.Span{First: rng.Uint64N(3), Last: rng.Uint64N(count + 3)}, Skip: rng.IntN(9), Limit: 1 + rng.IntN(9),
	}
	about := fmt.Sprintf("MovementsIn %+v, %+v, of account %d", filter, w, account)
	same(c, about, func(s history.Store) ([]history.Movement, error) {
		return s.MovementsIn(ctx, account, filter, w)
	})
}

// entries compares an account's ledger.
func (c comparison) entries(account bourse.AccountID, last history.Cursor, rng *rand.Rand) {
	c.t.Helper()
	asset := bourse.AssetID(1 + rng.IntN(4))
	q := &history.LedgerQuery{
		Account: account, To: last.Time - bourse.Time(rng.IntN(3))*bourse.Minute, Limit: 1 + rng.IntN(20),
		Before: history.EntryPlace{Seq: 1 + bourse.Seq(rng.Uint64N(uint64(last.Seq)+2)), Place: rng.Uint32N(4)},
	}
	about := fmt.Sprintf("Entries in %d of %+v", asset, *q)
	same(c, about, func(s history.Store) ([]history.Entry, error) {
		return s.Entries(context.Background(), q, asset)
	})
}

// bulletins compares the bulletins behind a place.
func (c comparison) bulletins(after history.BulletinPlace, limit int) {
	c.t.Helper()
	same(c, fmt.Sprintf("Bulletins behind %+v, limit %d", after, limit), func(s history.Store) ([]history.Bulletin, error) {
		return s.Bulletins(context.Background(), after, limit)
	})
}
