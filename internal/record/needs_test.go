package record

import (
	"testing"

	"github.com/bourse-exchange/bourse"
)

// TestNeeds wants an act to need what its command does, and a change of the rules what it names.
func TestNeeds(t *testing.T) {
	rules := bourse.Command{Kind: bourse.CommandSetRules, Rules: 2}
	cool := bourse.Command{
		Kind: bourse.CommandCool, On: true, AssetID: 1, Amount: bourse.Units(1), Wallet: &bourse.WalletCommand{Network: 1},
	}
	tiers := bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: &bourse.Tiers{List: []bourse.Tier{{Name: "all"}}}}
	for asset := range bourse.AssetID(600) {
		tiers.Tiers.List[0].Limits = append(tiers.Tiers.List[0].Limits, bourse.TierLimits{
			Asset: asset + 1, Trade: bourse.FlowLimit{Day: bourse.Bound{Set: true}},
		})
	}
	act := func(c *bourse.Command) *bourse.Command {
		if err := Check(c); err != nil {
			t.Fatal(err)
		}
		return &bourse.Command{Kind: bourse.CommandAct, Operators: &bourse.OperatorCommand{Record: Append(nil, c)}}
	}
	for what, c := range map[string]struct {
		command *bourse.Command
		kind    bourse.CommandKind
		rules   uint32
	}{
		"a tick":            {&bourse.Command{Kind: bourse.CommandTick}, bourse.CommandTick, 0},
		"rules":             {&rules, bourse.CommandSetRules, 2},
		"genesis":           {&bourse.Command{Kind: bourse.CommandGenesis, Genesis: &bourse.Genesis{Rules: 1}}, bourse.CommandGenesis, 1},
		"an act for rules":  {act(&rules), bourse.CommandAct, 2},
		"an act to cool":    {act(&cool), bourse.CommandCool, 0},
		"a long act":        {act(&tiers), bourse.CommandWarm, 0}, // older programs take 4 KiB
		"an act of nothing": {&bourse.Command{Kind: bourse.CommandAct, Operators: &bourse.OperatorCommand{}}, bourse.CommandAct, 0},
	} {
		if kind, rules := Needs(c.command); kind != c.kind || rules != c.rules {
			t.Errorf("%s needs kind %d and rules %d", what, kind, rules)
		}
	}
}
