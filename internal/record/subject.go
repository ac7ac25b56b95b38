package record

import "github.com/bourse-exchange/bourse"

// Subject is the setting that a command of operators changes. Of two commands with one subject the
// later undoes the earlier. It is comparable; zero is the subject of commands that set nothing.
type Subject struct {
	kind   bourse.CommandKind
	ids    [2]uint64
	symbol bourse.Symbol
}

// SubjectOf returns the subject of a command that has passed Check. A transaction is the subject of
// its withdrawal: replacing and releasing are about the one that was signed last.
func SubjectOf(c *bourse.Command) Subject {
	s := Subject{kind: c.Kind}
	switch c.Kind {
	case bourse.CommandSetRules, bourse.CommandDefineFees, bourse.CommandDefineTiers: // there is one
	case bourse.CommandDefineAsset:
		s.symbol = c.Asset.Symbol
	case bourse.CommandDefineNetwork:
		s.symbol = c.Network.Symbol
	case bourse.CommandDefineNetworkAsset:
		s.ids = [2]uint64{uint64(c.NetworkAsset.Network), uint64(c.NetworkAsset.Asset)}
	case bourse.CommandDefineMarket:
		s.ids = [2]uint64{uint64(c.Market.Base), uint64(c.Market.Quote)}
	case bourse.CommandSetMarketState:
		s.ids[0] = uint64(c.MarketID)
	case bourse.CommandFreezeAccount, bourse.CommandSetAccountFees, bourse.CommandSetAccountLevel,
		bourse.CommandSetAccountTier:
		s.ids[0] = uint64(c.Account)
	case bourse.CommandPauseWithdrawals, bourse.CommandFollowChain:
		s.ids[0] = uint64(c.Wallet.Network)
	case bourse.CommandChangeOperator:
		s.ids[0] = uint64(c.Operators.Define.ID)
	case bourse.CommandSetApprovalLimit:
		s.ids[0] = uint64(c.AssetID)
	case bourse.CommandReplaceWithdrawal, bourse.CommandReleaseWithdrawal, bourse.CommandPaidWithdrawal:
		return subjectOfWithdrawal(c.Wallet.ID)
	case bourse.CommandSigned, bourse.CommandRecord:
		return subjectOfWithdrawal(c.Wallet.Signed.Wallet)
	default:
		return Subject{}
	}
	return s
}

// subjectOfWithdrawal returns the subject of the commands about a withdrawal's transaction; zero for
// sweeps and top-ups, whose transactions are named by their hash.
func subjectOfWithdrawal(id bourse.WalletID) Subject {
	if id == 0 {
		return Subject{}
	}
	return Subject{kind: bourse.CommandReplaceWithdrawal, ids: [2]uint64{uint64(id)}}
}
