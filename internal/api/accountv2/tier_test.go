package accountv2_test

import (
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
)

// TestTier reads limits, and what is left of them while an account moves money and time passes.
func TestTier(t *testing.T) {
	e := newExchange(t)
	key := e.join(ada)
	e.want("GET /tier", "", key, 200, `{"tier":"none","limits":[],"more":false}`)
	e.fails("GET /tier?limit=501", "", key, 406, "LIMIT_OUT_OF_RANGE")

	do := func(c bourse.Command) {
		t.Helper()
		if o, err := e.submit(t.Context(), &c); err != nil || o.Reason != 0 {
			t.Fatal(o.Reason, err)
		}
	}
	for _, symbol := range []bourse.Symbol{"BTC", "USD"} {
		do(bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{Symbol: symbol, Name: "x", Scale: 6, Enabled: true}})
	}
	do(bourse.Command{Kind: bourse.CommandDefineMarket, Market: &bourse.Market{
		Base: 1, Quote: 2, Enabled: true, InitialPrice: 1, MaxPrice: bourse.MaxPrice, SelfTrade: bourse.SelfTradeNone,
	}})
	bound := func(n uint64) bourse.Bound { return bourse.Bound{Set: true, Most: bourse.Units(n * 1_000_000)} }
	do(bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: &bourse.Tiers{List: []bourse.Tier{
		{Name: "basic", Limits: []bourse.TierLimits{
			{Asset: 1, Deposit: bourse.FlowLimit{Day: bound(0)}},
			{Asset: 2, Trade: bourse.FlowLimit{Day: bound(10), Month: bound(50)}, Withdrawal: bourse.FlowLimit{Month: bound(20)}},
		}},
		{Name: "full"},
	}}})
	do(bourse.Command{Kind: bourse.CommandCredit, Account: 1, AssetID: 2, Amount: bound(100).Most})

	const deposits = `{"asset":"BTC","kind":"DEPOSIT","dayLimit":"0","dayLeft":"0","monthLimit":null,"monthLeft":null}`
	trades := func(day, month string) string {
		return `{"asset":"USD","kind":"TRADE","dayLimit":"10","dayLeft":"` + day + `","monthLimit":"50","monthLeft":"` + month + `"}`
	}
	withdrawals := func(month string) string {
		return `{"asset":"USD","kind":"WITHDRAWAL","dayLimit":null,"dayLeft":null,"monthLimit":"20","monthLeft":"` + month + `"}`
	}
	page := func(rows string) string { return `{"tier":"basic","limits":[` + rows + `],"more":false}` }
	e.want("GET /tier", "", key, 200, page(deposits+`,`+trades("10", "50")+`,`+withdrawals("20")))
	e.want("GET /tier?limit=1&offset=1", "", key, 200, `{"tier":"basic","limits":[`+trades("10", "50")+`],"more":true}`)

	buy := bourse.Command{Kind: bourse.CommandPlace, Account: 1, NewOrder: bourse.NewOrder{
		Market: 1, Side: bourse.Buy, Type: bourse.Limit, TIF: bourse.GTC, Price: 1, Lots: 3,
	}}
	do(buy)
	sell := buy
	sell.NewOrder.Side, sell.NewOrder.Lots = bourse.Sell, 1
	do(bourse.Command{Kind: bourse.CommandCredit, Account: 1, AssetID: 1, Amount: bound(1).Most})
	do(sell)
	do(bourse.Command{Kind: bourse.CommandTransfer, Account: 1, Wallet: &bourse.WalletCommand{Withdraw: &bourse.Withdraw{
		Asset: 2, Amount: bound(5).Most, Internal: 1,
	}}})
	e.want("GET /tier", "", key, 200, page(deposits+`,`+trades("7", "47")+`,`+withdrawals("15")))

	do(bourse.Command{Kind: bourse.CommandCancelAll, Account: 1})
	e.now = e.now.Add(25 * time.Hour)
	do(bourse.Command{Kind: bourse.CommandTick})
	key = e.logIn(ada) // sessions end sooner
	e.want("GET /tier", "", key, 200, page(deposits+`,`+trades("10", "49")+`,`+withdrawals("15")))
	do(bourse.Command{Kind: bourse.CommandSetAccountTier, Account: 1, Level: 1})
	e.want("GET /tier", "", key, 200, `{"tier":"full","limits":[],"more":false}`)
}
