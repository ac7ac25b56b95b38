package audit

import (
	"fmt"
	"strings"
	"time"

	"github.com/bourse-exchange/bourse"
)

// Describe says in one line what a command asks for.
func Describe(c *bourse.Command) string {
	switch c.Kind {
	case bourse.CommandGenesis:
		return fmt.Sprintf("genesis exchange=%x sandbox=%t rules=%d", c.Genesis.Exchange, c.Genesis.Sandbox, c.Genesis.Rules)
	case bourse.CommandSetRules:
		return fmt.Sprintf("rules %d", c.Rules)
	case bourse.CommandTick:
		return "tick"
	case bourse.CommandContinue:
		return "continue"
	case bourse.CommandNote:
		return fmt.Sprintf("note uid=%d %q", c.Operator, c.Text)
	case bourse.CommandDefineAsset:
		return fmt.Sprintf("asset %+v", *c.Asset)
	case bourse.CommandDefineNetwork:
		return fmt.Sprintf("network %+v", *c.Network)
	case bourse.CommandDefineNetworkAsset:
		return fmt.Sprintf("network-asset %+v", *c.NetworkAsset)
	case bourse.CommandDefineMarket:
		return fmt.Sprintf("market %+v", *c.Market)
	case bourse.CommandSetMarketState:
		return fmt.Sprintf("market-state market=%d %s", c.MarketID, c.State)
	case bourse.CommandCreateAccount:
		return "account"
	case bourse.CommandFreezeAccount:
		return fmt.Sprintf("freeze account=%d on=%t", c.Account, c.On)
	case bourse.CommandSecureAccount:
		return fmt.Sprintf("secure account=%d hold=%s person=%t keys=%t", c.Account, time.Duration(c.Hold)*time.Microsecond, c.Access != nil, c.On)
	case bourse.CommandOpenSession:
		return fmt.Sprintf("session account=%d", c.Account)
	case bourse.CommandSetPerson:
		return fmt.Sprintf("person account=%d", c.Account)
	case bourse.CommandSetAccountFees:
		return fmt.Sprintf("account-fees account=%d on=%t maker=%s taker=%s level=%d", c.Account, c.On, c.Maker.Format(), c.Taker.Format(), c.Level)
	case bourse.CommandCreateKey:
		return fmt.Sprintf("key account=%d", c.Account)
	case bourse.CommandChangeKey:
		return fmt.Sprintf("change-key account=%d key=%d", c.Account, c.Key)
	case bourse.CommandRevokeKey:
		return fmt.Sprintf("revoke key=%d", c.Key)
	case bourse.CommandCredit:
		return fmt.Sprintf("credit account=%d asset=%d units=%s", c.Account, c.AssetID, c.Amount.Format(0))
	case bourse.CommandSweepFees:
		return "sweep-fees"
	case bourse.CommandPlace:
		return describePlace(c)
	case bourse.CommandCancel:
		return fmt.Sprintf("cancel account=%d order=%d", c.Account, c.Order)
	case bourse.CommandCancelAll:
		return fmt.Sprintf("cancel-all account=%d market=%d", c.Account, c.MarketID)
	default:
		return describeWallet(c)
	}
}

func describePlace(c *bourse.Command) string {
	p := &c.Place
	var b strings.Builder
	fmt.Fprintf(&b, "place account=%d market=%d %s %s %s", c.Account, p.Market, p.Side, p.Type, p.TIF)
	if p.Price > 0 {
		fmt.Fprintf(&b, " ticks=%d", p.Price)
	}
	if p.Stop > 0 {
		fmt.Fprintf(&b, " stop=%d", p.Stop)
	}
	if p.Lots > 0 {
		fmt.Fprintf(&b, " lots=%d", p.Lots)
	}
	if !p.Total.IsZero() {
		fmt.Fprintf(&b, " total=%s", p.Total.Format(0))
	}
	if p.PostOnly {
		b.WriteString(" post_only")
	}
	if p.SelfTrade != 0 {
		fmt.Fprintf(&b, " stp=%s", p.SelfTrade)
	}
	if p.ClientID.Given() {
		fmt.Fprintf(&b, " client_id=%s", p.ClientID)
	}
	return b.String()
}
