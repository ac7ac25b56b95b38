package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
)

// defined are commands that operators order, each of another subject: as they are wanted first, and
// later. The network of outputs is paused by then.
func defined() map[string][2]bourse.Command {
	asset := func(name string) bourse.Command {
		return bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{Symbol: "BTC", Name: name, Scale: 10}}
	}
	net := func(name string) bourse.Command {
		return bourse.Command{Kind: bourse.CommandDefineNetwork, Network: &bourse.Network{Symbol: "BTC", Name: name}}
	}
	moves := func(confirms uint32) bourse.Command {
		t := termsOf(byOutput, btc)
		t.Confirms = confirms
		return bourse.Command{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: t}
	}
	market := func(maker bourse.Rate) bourse.Command {
		return bourse.Command{Kind: bourse.CommandDefineMarket, Market: &bourse.Market{
			Base: btc, Quote: usdt, BasePrecision: 3, QuotePrecision: 2, SelfTrade: bourse.SelfTradeNone,
			InitialPrice: 100, MaxPrice: bourse.MaxPrice, Maker: maker,
		}}
	}
	state := func(s bourse.MarketState) bourse.Command {
		return bourse.Command{Kind: bourse.CommandSetMarketState, MarketID: 1, State: s}
	}
	rates := func(maker bourse.Rate) bourse.Command {
		return bourse.Command{Kind: bourse.CommandSetAccountFees, Account: 1, On: true, Maker: maker}
	}
	level := func(level uint8) bourse.Command {
		return bourse.Command{Kind: bourse.CommandSetAccountLevel, Account: 1, On: true, Level: level}
	}
	role := func(r bourse.OperatorRole) bourse.Command {
		return operatorCommand(bourse.CommandChangeOperator, bourse.Operator{ID: dora, Role: r, Enabled: true})
	}
	limit := func(units uint64) bourse.Command {
		return bourse.Command{Kind: bourse.CommandSetApprovalLimit, AssetID: btc, Amount: bourse.Units(units)}
	}
	tiers := func(limit int) bourse.Command {
		return bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: tiersOf("basic", limit)}
	}
	fees := func(volume uint64) bourse.Command {
		return bourse.Command{Kind: bourse.CommandDefineFees, Fees: schedule(usdt, 0, volume)}
	}
	rules := bourse.Command{Kind: bourse.CommandSetRules, Rules: bourse.CurrentRules}

	return map[string][2]bourse.Command{
		"asset": {asset("Old"), asset("New")}, "network": {net("Old"), net("New")}, "terms": {moves(3), moves(4)},
		"market": {market(1), market(2)}, "state": {state(bourse.MarketOpen), state(bourse.MarketHalted)},
		"rates": {rates(1), rates(2)}, "level": {level(1), level(0)}, "schedule": {fees(5), fees(6)},
		"tiers": {tiers(1), tiers(2)}, "role": {role(bourse.RoleOwner), role(bourse.RoleViewer)},
		"limit": {limit(1), limit(2)}, "rules": {rules, rules},
		"withdrawals": {pauseCommand(byOutput, false), pauseCommand(byOutput, true)},
	}
}

// TestOutdatedActs orders an act about each subject and then another one that is carried out first.
// The older act is refused from then on, and those about other subjects are not.
func TestOutdatedActs(t *testing.T) {
	for name := range defined() {
		t.Run(name, func(t *testing.T) {
			x := staffed(t)
			for _, subject := range []string{"schedule", "market"} {
				x.agreed(ann, bob, defined()[subject][0])
			}
			x.must(pauseCommand(byOutput, true))
			acts, ids := map[string]bourse.Command{}, map[string]uint64{}
			for other, cmds := range defined() {
				acts[other] = x.actOf(ann, cmds[0])
				ids[other] = x.must(acts[other])
			}

			act := x.actOf(bob, defined()[name][1])
			if id := x.must(act); x.lastAct().Status == bourse.ActWaits {
				x.must(approveCommand(id, ann, &act))
			}
			by := x.e.Seq()
			x.restart()
			old := acts[name]
			x.refused(bourse.ActOutdated, approveCommand(ids[name], bob, &old))
			delete(acts, name)
			for other, act := range acts {
				x.must(approveCommand(ids[other], bob, &act))
			}
			x.must(dropCommand(ids[name], ann, &old))
			if a := x.lastAct(); a.Status != bourse.ActDropped || a.Outdated != by {
				t.Error(a.String())
			}
		})
	}
}

// TestOutdatedByTheExchange outdates acts that resume what the exchange itself stopped since, and those
// about a withdrawal that has another transaction since.
func TestOutdatedByTheExchange(t *testing.T) {
	for name, stop := range map[string]func(x *exchange, c *chain){
		"raise": func(x *exchange, _ *chain) { x.must(bourse.Command{Kind: bourse.CommandRaise, Text: "promote"}) },
		"unknown signature": func(x *exchange, c *chain) {
			_, s := x.signOutputs(c, 99, 100, 2)
			x.must(recordCommand(1, s))
		},
		"unknown move to cold storage": func(x *exchange, c *chain) {
			_, s := x.coolFirst(c, 99, 100, 2)
			x.must(recordCommand(1, s))
		},
		"reorganisation": func(x *exchange, c *chain) {
			x.must(c.next(c.output(1, btc, 100)))
			x.mine(c, target)
			rewind, _ := c.back(target + 1)
			x.must(rewind)
		},
		"too deep": func(x *exchange, c *chain) {
			rewind, _ := c.back(len(c.blocks))
			x.refused(bourse.RewindTooDeep, rewind)
		},
	} {
		t.Run(name, func(t *testing.T) {
			x, c, _ := funded(t, true)
			x.must(x.hire(bourse.RoleOwner))
			x.must(x.hire(bourse.RoleOwner))
			x.must(pauseCommand(byOutput, true))
			act := x.actOf(ann, pauseCommand(byOutput, false))
			id := x.must(act)
			stop(x, c)
			x.refused(bourse.ActOutdated, approveCommand(id, bob, &act))
			x.agreed(ann, bob, pauseCommand(byOutput, false))
			if n := x.e.NetworkState(byOutput); n.Halted != 0 || n.Paused {
				t.Errorf("ordered anew: %+v", n)
			}
		})
	}

	t.Run("signed anew", func(t *testing.T) {
		x, _, a := funded(t, true)
		x.must(x.hire(bourse.RoleOwner))
		x.must(x.hire(bourse.RoleOwner))
		id := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(usdt, 100, 4))))
		_, s := signAccount(a, id, 0, takes(hot, usdt, 100), takes(hot, eth, 3))
		x.must(signedCommand(s))
		release := x.actOf(ann, walletCommand(bourse.CommandReleaseWithdrawal, 0, bourse.WalletCommand{ID: id}))
		of := x.must(release)
		x.must(walletCommand(bourse.CommandReplaceWithdrawal, 0, bourse.WalletCommand{ID: id}))
		_, s = signAccount(a, id, 0, takes(hot, usdt, 100), takes(hot, eth, 5))
		x.must(signedCommand(s))
		x.refused(bourse.ActOutdated, approveCommand(of, bob, &release))
	})
}

// TestFirstRulesOutdateNothing replays acts as they were carried out under the first version of the
// rules, and takes up the second one by an act of two owners.
func TestFirstRulesOutdateNothing(t *testing.T) {
	x := staffed(t)
	x.agreed(ann, bob, bourse.Command{Kind: bourse.CommandSetRules, Rules: 1})
	rates := func(maker bourse.Rate) bourse.Command {
		return bourse.Command{Kind: bourse.CommandSetAccountFees, Account: 1, On: true, Maker: maker}
	}
	act := x.actOf(ann, rates(1))
	id := x.must(act)
	x.agreed(ann, bob, rates(2))
	x.restart()
	x.must(approveCommand(id, bob, &act))

	act = x.actOf(ann, rates(1))
	id = x.must(act)
	x.agreed(ann, bob, bourse.Command{Kind: bourse.CommandSetRules, Rules: bourse.RulesOutdating})
	x.agreed(ann, bob, rates(2))
	x.refused(bourse.ActOutdated, approveCommand(id, bob, &act))
}

// TestOutdatedActOfNobody ends an act of nobody that is outdated when its day is over.
func TestOutdatedActOfNobody(t *testing.T) {
	x := staffed(t)
	x.must(pauseCommand(byOutput, true))
	x.must(x.actOf(0, pauseCommand(byOutput, false)))
	x.must(pauseCommand(byOutput, true)) // for another reason
	x.restart()
	x.aDayLater()
	if a := x.lastAct(); a.Status != bourse.ActRefused || a.Outdated == 0 || !x.e.NetworkState(byOutput).Paused {
		t.Error(a.String())
	}
}
