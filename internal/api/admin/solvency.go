package admin

import (
	"context"
	"maps"

	"github.com/bourse-exchange/bourse"
)

// assetAnswer is an asset's money, in whole assets. Customers, the exchange's own accounts and Chain
// add up to Difference.
type assetAnswer struct {
	Asset     bourse.Symbol `json:"asset"`
	Customers string        `json:"customers"`
	// Held is the part of Customers that is held for open orders and withdrawals.
	Held           string `json:"held"`
	Fees           string `json:"fees"`
	WithdrawalFees string `json:"withdrawal_fees"`
	Treasury       string `json:"treasury"`
	// Pending are mined deposits that are not credited yet, Parked those without an owner, Transit
	// withdrawals that no block includes yet.
	Pending string `json:"pending"`
	Parked  string `json:"parked"`
	Transit string `json:"in_transit"`
	// NetworkCosts are what networks charged for transactions, Credited a sandbox's credits: both
	// are missing on the chain.
	NetworkCosts string `json:"network_costs"`
	Credited     string `json:"credited"`
	// Chain is the sum of the exchange's balances on all networks.
	Chain string `json:"chain"`
	// Difference is what accounts have and the chain does not. It is 0 in a solvent exchange.
	Difference string `json:"difference"`
}

// ownedAnswer are the exchange's balances on a network.
type ownedAnswer struct {
	Network bourse.Symbol            `json:"network"`
	Height  uint64                   `json:"height"`
	Owned   map[bourse.Symbol]string `json:"owned"`
	// Chain is the result of a comparison with an embedded network at the same height.
	Chain string `json:"chain"`
}

// solvency compares customers, fees and treasury with the blocks of the networks, all after one
// command.
func (s *Server) solvency(ctx context.Context, _ struct{}) (any, error) {
	funds, err := s.Funds(ctx)
	if err != nil {
		return nil, err
	}
	catalogue := s.View.Catalogue() // it may lack the newest assets and networks, which have nothing yet

	chain := make([]bourse.Amount, len(catalogue.Assets))
	networks := []ownedAnswer{}
	for i := range funds.Networks {
		n := &funds.Networks[i]
		if int(n.Network) >= len(catalogue.Networks) {
			continue
		}
		one := ownedAnswer{catalogue.Networks[n.Network].Symbol, n.Height, map[bourse.Symbol]string{}, ""}
		for _, o := range n.Owned {
			if int(o.Asset) >= len(chain) {
				continue
			}
			asset := catalogue.Assets[o.Asset]
			one.Owned[asset.Symbol] = o.Amount.Format(asset.Scale)
			chain[o.Asset] = chain[o.Asset].PlusOrMax(o.Amount)
		}
		one.Chain = s.compared(&one)
		networks = append(networks, one)
	}

	assets := []assetAnswer{}
	for i := range funds.Assets {
		a := &funds.Assets[i]
		if int(a.Asset) < len(chain) && (!a.Customers.IsZero() || len(a.Own) > 0 || !chain[a.Asset].IsZero()) {
			assets = append(assets, describeFunds(catalogue.Assets[a.Asset], a, chain[a.Asset]))
		}
	}
	return struct {
		Seq      bourse.Seq    `json:"seq"`
		Time     int64         `json:"time"`
		Assets   []assetAnswer `json:"assets"`
		Networks []ownedAnswer `json:"networks"`
	}{funds.Seq, funds.Time.Seconds(), assets, networks}, nil
}

// describeFunds describes an asset's money.
func describeFunds(asset *bourse.Asset, funds *bourse.AssetFunds, chain bourse.Amount) assetAnswer {
	own := map[bourse.AccountID]bourse.OwnBalance{}
	have, owe := funds.Customers, chain
	for _, o := range funds.Own {
		own[o.Account] = o
		if !o.Account.IsNetwork() { // the chain is in its place
			have, owe = have.PlusOrMax(o.Has), owe.PlusOrMax(o.Owes)
		}
	}

	has := func(id bourse.AccountID) string { return signed(own[id].Has, own[id].Owes, asset.Scale) }
	owes := func(id bourse.AccountID) string { return signed(own[id].Owes, own[id].Has, asset.Scale) }
	return assetAnswer{
		Asset: asset.Symbol, Customers: funds.Customers.Format(asset.Scale), Held: funds.Held.Format(asset.Scale),
		Fees: has(bourse.AccountFees), WithdrawalFees: has(bourse.AccountWithdrawalFees), Treasury: has(bourse.AccountTreasury),
		Pending: has(bourse.AccountPendingDeposits), Parked: has(bourse.AccountParked), Transit: has(bourse.AccountInTransit),
		NetworkCosts: owes(bourse.AccountNetworkCosts), Credited: owes(bourse.AccountSandbox),
		Chain: chain.Format(asset.Scale), Difference: signed(have, owe, asset.Scale),
	}
}

// signed formats the difference of two amounts.
func signed(more, less bourse.Amount, scale uint8) string {
	if more.Less(less) {
		return "-" + less.Minus(more).Format(scale)
	}
	return more.Minus(less).Format(scale)
}

// compared compares balances with an embedded network, which may have further blocks by now.
func (s *Server) compared(n *ownedAnswer) string {
	const notCompared = "not compared"
	if s.Devnet == nil {
		return notCompared
	}
	height, owned, err := s.Devnet.Owned(n.Network)
	switch {
	case err != nil || height != n.Height:
		return notCompared
	case maps.Equal(owned, n.Owned):
		return "agrees"
	}
	return "differs"
}
