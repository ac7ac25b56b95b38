package sim

import (
	"context"
	"errors"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/sequencer"
	"github.com/bourse-exchange/bourse/internal/view"
)

const (
	// checkEvery is the number of frames between two checks, deepEvery the number of
	// starts between two replays of the whole journal.
	checkEvery = 40
	deepEvery  = 25
)

// check compares the live exchange with the truth.
func (w *world) check() {
	p, t := w.process, w.truth
	if p.engine.Seq() != t.last() || p.view.Seq() != t.last() {
		fail("the engine is at %d, the view at %d, and %d commands were yielded",
			p.engine.Seq(), p.view.Seq(), t.last())
	}

	want(t.pair.Check(), "the engine that never stopped")
	want(p.engine.Check(), "the engine")

	hash := t.pair.Engine.StateHash()
	if p.engine.StateHash() != hash {
		fail("the state at %d differs from that of an engine that never stopped", t.last())
	}
	if f := p.follower; f.Seq() == t.last() && f.Engine.StateHash() != hash {
		fail("the follower's state at %d differs", t.last())
	}

	if w.chance.oneIn(4) {
		want(t.pair.Restore(), "the twin")
	}

	w.checkView()
	w.checkPages()
	w.wallets.checkBoard(p.board, t.board)
	w.trail.hash.Write(hash[:])
}

// checkView compares the view with the engine.
func (w *world) checkView() {
	v, e := w.process.view, w.process.engine
	c := v.Catalogue()
	open := w.truth.pair.Oracle.OpenOrders()
	seen := 0

	for account := bourse.AccountID(1); ; account++ {
		standing, ok := v.Account(account)
		if !ok {
			break
		}
		checkBalances(v, e, c, account)
		list := v.OpenOrders(account, 0, 0, 0, len(open)+1)
		seen += len(list)
		for i := range list {
			checkOpen(open, &list[i])
		}
		if orders, fills := v.Counts(account); orders != standing.Orders || fills != standing.Fills {
			fail("account %d has %d orders and %d fills, or %+v", account, orders, fills, standing)
		}
	}

	if seen != len(open) {
		fail("the view shows %d open orders, and there are %d", seen, len(open))
	}

	for _, m := range c.Markets[1:] {
		checkDepth(v, e, m.ID)
		w.checkTicker(m.ID)
	}
}

func checkBalances(v *view.View, e *engine.Engine, c *view.Catalogue, account bourse.AccountID) {
	for _, a := range c.Assets[1:] {
		if got, has := v.Balance(account, a.ID), e.Balance(account, a.ID); got != has {
			fail("the view shows %+v, the engine has %+v", got, has)
		}
	}
}

// checkOpen checks that an order is among the open ones.
func checkOpen(open []bourse.Order, o *bourse.Order) {
	at, found := slices.BinarySearchFunc(open, o.ID, func(p bourse.Order, id bourse.OrderID) int {
		return int(int64(p.ID) - int64(id))
	})
	if !found || open[at] != *o {
		fail("the view shows the open order %+v", *o)
	}
}

func checkDepth(v *view.View, e *engine.Engine, market bourse.MarketID) {
	d := v.Depth(market)
	for _, side := range [...]bourse.Side{bourse.Buy, bourse.Sell} {
		levels, at := e.Depth(market, side), 0
		shown := d.Bids
		if side == bourse.Sell {
			shown = d.Asks
		}
		shown(func(price bourse.Price, lots bourse.Lots) bool {
			if at == len(levels) || levels[at].Price != price || levels[at].Lots != lots || levels[at].Seq != d.Seq {
				fail("the view of market %d shows %d lots at %d, level %d of side %d", market, lots, price, at, side)
			}
			at++
			return true
		})
		if at != len(levels) {
			fail("the view of market %d shows %d levels on side %d, and there are %d", market, at, side, len(levels))
		}
	}
}

// checkTicker recomputes a market's last price and rolling day from its trades.
func (w *world) checkTicker(market bourse.MarketID) {
	got := w.process.view.Ticker(market)
	from := w.process.engine.Now().Floor(bourse.Minute) - bourse.Day
	var last uint64
	var price, high, low bourse.Price
	volume := bourse.Amount{}

	for i := range w.truth.rows.Trades {
		t := &w.truth.rows.Trades[i]
		if t.Market != market {
			continue
		}
		price, last = t.Price, t.Number
		if t.Time.Floor(bourse.Minute) <= from {
			continue
		}
		if volume.IsZero() {
			high, low = t.Price, t.Price
		}
		high, low = max(high, t.Price), min(low, t.Price)
		volume = volume.PlusOrMax(bourse.Units(uint64(t.Lots)))
	}

	if last == 0 {
		price = got.Price
	}
	if volume.IsZero() {
		high, low = price, price
	}

	if got.Trades != last || got.Price != price || got.High != high || got.Low != low || got.Volume != volume {
		fail("the ticker of market %d is %+v; its trades make: number %d, price %d, high %d, low %d, volume %v",
			market, got, last, price, high, low, volume)
	}
}

// checkFound checks that acknowledged orders are found at once, open or closed, unless
// history lags.
func (w *world) checkFound(r *request, result *sequencer.Result) {
	if result.Outcome.Reason != 0 {
		return
	}
	for i, asked := range placed(&r.cmd) {
		o := bourse.Order{ID: bourse.OrderID(result.Outcome.ID) + bourse.OrderID(i), Account: r.cmd.Account, NewOrder: asked}
		if r.cmd.Kind == bourse.CommandPlaceList {
			o.List = bourse.OrderID(result.Outcome.ID)
		}
		w.checkOrder(&o)
	}
}

// checkOrder checks that an acknowledged order is found.
func (w *world) checkOrder(placed *bourse.Order) {
	id, asked := placed.ID, placed.NewOrder
	if o, open := w.process.view.OpenOrder(placed.Account, id); open {
		if o.List != placed.List {
			fail("order %d of list %d is open in list %d", id, placed.List, o.List)
		}
		return
	}

	o, found, err := w.process.reader.Order(w.ctx, placed.Account, id)
	if lags(err) {
		return
	}
	want(err, "an order that was acknowledged")

	if asked.SelfTrade == 0 {
		asked.SelfTrade = o.SelfTrade // the market's default
	}
	if limit := o.Cap(); limit > 0 {
		asked.Price = limit // fixed when it was accepted
	}
	if o.Amended {
		asked.Price, asked.Lots = o.Price, o.Lots
	}
	if !found || o.ID != id || o.Account != placed.Account || o.NewOrder != asked || o.List != placed.List {
		fail("order %d of account %d was acknowledged, and is found as %+v", id, placed.Account, o)
	}
	w.checkFills(&o.Order.Order, len(o.Fills))
}

// checkFills checks that an order has as many fills as the truth.
func (w *world) checkFills(o *bourse.Order, fills int) {
	n := 0
	for i := range w.truth.rows.Fills {
		if w.truth.rows.Fills[i].Order == o.ID {
			n++
		}
	}
	if n != fills {
		fail("order %d has %d fills, and is shown with %d", o.ID, n, fills)
	}
}

// lags reports whether an error means that history has to catch up.
func lags(err error) bool {
	behind := (*bourse.Error)(nil)
	return errors.As(err, &behind) && behind.Code == bourse.CodeBehind || errors.Is(err, context.DeadlineExceeded)
}
