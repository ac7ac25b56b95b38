package engine

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/record"
)

// operators is the part of the state about operators. Once an exchange that is no sandbox
// has an owner, the commands of operators come as acts alone: see guarded.
type operators struct {
	// list has the operators by id less one.
	list []operator
	// owners counts the enabled owners.
	owners int
	// limits is sorted by asset.
	limits []bourse.ApprovalLimit
	// acts are the waiting ones by ascending id, and so by ascending time of their end.
	acts []*bourse.Act
}

// operator is an operator, with the sum of the approvals alone.
type operator struct {
	bourse.Operator
	// alone is sorted by asset.
	alone []approved
}

// approved is the sum of an asset that an operator approved alone on a day.
type approved struct {
	asset bourse.AssetID
	day   uint32
	sum   bourse.Amount
}

// isOwner reports whether the operator is an enabled owner.
func (o *operator) isOwner() bool { return o.Enabled && o.Role == bourse.RoleOwner }

// operator returns an operator, or nil if there is none with this id.
func (e *Engine) operator(id bourse.OperatorID) *operator {
	if id == 0 || int(id) > len(e.operators.list) {
		return nil
	}
	return &e.operators.list[id-1]
}

// guarded reports whether a command needs an act: this is the one place that holds commands
// of operators against their authority.
func (e *Engine) guarded(cmd *bourse.Command) bool {
	if e.operators.owners == 0 || e.genesis.Sandbox {
		return false
	}
	need := record.AuthorityOf(cmd)
	return !need.Bare && (!need.Own || e.rules < bourse.RulesOwn)
}

// may returns the reason for which an operator may not do what takes a role; zero if it may.
func (e *Engine) may(id bourse.OperatorID, role bourse.OperatorRole) bourse.Reason {
	o := e.operator(id)
	switch {
	case o == nil:
		return bourse.UnknownOperator
	case !o.Enabled:
		return bourse.OperatorDisabled
	case o.Role < role:
		return bourse.RoleMissing
	}
	return 0
}

// decideOperators carries out the commands by and about operators.
func (e *Engine) decideOperators(cmd *bourse.Command, ev *bourse.Events) {
	var reason bourse.Reason
	switch cmd.Kind {
	case bourse.CommandAddOperator:
		reason = e.addOperator(cmd, ev)
	case bourse.CommandChangeOperator:
		reason = e.changeOperator(&cmd.Operators.Define, ev)
	case bourse.CommandSetApprovalLimit:
		reason = e.setApprovalLimit(cmd, ev)
	case bourse.CommandAct:
		reason = e.act(cmd, ev)
	case bourse.CommandApproveAct:
		reason = e.approveAct(cmd.Operators, ev)
	case bourse.CommandDropAct:
		reason = e.dropAct(cmd.Operators, ev)
	default:
		bourse.Impossible("command %d has unknown kind %d", cmd.Seq, cmd.Kind)
	}

	if reason != 0 {
		ev.Refuse(reason)
	}
}

// addOperator allots an operator its id. The first of a production exchange is an owner: the
// machine's socket makes one, and owners make the others.
func (e *Engine) addOperator(cmd *bourse.Command, ev *bourse.Events) bourse.Reason {
	s := &e.operators
	o := operator{Operator: cmd.Operators.Define}
	switch {
	case len(s.list) >= bourse.MaxOperators:
		return bourse.TooMany
	case s.owners == 0 && !e.genesis.Sandbox && !o.isOwner():
		return bourse.OwnerFirst
	}

	o.ID, o.Token = bourse.OperatorID(len(s.list)+1), cmd.Token
	s.list = append(s.list, o)
	e.countOwners()
	announceOperator(ev, &o)
	ev.Outcome.ID = uint64(o.ID)
	return 0
}

// changeOperator changes an operator's role and row, or ends or restores its powers. An
// exchange that has an owner keeps one.
func (e *Engine) changeOperator(def *bourse.Operator, ev *bourse.Events) bourse.Reason {
	o := e.operator(def.ID)
	if o == nil {
		return bourse.UnknownOperator
	}
	changed := *o
	changed.Role, changed.Enabled, changed.Digest = def.Role, def.Enabled, def.Digest
	if o.isOwner() && !changed.isOwner() && e.operators.owners == 1 {
		return bourse.LastOwner
	}

	*o = changed
	e.countOwners()
	announceOperator(ev, o)
	ev.Outcome.ID = uint64(o.ID)
	return 0
}

func (e *Engine) countOwners() {
	e.operators.owners = 0
	for i := range e.operators.list {
		if e.operators.list[i].isOwner() {
			e.operators.owners++
		}
	}
}

func announceOperator(ev *bourse.Events, o *operator) {
	told := o.Operator
	ev.AddFact(bourse.EventOperator, bourse.Fact{Staff: &told})
}

// setApprovalLimit sets how much of an asset one operator approves alone in a day.
func (e *Engine) setApprovalLimit(cmd *bourse.Command, ev *bourse.Events) bourse.Reason {
	if int(cmd.AssetID) >= len(e.assets) {
		return bourse.UnknownAsset
	}
	limit := bourse.ApprovalLimit{Asset: cmd.AssetID, Amount: cmd.Amount}
	at, found := e.findLimit(cmd.AssetID)
	if !found {
		e.operators.limits = slices.Insert(e.operators.limits, at, limit)
	}
	e.operators.limits[at] = limit
	announceLimit(ev, limit)
	return 0
}

func announceLimit(ev *bourse.Events, limit bourse.ApprovalLimit) {
	ev.AddFact(bourse.EventApprovalLimit, bourse.Fact{Limit: &limit})
}

func (e *Engine) findLimit(asset bourse.AssetID) (at int, found bool) {
	return slices.BinarySearchFunc(e.operators.limits, asset, func(l bourse.ApprovalLimit, a bourse.AssetID) int {
		return int(l.Asset) - int(a)
	})
}

// isAboveLimit reports whether an amount exceeds the rest of the operator's limit of approvals
// alone today. Without a limit every amount does.
func (e *Engine) isAboveLimit(o *operator, w bourse.AssetAmount) bool {
	at, found := e.findLimit(w.Asset)
	if !found {
		return true
	}
	sum, fits := o.today(w.Asset, e.fees.today).Add(w.Amount)
	return !fits || e.operators.limits[at].Amount.Less(sum)
}

// today returns the sum that the operator approved alone on a day.
func (o *operator) today(asset bourse.AssetID, day uint32) bourse.Amount {
	if at, found := o.findApproved(asset); found && o.alone[at].day == day {
		return o.alone[at].sum
	}
	return bourse.Amount{}
}

func (o *operator) findApproved(asset bourse.AssetID) (at int, found bool) {
	return slices.BinarySearchFunc(o.alone, asset, func(a approved, asset bourse.AssetID) int {
		return int(a.asset) - int(asset)
	})
}

// countApproved adds an approval to the sum of a day's approvals alone.
func (o *operator) countApproved(w bourse.AssetAmount, day uint32) {
	sum := o.today(w.Asset, day).Plus(w.Amount)
	at, found := o.findApproved(w.Asset)
	if !found {
		o.alone = slices.Insert(o.alone, at, approved{})
	}
	o.alone[at] = approved{asset: w.Asset, day: day, sum: sum}
}
