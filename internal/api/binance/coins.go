package binance

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api/teller"
)

func coinsEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/sapi/v1/capital/config/getall", Security: UserData, Weight: fixed(10),
		Fields: []Field{
			{Names: "coin name free locked depositAllEnable withdrawAllEnable trading"},
			{Names: "freeze ipoable ipoing storage withdrawing isLegalMoney", State: Differs, Note: "They are zero or false."},
			{Names: "networkList.coin networkList.network networkList.name networkList.depositEnable " +
				"networkList.withdrawEnable networkList.minConfirm networkList.unLockConfirm networkList.withdrawFee " +
				"networkList.withdrawMin networkList.withdrawIntegerMultiple networkList.isDefault networkList.contractAddress " +
				"networkList.busy"},
			{Names: "networkList.withdrawMax networkList.depositDust", State: Differs,
				Note: "withdrawMax is the greatest amount that can be counted, depositDust the least deposit."},
			{Names: "networkList.resetAddressStatus networkList.sameAddress", State: Differs,
				Note: "The former is false, the latter true where deposits need a memo."},
			{Names: "networkList.addressRegex networkList.memoRegex networkList.depositDesc networkList.withdrawDesc " +
				"networkList.specialTips networkList.specialWithdrawTips networkList.estimatedArrivalTime " +
				"networkList.contractAddressUrl", State: NotServed, Note: "They are for people's pages."},
		},
		Answer: (*Facade).coins,
	}
}

// coins lists the assets with their networks, and an account's balances.
func (f *Facade) coins(r *Request) error {
	traded := map[bourse.AssetID]bool{}
	for _, m := range r.names.listed {
		traded[m.Base], traded[m.Quote] = true, true
	}
	r.Out.Array()
	for _, a := range r.names.Assets[1:] {
		if a.Enabled {
			f.writeCoin(r, a, traded[a.ID])
		}
	}
	r.Out.EndArray()
	return nil
}

func (f *Facade) writeCoin(r *Request, a *bourse.Asset, trading bool) {
	balance := f.View.Balance(r.Who.Account, a.ID)
	carriers := teller.Carriers(r.names.Catalogue, a.ID)
	r.Out.Object()
	r.Out.Word("coin", string(a.Symbol))
	r.Out.Text("name", a.Name)
	r.Out.Bool("depositAllEnable", len(carriers) > 0)
	r.Out.Bool("withdrawAllEnable", len(carriers) > 0)
	r.amount("free", balance.Available, a.Scale)
	r.amount("locked", balance.Held, a.Scale)
	for _, name := range [...]string{"freeze", "ipoable", "ipoing", "storage", "withdrawing"} {
		r.amount(name, bourse.Amount{}, a.Scale)
	}
	r.Out.Bool("isLegalMoney", false)
	r.Out.Bool("trading", trading)
	r.Out.Name("networkList")
	r.Out.Array()
	for i, terms := range carriers {
		f.writeCarrier(r, a, terms, i == 0)
	}
	r.Out.EndArray()
	r.Out.EndObject()
}

// writeCarrier writes the terms of an asset on a network.
func (f *Facade) writeCarrier(r *Request, a *bourse.Asset, terms *bourse.NetworkAsset, usual bool) {
	network := r.names.Networks[terms.Network]
	_, connected := f.Teller.Networks.Network(network.ID)
	fee, state := teller.UsualFee(a, terms), f.View.NetworkState(network.ID)
	r.Out.Object()
	r.Out.Word("coin", string(a.Symbol))
	r.Out.Word("network", string(network.Symbol))
	r.Out.Text("name", network.Name)
	r.Out.Bool("isDefault", usual)
	r.Out.Bool("depositEnable", connected)
	r.Out.Bool("withdrawEnable", connected && !state.Stopped())
	r.Out.Bool("busy", false)
	r.Out.Uint("minConfirm", uint64(terms.Confirms))
	r.Out.Uint("unLockConfirm", uint64(terms.Confirms))
	r.amount("withdrawFee", fee, a.Scale)
	r.amount("withdrawMin", saturated(terms.MinWithdrawal, fee), a.Scale)
	r.amount("withdrawMax", bourse.MaxAmount, a.Scale)
	r.amount("withdrawIntegerMultiple", bourse.Units(bourse.Pow10(a.Scale-terms.Precision)), a.Scale)
	r.amount("depositDust", terms.MinDeposit, a.Scale)
	r.Out.Bool("resetAddressStatus", false)
	r.Out.Bool("sameAddress", network.MemoName != "")
	r.Out.Text("contractAddress", terms.Contract)
	r.Out.EndObject()
}
