package view

import (
	"cmp"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// account is what is known of a customer.
type account struct {
	Account
	// balances is by asset id, as long as the highest one touched.
	balances []balance
	// orders are the open ones, by ascending id; ids are their ids, side by side
	// so that a search stays in few lines of the cache.
	orders []*bourse.Order
	ids    []bourse.OrderID
	// deposits and withdrawals are those that are not over, by ascending ordinal.
	deposits    []bourse.Deposit
	withdrawals []bourse.Withdrawal
}

type balance struct{ available, held bourse.Amount }

// Account is a customer's standing.
type Account struct {
	Frozen bool
	// OwnFees is true when Maker and Taker replace the markets' rates.
	OwnFees      bool
	FeeLevel     uint8
	Maker, Taker bourse.Rate
	// Orders and Fills count what the account ever had: the ordinals of the
	// last ones.
	Orders, Fills uint64
	// Movements counts its deposits and withdrawals together.
	Movements uint64
}

func (v *View) account(id bourse.AccountID) *account {
	a := v.accounts[id]
	if a == nil {
		a = new(account)
		v.accounts[id] = a
	}
	return a
}

func (v *View) foldAccount(kind bourse.EventKind, f *bourse.Fact) {
	a := v.account(f.Account)
	//nolint:exhaustive // foldEvent passes events of accounts only
	switch kind {
	case bourse.EventAccountFrozen:
		a.Frozen = f.On
	case bourse.EventAccountFees:
		a.OwnFees, a.Maker, a.Taker, a.FeeLevel = f.On, f.Maker, f.Taker, f.FeeLevel
	case bourse.EventAccountRestored:
		a.Frozen, a.Orders, a.Fills, a.Movements = f.On, f.Orders, f.Fills, f.Movements
	}
}

func (v *View) foldBalance(b *bourse.Balance) {
	a := v.account(b.Account)
	if missing := int(b.Asset) + 1 - len(a.balances); missing > 0 {
		a.balances = append(a.balances, make([]balance, missing)...)
	}
	a.balances[b.Asset] = balance{b.Available, b.Held}
}

func (v *View) foldTrade(t *bourse.Trade) {
	for _, f := range [...]*bourse.Fill{&t.Maker, &t.Taker} {
		a := v.account(f.Account)
		a.Fills = f.Ordinal
		if at, found := a.search(f.Order); found {
			a.orders[at].Filled = f.Filled
		}
	}
}

func (v *View) openOrder(kind bourse.EventKind, o *bourse.Order) {
	a := v.account(o.Account)
	if kind == bourse.EventOrderAccepted {
		a.Orders = o.Ordinal // a restored account knows its count already
	}
	var open *bourse.Order
	if last := len(v.spare) - 1; last >= 0 {
		open, v.spare = v.spare[last], v.spare[:last]
	} else {
		open = new(bourse.Order)
	}
	*open = *o
	a.orders, a.ids = append(a.orders, open), append(a.ids, o.ID) // ids rise
}

// maxSpare bounds the memory kept for orders to come.
const maxSpare = 4096

func (v *View) closeOrder(o *bourse.Order) {
	a := v.account(o.Account)
	at, found := a.search(o.ID)
	if !found {
		return
	}
	if len(v.spare) < maxSpare {
		v.spare = append(v.spare, a.orders[at])
	}
	a.orders, a.ids = slices.Delete(a.orders, at, at+1), slices.Delete(a.ids, at, at+1)
}

// search finds an open order; the newest is the likeliest.
func (a *account) search(id bourse.OrderID) (int, bool) {
	if n := len(a.ids); n > 0 && a.ids[n-1] == id {
		return n - 1, true
	}
	return slices.BinarySearch(a.ids, id)
}

// Account returns a customer's standing; false if there is no such account.
func (v *View) Account(id bourse.AccountID) (Account, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if a := v.accounts[id]; a != nil {
		return a.Account, true
	}
	return Account{}, false
}

// Counts returns the ordinals of an account's last order and last fill.
func (v *View) Counts(id bourse.AccountID) (orders, fills uint64) {
	a, _ := v.Account(id)
	return a.Orders, a.Fills
}

// Balance returns what a customer has of an asset.
func (v *View) Balance(id bourse.AccountID, asset bourse.AssetID) bourse.Balance {
	return v.Balances(id, []bourse.AssetID{asset})[0]
}

// Balances returns what a customer has of some assets, all at one moment.
func (v *View) Balances(id bourse.AccountID, assets []bourse.AssetID) []bourse.Balance {
	list := make([]bourse.Balance, len(assets))
	v.mu.RLock()
	defer v.mu.RUnlock()
	a := v.accounts[id]
	for i, asset := range assets {
		list[i] = bourse.Balance{Account: id, Asset: asset}
		if a != nil && int(asset) < len(a.balances) {
			list[i].Available, list[i].Held = a.balances[asset].available, a.balances[asset].held
		}
	}
	return list
}

// OpenOrder returns one open order of an account; false if there is none.
func (v *View) OpenOrder(id bourse.AccountID, order bourse.OrderID) (bourse.Order, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if a := v.accounts[id]; a != nil {
		if at, found := a.search(order); found {
			return *a.orders[at], true
		}
	}
	return bourse.Order{}, false
}

// Open returns an open order, or nil, to the goroutine that observes, between
// Begin and End. It is good until the next Observe.
func (v *View) Open(id bourse.AccountID, order bourse.OrderID) *bourse.Order {
	if a := v.accounts[id]; a != nil {
		if at, found := a.search(order); found {
			return a.orders[at]
		}
	}
	return nil
}

// OpenOrderNamed returns the open order of an account with a client id.
func (v *View) OpenOrderNamed(id bourse.AccountID, name bourse.ClientID) (bourse.Order, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if a := v.accounts[id]; a != nil {
		for _, o := range slices.Backward(a.orders) {
			if o.ClientID == name {
				return *o, true
			}
		}
	}
	return bourse.Order{}, false
}

// OpenOrders returns copies of an account's open orders, newest first, after
// passing over skip of them and at most limit. only leaves those of one market,
// first puts those of one market in front; zero means neither.
func (v *View) OpenOrders(id bourse.AccountID, only, first bourse.MarketID, skip, limit int) []bourse.Order {
	v.mu.RLock()
	defer v.mu.RUnlock()
	a := v.accounts[id]
	if a == nil {
		return nil
	}
	page := page{skip: skip, limit: limit}
	if only != 0 || first == 0 {
		page.add(a.orders, func(o *bourse.Order) bool { return only == 0 || o.Market == only })
		return page.orders
	}
	page.add(a.orders, func(o *bourse.Order) bool { return o.Market == first })
	page.add(a.orders, func(o *bourse.Order) bool { return o.Market != first })
	return page.orders
}

// page gathers a page of orders.
type page struct {
	skip, limit int
	orders      []bourse.Order
}

// add takes in the orders that pass the filter, newest first.
func (p *page) add(orders []*bourse.Order, filter func(*bourse.Order) bool) {
	for _, o := range slices.Backward(orders) {
		switch {
		case len(p.orders) == p.limit:
			return
		case !filter(o):
		case p.skip > 0:
			p.skip--
		default:
			p.orders = append(p.orders, *o)
		}
	}
}

// OpenOrdersSpan returns copies of an account's open orders whose ordinals lie
// in [first, last], newest first.
func (v *View) OpenOrdersSpan(id bourse.AccountID, first, last uint64) []bourse.Order {
	v.mu.RLock()
	defer v.mu.RUnlock()
	a := v.accounts[id]
	if a == nil {
		return nil
	}
	// Ordinals rise with ids.
	end, _ := slices.BinarySearchFunc(a.orders, last+1, byOrdinal)
	var list []bourse.Order
	for _, o := range slices.Backward(a.orders[:end]) {
		if o.Ordinal < first {
			break
		}
		list = append(list, *o)
	}
	return list
}

func byOrdinal(o *bourse.Order, ordinal uint64) int { return cmp.Compare(o.Ordinal, ordinal) }
