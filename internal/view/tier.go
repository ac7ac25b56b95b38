package view

import (
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/limits"
)

// moved is the window of an account's flow of an asset.
type moved struct {
	asset  bourse.AssetID
	flow   bourse.Flow
	window limits.Window
}

// foldMoved replaces the sums of an hour. Before it adds a window it frees those whose sums are
// zero, so that an account has as many as in the engine.
func (v *View) foldMoved(m *bourse.Moved) {
	a, hour := v.account(m.Account), limits.Hour(v.now)
	at, found := a.findMoved(m.Asset, m.Flow)
	if !found {
		a.moved = slices.DeleteFunc(a.moved, func(w *moved) bool { return w.window.IsEmpty(hour) })
		at, _ = a.findMoved(m.Asset, m.Flow)
		a.moved = slices.Insert(a.moved, at, &moved{asset: m.Asset, flow: m.Flow})
	}
	a.moved[at].window.Set(m.Hour, m.InHour, m.InDay)
}

// findMoved returns the index of a window, or the place for it: they are by asset and flow.
func (a *account) findMoved(asset bourse.AssetID, f bourse.Flow) (int, bool) {
	return slices.BinarySearchFunc(a.moved, f, func(w *moved, f bourse.Flow) int {
		return cmp.Or(cmp.Compare(w.asset, asset), cmp.Compare(w.flow, f))
	})
}

func (a *account) sums(asset bourse.AssetID, f bourse.Flow, now bourse.Time) bourse.Sums {
	at, found := a.findMoved(asset, f)
	if !found {
		return bourse.Sums{}
	}
	return a.moved[at].window.Sums(limits.Hour(now))
}

// Moved returns the sums of an account's flow of an asset, as the engine counts them.
func (v *View) Moved(id bourse.AccountID, asset bourse.AssetID, f bourse.Flow) bourse.Sums {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if a := v.find(id); a != nil {
		return a.sums(asset, f, v.now)
	}
	return bourse.Sums{}
}

// Usage has the sums of an account's flow of an asset that its tier limits.
type Usage struct {
	Asset bourse.AssetID
	Flow  bourse.Flow
	Limit bourse.FlowLimit
	// Used includes the holds of the account's orders, if the flow is trades.
	Used bourse.Sums
}

// Tier returns the name of an account's tier, and the used part of each limit of the tier, by
// asset and flow, all at one moment.
func (v *View) Tier(id bourse.AccountID) (name string, list []Usage) {
	tiers := v.Catalogue().Tiers
	v.mu.RLock()
	defer v.mu.RUnlock()
	a := v.find(id)
	if a == nil || !tiers.Has(a.Tier) {
		return tiers.Name(0), nil
	}

	ordered := a.ordered()
	for _, l := range tiers.List[a.Tier].Limits {
		for f := bourse.FlowDeposit; f <= bourse.LastFlow; f++ {
			u := Usage{l.Asset, f, l.Of(f), a.sums(l.Asset, f, v.now)}
			if !u.Limit.IsSet() {
				continue
			}
			if f == bourse.FlowTrade && int(l.Asset) < len(ordered) {
				u.Used = u.Used.Plus(ordered[l.Asset])
			}
			list = append(list, u)
		}
	}
	return tiers.Name(a.Tier), list
}

// ordered returns the amounts that the account's orders hold, by asset: all that is held, without
// the holds of withdrawals.
func (a *account) ordered() []bourse.Amount {
	list := make([]bourse.Amount, len(a.balances))
	for asset := range list {
		list[asset] = a.balances[asset].held
	}
	for i := range a.withdrawals {
		w := &a.withdrawals[i]
		list[w.Asset] = list[w.Asset].Minus(w.Held())
	}
	return list
}
