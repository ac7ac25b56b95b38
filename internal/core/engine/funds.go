package engine

import "github.com/bourse-exchange/bourse"

// Funds sums up the balances of all accounts, and the exchange's balances on its networks. It visits
// every balance and every output: it is for a second engine, not for the one that trading waits for.
func (e *Engine) Funds() *bourse.Funds {
	funds := &bourse.Funds{Seq: e.seq, Time: e.now, Assets: make([]bourse.AssetFunds, len(e.assets)-1)}
	for i := range funds.Assets {
		funds.Assets[i].Asset = bourse.AssetID(i + 1)
	}
	e.Holdings(func(b bourse.Balance) {
		a := &funds.Assets[b.Asset-1]
		a.Customers = a.Customers.PlusOrMax(b.Available).PlusOrMax(b.Held)
		a.Held = a.Held.PlusOrMax(b.Held)
	}, func(asset bourse.AssetID, account bourse.AccountID, owes, has bourse.Amount) {
		if a := &funds.Assets[asset-1]; !owes.IsZero() || !has.IsZero() {
			a.Own = append(a.Own, bourse.OwnBalance{Account: account, Owes: owes, Has: has})
		}
	})

	for _, n := range e.networks[1:] {
		one := bourse.NetworkFunds{Network: n.ID, Height: e.NetworkState(n.ID).Tip.Height}
		e.Owned(n.ID, func(asset bourse.AssetID, has bourse.Amount) {
			one.Owned = append(one.Owned, bourse.AssetAmount{Asset: asset, Amount: has})
		})
		funds.Networks = append(funds.Networks, one)
	}
	return funds
}
