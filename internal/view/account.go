package view

import "github.com/bourse-exchange/bourse"

// account is the view's state of a customer.
type account struct {
	Account
	// known is true once an event named the account: accounts share pages of the table.
	known bool
	// balances is indexed by asset ID, up to the highest asset touched.
	balances []balance
	// open are the open orders, by ascending ID.
	open []openOrder
	// rejections are the rejected orders with a client id, oldest first, at most
	// bourse.MaxRejections.
	rejections []Rejection
	// deposits and withdrawals are the open ones, by ascending ordinal.
	deposits    []bourse.Deposit
	withdrawals []bourse.Withdrawal
	// moved are the account's windows of flows that count.
	moved []*moved
}

type balance struct{ available, held bourse.Amount }

// Account is the public part of a customer's state.
type Account struct {
	Frozen bool
	// OwnFees is true when Maker and Taker replace the markets' rates.
	OwnFees      bool
	Maker, Taker bourse.Rate
	// FeeLevel is the level of the schedule of fees. FixedLevel is set if an operator chose it.
	FeeLevel   uint8
	FixedLevel bool
	// Tier is the index of the account's tier.
	Tier uint8
	// Orders and Fills are the ordinals of the last order and the last fill.
	Orders, Fills uint64
	// Movements is the ordinal of the last deposit or withdrawal.
	Movements uint64
	// Streams are the positions of the last events in the account's streams.
	Streams bourse.AccountStreams
}

// toldOrder records the position of an event in the stream of the account's orders. In a
// list of events, updates precede triggers with lower positions.
func (a *account) toldOrder(seq uint64) { a.Streams.Orders = max(a.Streams.Orders, seq) }

// account returns a customer's account, and adds it if it is missing.
func (v *View) account(id bourse.AccountID) *account {
	if a := v.find(id); a != nil {
		return a
	}
	if !id.IsCustomer() {
		bourse.Impossible("account %d is no customer's and is not for people", id)
	}
	a := v.accounts.At(uint32(id))
	a.known = true
	return a
}

// find returns a customer's account, or nil.
func (v *View) find(id bourse.AccountID) *account {
	if a := v.accounts.Find(uint32(id)); a != nil && a.known {
		return a
	}
	return nil
}

func (v *View) foldAccount(kind bourse.EventKind, f *bourse.Fact) {
	a := v.account(f.Account)
	//nolint:exhaustive // foldEvent passes events of accounts only
	switch kind {
	case bourse.EventAccountFrozen:
		a.Frozen = f.On
	case bourse.EventAccountFees:
		a.OwnFees, a.Maker, a.Taker = f.On, f.Maker, f.Taker
	case bourse.EventAccountLevel:
		a.FeeLevel, a.FixedLevel = f.FeeLevel, f.On
	case bourse.EventAccountTier:
		a.Tier = f.Tier
	case bourse.EventAccountRestored:
		a.Frozen, a.Orders, a.Fills, a.Movements, a.Streams = f.On, f.Orders, f.Fills, f.Movements, f.Streams
	}
}

func (v *View) foldBalance(b *bourse.Balance) {
	a := v.account(b.Account)
	if missing := int(b.Asset) + 1 - len(a.balances); missing > 0 {
		a.balances = append(a.balances, make([]balance, missing)...)
	}
	a.balances[b.Asset] = balance{b.Available, b.Held}
	a.Streams.Balances = max(a.Streams.Balances, b.StreamSeq)
}

// Account returns a customer's account; false if it does not exist.
func (v *View) Account(id bourse.AccountID) (Account, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if a := v.find(id); a != nil {
		return a.Account, true
	}
	return Account{}, false
}

// Counts returns the ordinals of an account's last order and last fill.
func (v *View) Counts(id bourse.AccountID) (orders, fills uint64) {
	a, _ := v.Account(id)
	return a.Orders, a.Fills
}

// Balance returns a customer's balance of an asset.
func (v *View) Balance(id bourse.AccountID, asset bourse.AssetID) bourse.Balance {
	return v.Balances(id, []bourse.AssetID{asset})[0]
}

// Balances returns a customer's balances of some assets, all at one moment.
func (v *View) Balances(id bourse.AccountID, assets []bourse.AssetID) []bourse.Balance {
	list := make([]bourse.Balance, len(assets))
	v.mu.RLock()
	defer v.mu.RUnlock()
	a := v.find(id)
	for i, asset := range assets {
		list[i] = bourse.Balance{Account: id, Asset: asset}
		if a != nil && int(asset) < len(a.balances) {
			list[i].Available, list[i].Held = a.balances[asset].available, a.balances[asset].held
		}
	}
	return list
}

// EveryBalance returns a customer's balances of all assets touched, by asset, and the
// position of the last posting in the stream of its balances.
func (v *View) EveryBalance(id bourse.AccountID) ([]bourse.Balance, uint64) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	a := v.find(id)
	if a == nil {
		return nil, 0
	}
	list := make([]bourse.Balance, len(a.balances))
	for asset, b := range a.balances {
		list[asset] = bourse.Balance{
			Account: id, Asset: bourse.AssetID(asset), Available: b.available, Held: b.held,
		}
	}
	return list, a.Streams.Balances
}
