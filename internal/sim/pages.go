package sim

import (
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/history"
)

// checkPages reads pages of an account's orders and fills and of a market's trades, as
// interfaces do: they cover everything announced, wherever a row is at the time. Pages
// refused because history lags are not compared. Nor are pages while the history store is
// ahead of the live engine, when they show commands not announced yet.
func (w *world) checkPages() {
	if cursor, err := w.store.Cursor(w.ctx); err != nil || cursor.Seq > w.process.sequencer.Applied() {
		return
	}

	c := w.process.view.Catalogue()
	accounts := 1
	for ; w.exists(bourse.AccountID(accounts + 1)); accounts++ {
	}
	if len(c.Markets) == 1 || !w.exists(1) {
		return
	}

	account := bourse.AccountID(w.chance.between(1, uint64(accounts)))
	market := bourse.MarketID(w.chance.between(1, uint64(len(c.Markets)-1)))
	only := bourse.MarketID(0)
	if w.chance.oneIn(3) {
		only = market
	}
	skip, limit := int(w.chance.Below(30)), int(w.chance.between(1, 30))
	w.checkOrdersPage(account, only, skip, limit)

	rows := &w.truth.rows
	fills, err := w.process.reader.Fills(w.ctx, account, &history.ListQuery{Market: only, Skip: skip, Limit: limit})
	checkPage(w, "fills", fills, err, page(rows.Fills, skip, limit, func(f *history.Fill) bool {
		return f.Account == account && (only == 0 || f.Market == only)
	}))
	trades, err := w.process.reader.Trades(w.ctx, market, skip, limit)
	checkPage(w, "trades", trades, err, page(rows.Trades, skip, limit, func(t *history.Trade) bool {
		return t.Market == market
	}))
	transfers, err := w.process.reader.Transfers(w.ctx, account, skip, limit)
	checkPage(w, "transfers", transfers, err, page(rows.Transfers, skip, limit, func(t *history.Transfer) bool {
		return t.From == account || t.To == account
	}))
}

func (w *world) exists(account bourse.AccountID) bool {
	_, ok := w.process.view.Account(account)
	return ok
}

// checkOrdersPage reads a page of orders, open and closed, with their fills.
func (w *world) checkOrdersPage(account bourse.AccountID, only bourse.MarketID, skip, limit int) {
	got, err := w.process.reader.Orders(w.ctx, account, &history.ListQuery{Market: only, Skip: skip, Limit: limit})
	passes := func(o *history.Order) bool { return o.Account == account && (only == 0 || o.Market == only) }
	all := until(w.truth.rows.Orders, w.truth.last(), func(o *history.Order) (bourse.Seq, bool) {
		return o.Seq, passes(o)
	})
	for _, o := range w.truth.pair.Oracle.OpenOrders() {
		all = append(all, history.Order{Order: o})
	}
	slices.SortFunc(all, func(a, b history.Order) int { return cmp.Compare(a.ID, b.ID) })
	orders := make([]history.Order, 0, len(got))
	for i := range got {
		orders = append(orders, got[i].Order)
		wanted := page(w.truth.rows.Fills, 0, len(w.truth.rows.Fills), func(f *history.Fill) bool {
			return f.Order == got[i].ID && f.Account == account
		})
		slices.Reverse(wanted)
		checkPage(w, "fills of an order", got[i].Fills, err, wanted)
	}
	checkPage(w, "orders", orders, err, page(all, skip, limit, passes))
}

// page returns the rows that pass, newest first: at most limit, after skip of them.
func page[R any](rows []R, skip, limit int, pass func(*R) bool) []R {
	var list []R
	for i := len(rows) - 1; i >= 0 && len(list) < limit; i-- {
		switch {
		case !pass(&rows[i]):
		case skip > 0:
			skip--
		default:
			list = append(list, rows[i])
		}
	}
	return list
}

func checkPage[R comparable](w *world, about string, got []R, err error, wanted []R) {
	if lags(err) {
		w.count(PageLagged)
		return
	}
	want(err, "a page of "+about)
	compareRows(w, "page of "+about, got, wanted, nil)
	w.count(PageRead)
}
