package enginetest

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/record"
)

// The bounds of operators.
const (
	mostStaff    = 200
	mostOpenActs = 32
	actWait      = 24 * bourse.Hour
)

// staff is the oracle's state of operators. The workload approves no withdrawals, so that the
// oracle knows no limits of approvals.
type staff struct {
	// operators are by id less one, acts the waiting ones, oldest first.
	operators []bourse.Operator
	acts      []bourse.Act
	// rules is the version of the rules, seq the current command.
	rules uint32
	seq   bourse.Seq
}

func (x *Oracle) hasOwner(except bourse.OperatorID) bool {
	return slices.ContainsFunc(x.operators, func(o bourse.Operator) bool {
		return o.ID != except && o.Enabled && o.Role == bourse.RoleOwner
	})
}

// ownersOnly reports whether the exchange takes a command from its operators alone.
func (x *Oracle) ownersOnly(cmd *bourse.Command) bool {
	if x.genesis.Sandbox || !x.hasOwner(0) {
		return false
	}
	role, _ := authority(cmd)
	stops := !cmd.On && (cmd.Kind == bourse.CommandCool || cmd.Kind == bourse.CommandWarm) || cmd.On && (cmd.Kind == bourse.CommandFreezeAccount || cmd.Kind == bourse.CommandPauseWithdrawals) ||
		cmd.State == bourse.MarketHalted || cmd.State == bourse.MarketCancelOnly
	replaces := cmd.Kind == bourse.CommandReplaceWithdrawal || cmd.Kind == bourse.CommandReleaseWithdrawal && cmd.Wallet.ID == 0
	return role != 0 && !stops && (!replaces || x.rules < 2)
}

// authority returns the role that an act with a command needs, zero for one that is no act of
// operators, and whether two of them have to agree.
func authority(cmd *bourse.Command) (role bourse.OperatorRole, two bool) {
	switch cmd.Kind {
	case bourse.CommandSetRules, bourse.CommandDefineAsset, bourse.CommandDefineNetwork,
		bourse.CommandDefineNetworkAsset, bourse.CommandDefineMarket, bourse.CommandDefineFees,
		bourse.CommandSetAccountFees, bourse.CommandSetAccountLevel, bourse.CommandReplaceWithdrawal,
		bourse.CommandReleaseWithdrawal, bourse.CommandAssignDeposit, bourse.CommandDefineTiers, bourse.CommandAddOperator,
		bourse.CommandChangeOperator, bourse.CommandSetApprovalLimit, bourse.CommandResetPerson:
		return bourse.RoleOwner, true
	case bourse.CommandSetMarketState:
		if cmd.State == bourse.MarketHalted || cmd.State == bourse.MarketCancelOnly {
			return bourse.RoleOperator, false
		}
		return bourse.RoleOwner, true
	case bourse.CommandPauseWithdrawals:
		if !cmd.On {
			return bourse.RoleOwner, true
		}
		return bourse.RoleOperator, false
	case bourse.CommandFreezeAccount, bourse.CommandSetAccountTier, bourse.CommandCredit, bourse.CommandDecideWithdrawal,
		bourse.CommandCool, bourse.CommandWarm:
		return bourse.RoleOperator, false
	case bourse.CommandCollectFees:
		return bourse.RoleOwner, false
	default:
		return 0, false
	}
}

// applyOperators carries out the commands by and about operators, and reports whether it was one.
func (x *Oracle) applyOperators(cmd *bourse.Command) bool {
	var reason bourse.Reason
	switch cmd.Kind {
	case bourse.CommandAddOperator:
		reason = x.addOperator(cmd)
	case bourse.CommandChangeOperator:
		reason = x.changeOperator(cmd.Operators.Define)
	case bourse.CommandSetRules:
		x.rules = cmd.Rules
	case bourse.CommandSetApprovalLimit:
		if int(cmd.AssetID) > len(x.assets) {
			reason = bourse.UnknownAsset
		}
	case bourse.CommandAct:
		reason = x.orderAct(cmd)
	case bourse.CommandApproveAct:
		reason = x.approveAct(cmd.Operators)
	case bourse.CommandDropAct:
		reason = x.dropAct(cmd.Operators)
	default:
		return false
	}

	if reason != 0 {
		x.ev.Refuse(reason)
	}
	return true
}

func (x *Oracle) addOperator(cmd *bourse.Command) bourse.Reason {
	if len(x.operators) == mostStaff {
		return bourse.TooMany
	}
	if !x.genesis.Sandbox && !x.hasOwner(0) && cmd.Operators.Define.Role != bourse.RoleOwner {
		return bourse.OwnerFirst
	}
	o := cmd.Operators.Define
	o.ID = bourse.OperatorID(len(x.operators) + 1)
	x.operators = append(x.operators, o)
	x.ev.Outcome.ID = uint64(o.ID)
	return 0
}

func (x *Oracle) changeOperator(o bourse.Operator) bourse.Reason {
	if int(o.ID) > len(x.operators) {
		return bourse.UnknownOperator
	}
	stays := o.Enabled && o.Role == bourse.RoleOwner
	if x.hasOwner(0) && !stays && !x.hasOwner(o.ID) {
		return bourse.LastOwner
	}
	x.operators[o.ID-1] = o
	x.ev.Outcome.ID = uint64(o.ID)
	return 0
}

// lacks returns why an operator may not do what takes a role.
func (x *Oracle) lacks(id bourse.OperatorID, role bourse.OperatorRole) bourse.Reason {
	if id == 0 || int(id) > len(x.operators) {
		return bourse.UnknownOperator
	}
	o := x.operators[id-1]
	if !o.Enabled {
		return bourse.OperatorDisabled
	}
	if o.Role < role {
		return bourse.RoleMissing
	}
	return 0
}

// digest computes the digest of an act as the record's page says.
func (x *Oracle) digest(a *bourse.Act) bourse.ActDigest {
	b := append([]byte("bourse act 1\n"), x.genesis.Exchange[:]...)
	b = binary.LittleEndian.AppendUint16(b, uint16(a.By[0]))
	b = append(b, a.Token[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(a.Reason)))
	b = append(b, a.Reason...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(a.Record)))
	return sha256.Sum256(append(b, a.Record...))
}

func (x *Oracle) orderAct(cmd *bourse.Command) bourse.Reason {
	a := bourse.Act{
		ID: cmd.Seq, By: cmd.Operators.By, Token: cmd.Token, Digest: cmd.Operators.Digest,
		Reason: cmd.Operators.Reason, Record: cmd.Operators.Record, Due: x.now + actWait,
	}
	if a.Digest != x.digest(&a) {
		return bourse.WrongDigest
	}
	if a.By[0] == 0 && !x.genesis.Sandbox && !x.hasOwner(0) {
		return bourse.OwnerFirst
	}
	role, two := authority(ordered(&a))
	if a.By[0] != 0 {
		if reason := x.lacks(a.By[0], role); reason != 0 {
			return reason
		}
	}
	if a.By[0] != 0 && !two {
		x.carryOut(a)
		return 0
	}

	open := 0
	for i := range x.acts {
		if x.acts[i].By[0] == a.By[0] {
			open++
		}
	}
	if open == mostOpenActs {
		return bourse.TooMany
	}
	a.Status = bourse.ActWaits
	x.acts = append(x.acts, a)
	x.tellAct(a, bourse.ActWaits)
	x.ev.Outcome.ID = uint64(a.ID)
	return 0
}

// ordered decodes the command of an act.
func ordered(a *bourse.Act) *bourse.Command {
	cmd := new(bourse.Command)
	if _, err := record.Decode(a.Record, cmd); err != nil {
		bourse.Impossible("act %d: %v", a.ID, err)
	}
	return cmd
}

// carryOut carries out the command of an act, which waits no more then, and reports whether it was not
// refused.
func (x *Oracle) carryOut(a bourse.Act) bool {
	x.carry(ordered(&a))
	if x.ev.Outcome.Reason != 0 {
		return false
	}
	x.acts = slices.DeleteFunc(x.acts, func(b bourse.Act) bool { return b.ID == a.ID })
	x.outdate(ordered(&a))
	x.tellAct(a, bourse.ActDone)
	return true
}

func (x *Oracle) tellAct(a bourse.Act, is bourse.ActStatus) {
	a.Status = is
	x.announceAct(bourse.EventAct, a)
}

func (x *Oracle) announceAct(kind bourse.EventKind, a bourse.Act) {
	x.ev.AddFact(kind, bourse.Fact{Act: &a})
}

func (x *Oracle) waitingAct(id bourse.Seq) int {
	return slices.IndexFunc(x.acts, func(a bourse.Act) bool { return a.ID == id })
}

func (x *Oracle) approveAct(o *bourse.OperatorCommand) bourse.Reason {
	at := x.waitingAct(o.Act)
	if at < 0 || x.acts[at].By[0] != o.By[0] || x.acts[at].Due <= x.now {
		return bourse.ActNotFound
	}
	if o.By[0] == o.By[1] {
		return bourse.SameOperator
	}
	a := x.acts[at]
	if a.Digest != o.Digest {
		return bourse.WrongDigest
	}
	if a.Outdated != 0 {
		return bourse.ActOutdated
	}
	role, _ := authority(ordered(&a))
	for _, by := range o.By {
		if reason := x.lacks(by, role); reason != 0 {
			return reason
		}
	}
	a.By = o.By
	x.carryOut(a)
	return 0
}

func (x *Oracle) dropAct(o *bourse.OperatorCommand) bourse.Reason {
	at := x.waitingAct(o.Act)
	if at < 0 {
		return bourse.ActNotFound
	}
	a := x.acts[at]
	if a.Digest != o.Digest {
		return bourse.WrongDigest
	}
	role := bourse.RoleOwner
	if a.By[0] == o.By[0] {
		role = bourse.RoleViewer
	}
	if reason := x.lacks(o.By[0], role); reason != 0 {
		return reason
	}
	x.acts = slices.Delete(x.acts, at, at+1)
	a.By[1] = o.By[0]
	x.tellAct(a, bourse.ActDropped)
	x.ev.Outcome.ID = uint64(a.ID)
	return 0
}

// endAct ends the oldest act if it waited long enough: it expires, or a break-glass act is carried out.
func (x *Oracle) endAct() {
	if len(x.acts) == 0 || x.acts[0].Due > x.now {
		return
	}
	a := x.acts[0]
	x.acts = x.acts[1:]
	if a.By[0] != 0 {
		x.tellAct(a, bourse.ActExpired)
		return
	}
	if a.Outdated != 0 || !x.carryOut(a) {
		x.tellAct(a, bourse.ActRefused)
	}
	x.ev.Outcome = bourse.Outcome{}
}
