package enginetest

import (
	"fmt"

	"github.com/bourse-exchange/bourse"
)

// outdating is the version of the rules since which acts are outdated.
const outdating = 2

// sets names the subject of a command; empty for a command without one.
func sets(cmd *bourse.Command) string {
	switch cmd.Kind {
	case bourse.CommandSetRules:
		return "rules"
	case bourse.CommandDefineAsset:
		return "asset " + string(cmd.Asset.Symbol)
	case bourse.CommandDefineMarket:
		return fmt.Sprintf("market of %d and %d", cmd.Market.Base, cmd.Market.Quote)
	case bourse.CommandSetMarketState:
		return fmt.Sprintf("state of market %d", cmd.MarketID)
	case bourse.CommandDefineFees:
		return "schedule of fees"
	case bourse.CommandDefineTiers:
		return "tiers"
	case bourse.CommandFreezeAccount:
		return fmt.Sprintf("freeze of account %d", cmd.Account)
	case bourse.CommandSetAccountFees:
		return fmt.Sprintf("fees of account %d", cmd.Account)
	case bourse.CommandSetAccountLevel:
		return fmt.Sprintf("level of account %d", cmd.Account)
	case bourse.CommandSetAccountTier:
		return fmt.Sprintf("tier of account %d", cmd.Account)
	case bourse.CommandChangeOperator:
		return fmt.Sprintf("operator %d", cmd.Operators.Define.ID)
	case bourse.CommandSetApprovalLimit:
		return fmt.Sprintf("limit of asset %d", cmd.AssetID)
	default: // the workload lets no acts about withdrawals wait
		return ""
	}
}

// outdate marks the acts with the subject of a command, unless the command was refused.
func (x *Oracle) outdate(cmd *bourse.Command) {
	if x.ev.Outcome.Reason != 0 || x.rules < outdating || sets(cmd) == "" {
		return
	}
	for i := range x.acts {
		if a := &x.acts[i]; a.Outdated == 0 && sets(ordered(a)) == sets(cmd) {
			a.Outdated = x.seq
			x.announceAct(bourse.EventActOutdated, *a)
		}
	}
}
