package engine_test

import (
	"bytes"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
	"github.com/bourse-exchange/bourse/internal/record"
)

// step is a command of an operator or of the edge and what it is answered.
type step struct {
	name   string
	cmd    bourse.Command
	reason bourse.Reason
	id     uint64
}

func network(symbol bourse.Symbol, memo string) *bourse.Network {
	return &bourse.Network{Symbol: symbol, Name: "a network", MemoName: memo, Enabled: true}
}

func terms(asset bourse.AssetID, net bourse.NetworkID, precision uint8, feeMax uint64) *bourse.NetworkAsset {
	return &bourse.NetworkAsset{
		Asset: asset, Network: net, Precision: precision, Confirms: 3, FeeMax: bourse.Units(feeMax), Enabled: true,
	}
}

// schedule returns a schedule of levels with these volumes.
func schedule(in bourse.AssetID, volumes ...uint64) *bourse.FeeSchedule {
	s := &bourse.FeeSchedule{VolumeAsset: in}
	for i, v := range volumes {
		s.Levels = append(s.Levels, bourse.FeeLevel{
			Volume: bourse.Units(v), Maker: bourse.Rate(900 - i), Taker: bourse.Rate(1900 - i),
		})
	}
	return s
}

// tiersOf returns tiers by their names, each followed by an asset of which its accounts may
// withdraw and trade five units a day.
func tiersOf(namesAndAssets ...any) *bourse.Tiers {
	t := new(bourse.Tiers)
	five := bourse.FlowLimit{Day: bourse.Bound{Set: true, Most: bourse.Units(5)}}
	for i := 0; i < len(namesAndAssets); i += 2 {
		t.List = append(t.List, bourse.Tier{Name: namesAndAssets[i].(string), Limits: []bourse.TierLimits{
			{Asset: bourse.AssetID(namesAndAssets[i+1].(int)), Trade: five, Withdrawal: five},
		}})
	}
	return t
}

var steps = []step{
	{"genesis comes once", bourse.Command{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Rules: 1}}, bourse.OutOfOrder, 0},
	{"rules", bourse.Command{Kind: bourse.CommandSetRules, Rules: 1}, 0, 0},
	{"note", bourse.Command{Kind: bourse.CommandNote, Operator: 1000, Text: "account freeze 7"}, 0, 0},

	{"network", bourse.Command{Kind: bourse.CommandDefineNetwork, Network: network("BTC", "")}, 0, 1},
	{"another network", bourse.Command{Kind: bourse.CommandDefineNetwork, Network: network("ATOM", "memo")}, 0, 2},
	{"the first again", bourse.Command{Kind: bourse.CommandDefineNetwork, Network: network("BTC", "")}, 0, 1},
	{"a network gets no memos", bourse.Command{Kind: bourse.CommandDefineNetwork, Network: network("BTC", "tag")}, bourse.FixedField, 0},

	{"terms", bourse.Command{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: terms(1, 1, 8, 5)}, 0, 0},
	{"terms change", bourse.Command{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: terms(1, 1, 8, 6)}, 0, 0},
	{"terms elsewhere", bourse.Command{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: terms(2, 1, 4, 100)}, 0, 0},
	{"precision is fixed", bourse.Command{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: terms(1, 1, 7, 10)}, bourse.FixedField, 0},
	{"precision above the scale", bourse.Command{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: terms(2, 2, 7, 0)}, bourse.BadDefinition, 0},
	{"a fee the network cannot move", bourse.Command{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: terms(2, 2, 4, 150)}, bourse.BadDefinition, 0},
	{"terms of nothing", bourse.Command{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: terms(9, 1, 0, 0)}, bourse.UnknownAsset, 0},
	{"terms nowhere", bourse.Command{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: terms(1, 9, 0, 0)}, bourse.UnknownNetwork, 0},

	{"key", bourse.Command{Kind: bourse.CommandCreateKey, Account: 1, Token: bourse.Token{7}, Access: &bourse.Access{}}, 0, 1},
	{"another key", bourse.Command{Kind: bourse.CommandCreateKey, Account: 2, Token: bourse.Token{8}, Access: &bourse.Access{}}, 0, 2},
	{"a key of nobody", bourse.Command{Kind: bourse.CommandCreateKey, Account: 99, Access: &bourse.Access{}}, bourse.UnknownAccount, 0},
	{"revoke", bourse.Command{Kind: bourse.CommandRevokeKey, Key: 1}, 0, 1},
	{"revoke again", bourse.Command{Kind: bourse.CommandRevokeKey, Key: 1}, bourse.UnknownKey, 0},
	{"revoke no key", bourse.Command{Kind: bourse.CommandRevokeKey, Key: 99}, bourse.UnknownKey, 0},

	{"freeze nobody", bourse.Command{Kind: bourse.CommandFreezeAccount, Account: 99, On: true}, bourse.UnknownAccount, 0},
	{"fees of nobody", bourse.Command{Kind: bourse.CommandSetAccountFees, Account: 99, On: true}, bourse.UnknownAccount, 0},
	{"own fees", bourse.Command{Kind: bourse.CommandSetAccountFees, Account: 1, On: true, Maker: 1, Taker: 2}, 0, 0},
	{"a level of no schedule", bourse.Command{Kind: bourse.CommandSetAccountLevel, Account: 1, On: true}, bourse.UnknownLevel, 0},
	{"fees in no asset", bourse.Command{Kind: bourse.CommandDefineFees, Fees: schedule(9, 0)}, bourse.UnknownAsset, 0},
	{"fees", bourse.Command{Kind: bourse.CommandDefineFees, Fees: schedule(2, 0, 5)}, 0, 0},
	{"a level of nobody", bourse.Command{Kind: bourse.CommandSetAccountLevel, Account: 99, On: true}, bourse.UnknownAccount, 0},
	{"a level", bourse.Command{Kind: bourse.CommandSetAccountLevel, Account: 1, On: true, Level: 1}, 0, 0},
	{"a level too high", bourse.Command{Kind: bourse.CommandSetAccountLevel, Account: 1, On: true, Level: 2}, bourse.UnknownLevel, 0},
	{"a tier of no tiers", bourse.Command{Kind: bourse.CommandSetAccountTier, Account: 1}, bourse.UnknownTier, 0},
	{"tiers of no asset", bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: tiersOf("basic", 9)}, bourse.UnknownAsset, 0},
	{"tiers", bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: tiersOf("basic", 1, "full", 2)}, 0, 0},
	{"a tier is renamed", bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: tiersOf("basic", 1, "more", 2)}, bourse.FixedField, 0},
	{"a tier is gone", bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: tiersOf("basic", 1)}, bourse.FixedField, 0},
	{"a tier more", bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: tiersOf("basic", 1, "full", 2, "house", 1)}, 0, 0},
	{"a tier of nobody", bourse.Command{Kind: bourse.CommandSetAccountTier, Account: 99}, bourse.UnknownAccount, 0},
	{"a tier too high", bourse.Command{Kind: bourse.CommandSetAccountTier, Account: 1, Level: 3}, bourse.UnknownTier, 0},
	{"a tier", bourse.Command{Kind: bourse.CommandSetAccountTier, Account: 1, Level: 2}, 0, 0},
	{"no market", bourse.Command{Kind: bourse.CommandSetMarketState, MarketID: 9, State: bourse.MarketOpen}, bourse.UnknownMarket, 0},
	{"a market of no asset", bourse.Command{Kind: bourse.CommandDefineMarket, Market: &bourse.Market{
		Base: 1, Quote: 9, InitialPrice: 1, MaxPrice: 1, SelfTrade: bourse.SelfTradeNone,
	}}, bourse.UnknownAsset, 0},
	{"a market that would round", bourse.Command{Kind: bourse.CommandDefineMarket, Market: &bourse.Market{
		Base: 1, Quote: 2, BasePrecision: 3, QuotePrecision: 4, InitialPrice: 1, MaxPrice: 1, SelfTrade: bourse.SelfTradeNone,
	}}, bourse.BadDefinition, 0},
	{"a market whose lot cannot carry a fee", bourse.Command{Kind: bourse.CommandDefineMarket, Market: &bourse.Market{
		Base: 1, Quote: 2, BasePrecision: 6, InitialPrice: 1, MaxPrice: 1, SelfTrade: bourse.SelfTradeNone,
	}}, bourse.BadDefinition, 0},
	{"tick", bourse.Command{Kind: bourse.CommandTick}, 0, 0},
}

// TestOperators carries out what is not an order, and restores what came of it.
func TestOperators(t *testing.T) {
	e := engine.New()
	var ev bourse.Events
	apply := func(cmd bourse.Command) {
		ev.Reset()
		cmd.Seq, cmd.Time = e.Seq()+1, e.Now()+1
		if err := record.Check(&cmd); err != nil {
			t.Fatal(err)
		}
		e.Apply(&cmd, &ev)
	}
	if apply(bourse.Command{Kind: bourse.CommandTick}); ev.Outcome.Reason != bourse.OutOfOrder {
		t.Errorf("before genesis: %s", ev.Outcome.Reason)
	}
	for _, cmd := range enginetest.Opening() {
		apply(cmd)
	}
	for _, s := range steps {
		before := e.StateHash()
		apply(s.cmd)
		if ev.Outcome.Reason != s.reason || ev.Outcome.ID != s.id {
			t.Errorf("%s: %+v, want %s and id %d", s.name, ev.Outcome, s.reason, s.id)
		}
		if told := len(ev.List) > 0; told == (s.cmd.Kind == bourse.CommandTick) {
			t.Errorf("%s: %d events", s.name, len(ev.List))
		}
		if s.reason != 0 && before == e.StateHash() {
			t.Errorf("%s: the sequence is not part of the state", s.name)
		}
	}
	restoreTells(t, e)
}

// restoreTells wants the definitions and keys to be announced by a restore.
func restoreTells(t *testing.T, e *engine.Engine) {
	t.Helper()
	data := snapshot(e)
	told := map[bourse.EventKind]int{}
	again, err := engine.Restore(data, func(ev *bourse.Events) {
		for _, x := range ev.List {
			told[x.Kind]++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(snapshot(again), data) {
		t.Error("the state changed")
	}
	for kind, n := range map[bourse.EventKind]int{
		bourse.EventNetwork: 2, bourse.EventNetworkAsset: 2, bourse.EventKeyCreated: 1, bourse.EventKeyRevoked: 0, bourse.EventKeysRestored: 2,
		bourse.EventAccountRestored: 2, bourse.EventAccountFees: 1, bourse.EventAccountLevel: 1,
		bourse.EventFeeSchedule: 1, bourse.EventTiers: 1, bourse.EventAccountTier: 1, bourse.EventAsset: 2, bourse.EventMarket: 1,
	} {
		if told[kind] != n {
			t.Errorf("%d events of kind %d, want %d", told[kind], kind, n)
		}
	}
}

// TestVoided passes over a command that an operator took out.
func TestVoided(t *testing.T) {
	e := engine.New()
	var ev bourse.Events
	for _, cmd := range enginetest.Opening() {
		cmd.Seq = e.Seq() + 1
		e.Apply(&cmd, &ev)
	}
	ev.Reset()
	seq := e.Seq() + 1
	e.Skip(&bourse.Command{Seq: seq, Kind: bourse.CommandCredit, Account: 1, AssetID: 1, Amount: bourse.Units(5)}, &ev)
	if ev.Outcome.Reason != bourse.Voided || e.Seq() != seq {
		t.Errorf("%+v at %d", ev.Outcome, e.Seq())
	}
	if b := e.Balance(1, 1); b.Available != bourse.Units(1000*bourse.Pow10(8)) {
		t.Errorf("account 1 has %+v", b)
	}
}

// TestProductionCreatesNoMoney refuses credits where there is no sandbox.
func TestProductionCreatesNoMoney(t *testing.T) {
	e := engine.New()
	var ev bourse.Events
	for _, cmd := range enginetest.Opening() {
		if cmd.Genesis != nil {
			cmd.Genesis = &bourse.Genesis{Rules: 1}
		}
		ev.Reset()
		cmd.Seq = e.Seq() + 1
		e.Apply(&cmd, &ev)
		if refused := ev.Outcome.Reason == bourse.SandboxOnly; refused != (cmd.Kind == bourse.CommandCredit) {
			t.Errorf("command %d: %+v", cmd.Seq, ev.Outcome)
		}
	}
	if e.Genesis().Sandbox || e.OpenOrders() != 0 {
		t.Error("a production exchange is a sandbox")
	}
}

// TestRaised raises the incarnation: each network's withdrawals wait, and a restore tells the
// number.
func TestRaised(t *testing.T) {
	e := engine.New()
	var ev bourse.Events
	apply := func(cmd bourse.Command) {
		ev.Reset()
		cmd.Seq, cmd.Time = e.Seq()+1, e.Now()+1
		e.Apply(&cmd, &ev)
	}
	raise := bourse.Command{Kind: bourse.CommandRaise, Operator: 7, Text: "promote"}
	if apply(raise); ev.Outcome.Reason != bourse.OutOfOrder || e.Incarnation() != 0 {
		t.Errorf("before genesis: %s, incarnation %d", ev.Outcome.Reason, e.Incarnation())
	}
	for _, cmd := range enginetest.Opening() {
		apply(cmd)
	}
	for _, symbol := range []bourse.Symbol{"BTC", "ATOM"} {
		apply(bourse.Command{Kind: bourse.CommandDefineNetwork, Network: network(symbol, "")})
	}
	if e.Incarnation() != 1 {
		t.Errorf("the first incarnation is %d", e.Incarnation())
	}

	for want := bourse.Incarnation(2); want <= 3; want++ {
		apply(raise)
		if len(ev.Facts) != 1 || ev.Facts[0] != (bourse.Fact{Incarnation: want, Operator: 7, Text: "promote"}) {
			t.Errorf("incarnation %d is told as %+v", want, ev.Facts)
		}
		if len(ev.Wallet.Networks) != 2 || !e.NetworkState(1).Paused || !e.NetworkState(2).Paused {
			t.Errorf("networks %+v", ev.Wallet.Networks)
		}

		told := bourse.Incarnation(0)
		again, err := engine.Restore(snapshot(e), func(ev *bourse.Events) {
			for i := range ev.Facts {
				told = max(told, ev.Facts[i].Incarnation)
			}
		})
		if err != nil || told != want || again.Incarnation() != want || again.StateHash() != e.StateHash() {
			t.Fatalf("restored: incarnation %d, told %d, %v", again.Incarnation(), told, err)
		}
	}

	forged := snapshot(e)
	at := bytes.Index(forged, []byte{bourse.CurrentRules, 0, 0, 0, 3, 0, 0, 0}) // rules, then the incarnation
	forged[at+4] = 0
	if _, err := engine.Restore(forged, func(*bourse.Events) {}); err == nil {
		t.Error("there is no incarnation zero")
	}
}
