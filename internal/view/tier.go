package view

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/limits"
)

// moved is what an account moved of an asset by a flow.
type moved struct {
	asset  bourse.AssetID
	flow   bourse.Flow
	window limits.Window
}

// foldMoved replaces the sums of an hour. Windows in which nothing counts any more are
// forgotten, so that an account has as many as in the engine.
func (v *View) foldMoved(m *bourse.Moved) {
	a, hour := v.account(m.Account), limits.Hour(v.now)
	at := slices.IndexFunc(a.moved, func(w *moved) bool { return w.asset == m.Asset && w.flow == m.Flow })
	if at < 0 {
		a.moved = slices.DeleteFunc(a.moved, func(w *moved) bool { return w.window.IsEmpty(hour) })
		at = len(a.moved)
		a.moved = append(a.moved, &moved{asset: m.Asset, flow: m.Flow})
	}
	a.moved[at].window.Set(m.Hour, m.InHour, m.InDay)
}

func (a *account) sums(asset bourse.AssetID, f bourse.Flow, now bourse.Time) bourse.Sums {
	for _, w := range a.moved {
		if w.asset == asset && w.flow == f {
			return w.window.Sums(limits.Hour(now))
		}
	}
	return bourse.Sums{}
}

// Moved returns what an account moved of an asset by a flow, as the engine counts it.
func (v *View) Moved(id bourse.AccountID, asset bourse.AssetID, f bourse.Flow) bourse.Sums {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if a := v.find(id); a != nil {
		return a.sums(asset, f, v.now)
	}
	return bourse.Sums{}
}

// Usage is what an account moved of an asset by a flow that its tier limits.
type Usage struct {
	Asset bourse.AssetID
	Flow  bourse.Flow
	Limit bourse.FlowLimit
	// Used has what the orders of the account hold, if the flow is trades.
	Used bourse.Sums
}

// Tier returns the name of an account's tier, and what it used of each limit of the tier, by
// asset and flow, all at one moment.
func (v *View) Tier(id bourse.AccountID) (name string, list []Usage) {
	tiers := v.Catalogue().Tiers
	v.mu.RLock()
	defer v.mu.RUnlock()
	a := v.find(id)
	if a == nil || !tiers.Has(a.Tier) {
		return tiers.Name(0), nil
	}

	for _, l := range tiers.List[a.Tier].Limits {
		for f := bourse.FlowDeposit; f <= bourse.LastFlow; f++ {
			u := Usage{l.Asset, f, l.Of(f), a.sums(l.Asset, f, v.now)}
			if !u.Limit.IsSet() {
				continue
			}
			if f == bourse.FlowTrade {
				u.Used = u.Used.Plus(a.ordered(l.Asset))
			}
			list = append(list, u)
		}
	}
	return tiers.Name(a.Tier), list
}

// ordered returns what the account's orders hold of an asset: what is held and not for
// withdrawals.
func (a *account) ordered(asset bourse.AssetID) bourse.Amount {
	if int(asset) >= len(a.balances) {
		return bourse.Amount{}
	}
	held := a.balances[asset].held
	for i := range a.withdrawals {
		if w := &a.withdrawals[i]; w.Asset == asset {
			held = held.Minus(w.Held())
		}
	}
	return held
}
