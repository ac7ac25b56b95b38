package binance

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

func accountEndpoint() Endpoint {
	return Endpoint{
		Method: "GET", Path: "/api/v3/account", WS: "account.status", Security: UserData, Weight: fixed(20),
		Params: may("omitZeroBalances"),
		Fields: []Field{
			{Names: "makerCommission takerCommission", State: Differs,
				Note: "They are in ten-thousandths, those of the dearest market."},
			{Names: "buyerCommission sellerCommission commissionRates.buyer commissionRates.seller", State: Differs,
				Note: "They are zero: there is one commission."},
			{Names: "commissionRates.maker commissionRates.taker", State: Differs,
				Note: "They are those of the dearest market; account/commission has those of one."},
			{Names: "canTrade", State: Differs, Note: "The account is not frozen and the key may trade."},
			{Names: "canWithdraw", State: Differs, Note: "The account is not frozen and the key may withdraw."},
			{Names: "canDeposit brokered requireSelfTradePrevention preventSor accountType permissions uid"},
			{Names: "updateTime", State: Differs, Note: "It is the time of the answer."},
			{Names: "balances.asset balances.free balances.locked"},
		},
		Answer: (*Facade).accountInfo,
	}
}

// accountInfo writes an account's rates, permissions and balances.
func (f *Facade) accountInfo(r *Request) error {
	omit := r.Bool("omitZeroBalances", false)
	if err := r.Err(); err != nil {
		return err
	}
	standing, _ := f.View.Account(r.Who.Account)
	maker, taker := f.dearest(r)

	r.Out.Object()
	r.Out.Uint("makerCommission", tenThousandths(maker))
	r.Out.Uint("takerCommission", tenThousandths(taker))
	r.Out.Int("buyerCommission", 0)
	r.Out.Int("sellerCommission", 0)
	r.writeAllRates("commissionRates", maker, taker)
	r.Out.Bool("canTrade", !standing.Frozen && r.Who.Scopes.Has(account.ScopeTrade))
	r.Out.Bool("canWithdraw", !standing.Frozen && r.Who.Scopes.Has(account.ScopeWithdraw))
	r.Out.Bool("canDeposit", true)
	for _, name := range [...]string{"brokered", "requireSelfTradePrevention", "preventSor"} {
		r.Out.Bool(name, false)
	}
	r.time("updateTime", r.now())
	r.Out.Word("accountType", "SPOT")
	f.writeBalances(r, omit)
	r.words("permissions", "SPOT")
	r.Out.Uint("uid", uint64(r.Who.Account))
	r.Out.EndObject()
	return nil
}

// tenThousandths returns a rate in ten-thousandths, rounded up.
func tenThousandths(rate bourse.Rate) uint64 {
	const part = bourse.RateOne / 10_000
	return (uint64(rate) + part - 1) / part
}

// dearest returns the greatest rates that an account pays in any market.
func (f *Facade) dearest(r *Request) (maker, taker bourse.Rate) {
	for _, m := range r.names.listed {
		mk, tk := f.rates(r, m)
		maker, taker = max(maker, mk), max(taker, tk)
	}
	return maker, taker
}

// writeAllRates writes an object with the rates of makers, takers, buyers and sellers.
func (r *Request) writeAllRates(name string, maker, taker bourse.Rate) {
	r.Out.Name(name)
	r.Out.Object()
	r.Out.Word("maker", rateText(maker))
	r.Out.Word("taker", rateText(taker))
	r.Out.Word("buyer", rateText(0))
	r.Out.Word("seller", rateText(0))
	r.Out.EndObject()
}

// writeBalances writes the balances of an account.
func (f *Facade) writeBalances(r *Request, omit bool) {
	var ids []bourse.AssetID
	for _, a := range r.names.Assets[1:] {
		ids = append(ids, a.ID)
	}
	r.Out.Name("balances")
	r.Out.Array()
	for i, b := range f.View.Balances(r.Who.Account, ids) {
		a := r.names.Assets[ids[i]]
		if empty := b.Available.IsZero() && b.Held.IsZero(); empty && (omit || !a.Enabled) {
			continue
		}
		r.Out.Object()
		r.Out.Word("asset", string(a.Symbol))
		r.amount("free", b.Available, a.Scale)
		r.amount("locked", b.Held, a.Scale)
		r.Out.EndObject()
	}
	r.Out.EndArray()
}
