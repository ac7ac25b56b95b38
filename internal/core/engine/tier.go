package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/codec"
	"github.com/bourse-exchange/bourse/internal/core/limits"
)

// Tiers limit what accounts move, by asset and flow. A movement counts if any tier limits its
// flow of its asset, also that of an account whose tier does not, so that another tier finds
// the sums of the last 30 days.
//
//   - A withdrawal or transfer counts its amount when it is requested. If it ends without a
//     payment, it is taken out of the hour in which it was counted.
//   - A trade counts the amount that each side gives. When an order takes its hold, the holds of
//     the account's open orders count too, so no trade is ever refused: its amount was within
//     the limit when the order took its hold.
//   - A deposit from a network counts when it is credited. One beyond the limit waits.

// sweptPerTick bounds the accounts whose memory a tick looks at.
const sweptPerTick = 1000

// tiers is the state of tiers.
type tiers struct {
	// defined is nil until tiers are defined.
	defined *bourse.Tiers
	// counted is set, by asset and flow, for movements that count. Movements of assets beyond
	// its end do not.
	counted [][bourse.LastFlow + 1]bool
	// trades is true if trades of any asset count.
	trades bool
	// swept is the account at which the next sweep goes on. It is not part of the state.
	swept bourse.AccountID
}

// moved is the window of an account's flow of an asset.
type moved struct {
	flowOf
	window limits.Window
}

// flowOf names a flow of an asset.
type flowOf struct {
	asset bourse.AssetID
	flow  bourse.Flow
}

func (f flowOf) compare(to flowOf) int {
	return cmp.Or(cmp.Compare(f.asset, to.asset), cmp.Compare(f.flow, to.flow))
}

// defineTiers sets the tiers. Accounts know their tier by its index, so a tier keeps its name
// and its place.
func (e *Engine) defineTiers(def *bourse.Tiers, ev *bourse.Events) {
	for i := range def.List {
		for _, l := range def.List[i].Limits {
			if int(l.Asset) >= len(e.assets) {
				ev.Refuse(bourse.UnknownAsset)
				return
			}
		}
	}
	if old := e.tiers.defined; old != nil {
		for i := range old.List {
			if !def.Has(uint8(i)) || def.List[i].Name != old.List[i].Name {
				ev.Refuse(bourse.FixedField)
				return
			}
		}
	}
	e.setTiers(def.Clone(), ev)
}

func (e *Engine) setTiers(def *bourse.Tiers, ev *bourse.Events) {
	t := &e.tiers
	t.defined, t.trades = def, false
	t.counted = make([][bourse.LastFlow + 1]bool, len(e.assets))
	for asset := range t.counted {
		for f := bourse.FlowDeposit; f <= bourse.LastFlow; f++ {
			t.counted[asset][f] = def.Counts(bourse.AssetID(asset), f)
		}
		t.trades = t.trades || t.counted[asset][bourse.FlowTrade]
	}
	ev.AddFact(bourse.EventTiers, bourse.Fact{Tiers: def})
}

// setAccountTier gives an account a tier, for its next request.
func (e *Engine) setAccountTier(cmd *bourse.Command, ev *bourse.Events) {
	acct := e.account(cmd.Account)
	switch {
	case acct == nil:
		ev.Refuse(bourse.UnknownAccount)
		return
	case !e.tiers.defined.Has(cmd.Level):
		ev.Refuse(bourse.UnknownTier)
		return
	}
	acct.tier = cmd.Level
	acct.announceTier(cmd.Account, ev)
}

func (a *account) announceTier(id bourse.AccountID, ev *bourse.Events) {
	ev.AddFact(bourse.EventAccountTier, bourse.Fact{Account: id, Tier: a.tier})
}

// counts reports whether movements of an asset by a flow count.
func (t *tiers) counts(asset bourse.AssetID, f bourse.Flow) bool {
	return int(asset) < len(t.counted) && t.counted[asset][f]
}

// mayGive reports whether the limit on trades lets an account hold more of an asset for
// orders. It lets more than the available balance pass: the ledger refuses that.
func (e *Engine) mayGive(id bourse.AccountID, asset bourse.AssetID, more bourse.Amount) bool {
	limit := e.tiers.defined.Limit(e.accounts.At(uint32(id)).tier, asset, bourse.FlowTrade)
	if !limit.IsSet() {
		return true
	}

	b := e.ledger.Balance(id, asset)
	if b.Available.Less(more) {
		return true
	}

	e.walked += e.custody.OpenWithdrawals(id)
	ordered := b.Held.Minus(e.custody.Held(id, asset))
	return limit.Allows(e.moved(id, asset, bourse.FlowTrade).Plus(ordered).Plus(more))
}

// mayReceive reports whether the limit on deposits lets a deposit be credited.
func (e *Engine) mayReceive(d *bourse.Deposit) bool {
	limit := e.tiers.defined.Limit(e.account(d.Account).tier, d.Asset, bourse.FlowDeposit)
	return !limit.IsSet() || limit.Allows(e.moved(d.Account, d.Asset, bourse.FlowDeposit).Plus(d.Amount))
}

// countTrade counts what both sides of a trade gave.
//
//go:noinline
func (e *Engine) countTrade(m *market, tr *bourse.Trade, ev *bourse.Events) {
	base, _ := m.BaseAmount(tr.Lots) // fits since the trade settled
	buyer, seller := &tr.Taker, &tr.Maker
	if tr.TakerSide == bourse.Sell {
		buyer, seller = seller, buyer
	}
	if e.tiers.counts(m.Quote, bourse.FlowTrade) {
		e.count(buyer.Account, m.Quote, bourse.FlowTrade, tr.Total, ev)
	}
	if e.tiers.counts(m.Base, bourse.FlowTrade) {
		e.count(seller.Account, m.Base, bourse.FlowTrade, base, ev)
	}
}

// count counts a movement of an account now.
func (e *Engine) count(
	id bourse.AccountID, asset bourse.AssetID, f bourse.Flow, amount bourse.Amount, ev *bourse.Events,
) {
	m, hour := e.movedBy(id, flowOf{asset, f}), limits.Hour(e.now)
	m.window.Add(hour, amount)
	m.announce(id, hour, ev)
}

// uncount takes a withdrawal that was counted out of the sums: it ends without a payment.
func (e *Engine) uncount(w *bourse.Withdrawal, ev *bourse.Events) {
	if !w.Counted {
		return
	}
	w.Counted = false
	m, hour := e.movedBy(w.Account, flowOf{w.Asset, bourse.FlowWithdrawal}), limits.Hour(w.Created)
	m.window.TakeBack(limits.Hour(e.now), hour, w.Amount)
	m.announce(w.Account, hour, ev)
}

// announce announces the sums of an hour and of its day.
func (m *moved) announce(id bourse.AccountID, hour uint32, ev *bourse.Events) {
	inHour, inDay := m.window.In(hour)
	ev.Moved = append(ev.Moved, bourse.Moved{
		Account: id, Asset: m.asset, Flow: m.flow, Hour: hour, InHour: inHour, InDay: inDay,
	})
}

// moved returns the sums of an account's flow of an asset.
func (e *Engine) moved(id bourse.AccountID, asset bourse.AssetID, f bourse.Flow) bourse.Sums {
	acct := e.accounts.At(uint32(id))
	at, found := acct.find(flowOf{asset, f})
	if !found {
		return bourse.Sums{}
	}
	return acct.moved[at].window.Sums(limits.Hour(e.now))
}

// find returns the index of a window, or the place for it.
func (a *account) find(of flowOf) (int, bool) {
	return slices.BinarySearchFunc(a.moved, of, func(m *moved, of flowOf) int { return m.compare(of) })
}

// movedBy returns the window of an account's flow, and adds it if it is missing.
func (e *Engine) movedBy(id bourse.AccountID, of flowOf) *moved {
	acct := e.accounts.At(uint32(id))
	at, found := acct.find(of)
	if !found {
		acct.moved = slices.Insert(acct.moved, at, &moved{flowOf: of})
	}
	return acct.moved[at]
}

// sweepMoved frees windows whose sums are zero, which are no part of the state.
func (e *Engine) sweepMoved() {
	if e.tiers.defined == nil {
		return
	}
	hour := limits.Hour(e.now)
	for range min(sweptPerTick, int(e.lastAccount)) {
		e.tiers.swept = e.tiers.swept%e.lastAccount + 1
		acct := e.accounts.At(uint32(e.tiers.swept))
		acct.moved = slices.DeleteFunc(acct.moved, func(m *moved) bool { return m.window.IsEmpty(hour) })
		if len(acct.moved) == 0 {
			acct.moved = nil
		}
	}
}

// writeMoved writes the windows whose sums are not zero, by account, asset and flow.
// Account zero ends them.
func (e *Engine) writeMoved(c *codec.Codec) {
	hour := limits.Hour(e.now)
	id := bourse.AccountID(1)
	for ; id <= e.lastAccount; id++ {
		for _, m := range e.accounts.At(uint32(id)).moved {
			if !m.window.IsEmpty(hour) {
				codec.Uint32(c, &id)
				m.code(c, hour)
			}
		}
	}
	id = 0
	codec.Uint32(c, &id)
}

func (x *restorer) readTiers() {
	x.codeTiers(x.c)
	t := x.tiers.defined
	if t == nil || !x.c.Want(t.Valid()) {
		return
	}
	for i := range t.List {
		for _, l := range t.List[i].Limits {
			x.c.Want(int(l.Asset) < len(x.assets))
		}
	}
	if x.c.OK() {
		x.setTiers(t, &x.ev)
	}
}

// readMoved restores windows. That they come in order is known when the restored state
// writes the same bytes.
func (x *restorer) readMoved() {
	hour := limits.Hour(x.now)
	for x.c.OK() {
		var id bourse.AccountID
		if codec.Uint32(x.c, &id); id == 0 {
			return
		}
		m := new(moved)
		m.code(x.c, hour)
		acct := x.account(id)
		if !x.c.Want(acct != nil && m.asset > 0 && int(m.asset) < len(x.assets) &&
			m.flow >= bourse.FlowDeposit && m.flow <= bourse.LastFlow) {
			return
		}

		acct.moved = append(acct.moved, m)
		m.window.Buckets(hour, func(h uint32, inHour, inDay bourse.Amount) {
			x.ev.Moved = append(x.ev.Moved, bourse.Moved{
				Account: id, Asset: m.asset, Flow: m.flow, Hour: h, InHour: inHour, InDay: inDay,
			})
		})
		x.flushIfFull()
	}
}

// checkTiers checks the accounts' tiers and windows.
func (e *Engine) checkTiers() error {
	for id := bourse.AccountID(1); id <= e.lastAccount; id++ {
		acct := e.accounts.At(uint32(id))
		if acct.tier != 0 && !e.tiers.defined.Has(acct.tier) {
			return fmt.Errorf("account %d has tier %d of no tiers", id, acct.tier)
		}
		for i, m := range acct.moved {
			if i > 0 && acct.moved[i-1].compare(m.flowOf) >= 0 {
				return fmt.Errorf("the sums of account %d are out of order", id)
			}
			if !m.window.IsValid() {
				return fmt.Errorf("account %d moved more of asset %d in hours than in their day", id, m.asset)
			}
		}
	}
	return e.checkCounted()
}

// counted names an hour or a day in which withdrawals of an account were counted.
type counted struct {
	holding
	span uint32
}

// checkCounted wants the sums of each hour and day that still counts to cover the withdrawals
// that uncount may take out of them.
func (e *Engine) checkCounted() (err error) {
	byHour, byDay := map[counted]bourse.Amount{}, map[counted]bourse.Amount{}
	e.custody.Withdrawals(func(w *bourse.Withdrawal) {
		if !w.Counted {
			return
		}
		hour, owner := limits.Hour(w.Created), holding{w.Account, w.Asset}
		inHour, inDay := counted{owner, hour}, counted{owner, uint32(w.Created / bourse.Day)}
		byHour[inHour] = byHour[inHour].PlusOrMax(w.Amount)
		byDay[inDay] = byDay[inDay].PlusOrMax(w.Amount)

		window := new(limits.Window)
		acct := e.accounts.At(uint32(w.Account))
		if at, found := acct.find(flowOf{w.Asset, bourse.FlowWithdrawal}); found {
			window = &acct.moved[at].window
		}
		if !window.Covers(limits.Hour(e.now), hour, byHour[inHour], byDay[inDay]) {
			err = fmt.Errorf("account %d has withdrawals that count and are not in its sums", w.Account)
		}
	})
	return err
}
