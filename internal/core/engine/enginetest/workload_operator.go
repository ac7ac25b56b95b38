package enginetest

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/record"
)

// office draws a command by or about operators. Now and then it is wrong: another digest, a
// missing or disabled operator, the same operator, a role too low, an act that does not wait.
func (w *Workload) office() bourse.Command {
	if len(w.oracle.operators) < 3 {
		return w.newOperator()
	}
	switch w.src.Below(12) {
	case 0:
		return w.newOperator()
	case 1, 2:
		return w.changedOperator()
	case 3:
		return bourse.Command{
			Kind: bourse.CommandSetApprovalLimit, AssetID: bourse.AssetID(w.between(1, 4)), Amount: w.purse(),
		}
	case 4, 5, 6, 7, 8:
		if w.chance(50) && len(w.oracle.acts) > 0 {
			return w.decision(bourse.CommandApproveAct)
		}
		return w.act()
	case 9:
		return bourse.Command{Kind: bourse.CommandTick}
	case 10:
		return w.decision(bourse.CommandDropAct)
	default:
		return w.decision(bourse.CommandApproveAct)
	}
}

func (w *Workload) drawnOperator() *bourse.OperatorCommand {
	return &bourse.OperatorCommand{Define: bourse.Operator{
		Role: bourse.OperatorRole(w.between(1, 3)), Enabled: true, Digest: bourse.RowDigest{1 + byte(w.src.Below(255))},
	}}
}

func (w *Workload) newOperator() bourse.Command {
	return bourse.Command{Kind: bourse.CommandAddOperator, Token: w.token(), Operators: w.drawnOperator()}
}

func (w *Workload) changedOperator() bourse.Command {
	o := w.drawnOperator()
	o.Define.ID, o.Define.Enabled = max(w.operator(), 1), w.chance(70)
	if w.chance(50) {
		o.Define.Role = bourse.RoleOwner
	}
	return bourse.Command{Kind: bourse.CommandChangeOperator, Operators: o}
}

func (w *Workload) token() bourse.Token {
	return bourse.Token{byte(w.src.Below(256)), byte(w.src.Below(256))}
}

// operator draws the id of an operator, of one more, or zero.
func (w *Workload) operator() bourse.OperatorID {
	return bourse.OperatorID(w.src.Below(uint64(min(len(w.oracle.operators), 6)) + 2))
}

// act draws an act, also a break-glass one.
func (w *Workload) act() bourse.Command {
	ordered := w.orderable()
	cmd := record.NewAct(w.oracle.genesis, w.operator(), w.token(), "drawn", &ordered)
	if w.chance(5) {
		cmd.Operators.Digest[3]++
	}
	return cmd
}

// orderable draws a command that operators order.
func (w *Workload) orderable() bourse.Command {
	a := w.account()
	market := bourse.MarketID(w.between(1, w.shape.markets))
	switch w.src.Below(10) {
	case 9:
		return bourse.Command{Kind: bourse.CommandSetRules, Rules: uint32(w.between(1, bourse.CurrentRules))}
	case 8:
		return w.reset(a)
	case 0:
		return bourse.Command{Kind: bourse.CommandFreezeAccount, Account: a, On: w.chance(30)}
	case 1:
		return w.accountFees(a)
	case 2:
		return bourse.Command{Kind: bourse.CommandCollectFees}
	case 3:
		return bourse.Command{
			Kind: bourse.CommandSetMarketState, MarketID: market, State: bourse.MarketState(w.between(1, 3)),
		}
	case 4:
		return w.accountLevel(a)
	case 5:
		return w.newOperator()
	case 6:
		return w.changedOperator()
	default:
		return bourse.Command{
			Kind: bourse.CommandCredit, Account: a, AssetID: bourse.AssetID(w.between(1, 4)), Amount: w.purse(),
		}
	}
}

// reset draws the reset of a person, now and then of another row than the one it has.
func (w *Workload) reset(id bourse.AccountID) bourse.Command {
	cmd := bourse.Command{
		Kind: bourse.CommandResetPerson, Account: id, Level: uint8(w.between(1, 3)), Hold: bourse.Time(w.src.Below(100)) * bourse.Second,
		Access: &bourse.Access{Digest: bourse.RowDigest{1, 1 + byte(w.src.Below(255))}}, Operators: new(bourse.OperatorCommand),
	}
	if int(id) <= len(w.oracle.accounts) && w.chance(90) {
		cmd.Operators.Was = w.oracle.accounts[id-1].person
	}
	if cmd.Operators.Was == cmd.Access.Digest {
		cmd.Access.Digest[2]++
	}
	return cmd
}

// decision draws the approval or the end of a waiting act, or of one that does not wait.
func (w *Workload) decision(kind bourse.CommandKind) bourse.Command {
	o := &bourse.OperatorCommand{By: [2]bourse.OperatorID{max(w.operator(), 1)}, Act: 1 + bourse.Seq(w.src.Below(50))}
	if waiting := w.oracle.acts; len(waiting) > 0 {
		a := &waiting[w.src.Below(uint64(len(waiting)))]
		o.Act, o.Digest = a.ID, a.Digest
		if kind == bourse.CommandApproveAct && w.chance(90) {
			o.By[0] = max(a.By[0], 1)
		}
	}
	if w.chance(5) {
		o.Digest[3]++
	}
	if kind == bourse.CommandApproveAct {
		o.By[1] = max(w.operator(), 1)
	}
	return bourse.Command{Kind: kind, Operators: o}
}
