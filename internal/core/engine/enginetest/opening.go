package enginetest

import "github.com/bourse-exchange/bourse"

// Opening returns the commands that open a small exchange: assets BTC (1, scale 8) and
// USDT (2, scale 6), market BTC/USDT (1) in lots of 0.001 and ticks of 0.01 with fees of
// 0.1 % and 0.2 %, and accounts 1 and 2 with 1,000 BTC and 10,000,000 USDT each. They
// carry no sequence and no time.
func Opening() []bourse.Command {
	list := []bourse.Command{
		{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Sandbox: true, Rules: bourse.CurrentRules}},
		{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{
			Symbol: "BTC", Name: "Bitcoin", Scale: 8, Enabled: true,
		}},
		{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{
			Symbol: "USDT", Name: "Tether", Scale: 6, Enabled: true,
		}},
		{Kind: bourse.CommandDefineMarket, Market: &bourse.Market{
			Base: 1, Quote: 2, BasePrecision: 3, QuotePrecision: 2, Enabled: true, SelfTrade: bourse.SelfTradeNone,
			InitialPrice: 100, MaxPrice: bourse.MaxPrice, Maker: 1000, Taker: 2000,
		}},
	}

	for a := bourse.AccountID(1); a <= 2; a++ {
		list = append(list,
			bourse.Command{Kind: bourse.CommandCreateAccount, Token: bourse.Token{byte(a)}},
			bourse.Command{
				Kind: bourse.CommandCredit, Account: a, AssetID: 1, Amount: bourse.Units(1000 * bourse.Pow10(8)),
			},
			bourse.Command{
				Kind: bourse.CommandCredit, Account: a, AssetID: 2,
				Amount: bourse.Units(bourse.Pow10(7) * bourse.Pow10(6)),
			},
		)
	}
	return list
}
