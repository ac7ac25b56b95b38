package engine

import (
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/record"
)

// act carries out a command in the name of an operator, or lets it wait: for a second operator's
// approval or, for a break-glass act, for its time.
func (e *Engine) act(cmd *bourse.Command, ev *bourse.Events) bourse.Reason {
	asked := cmd.Operators
	a := &bourse.Act{
		ID: cmd.Seq, By: asked.By, Token: cmd.Token, Digest: asked.Digest, Reason: asked.Reason,
		Record: asked.Record, Due: e.now + bourse.ActWait, Status: bourse.ActWaits,
	}
	ordered := e.ordered(a)
	need := record.AuthorityOf(ordered)
	switch {
	case a.Digest != record.ActDigest(e.genesis, a.By[0], a):
		return bourse.WrongDigest
	case a.By[0] == 0 && e.operators.owners == 0 && !e.genesis.Sandbox:
		return bourse.OwnerFirst // who could drop it
	case a.By[0] == 0:
		return e.keepAct(a, ordered, ev)
	}
	if reason := e.may(a.By[0], need.Role); reason != 0 {
		return reason
	}

	w, counts := e.approves(ordered, need)
	if need.Two || counts && e.isAboveLimit(e.operator(a.By[0]), w) {
		return e.keepAct(a, ordered, ev)
	}
	if !e.carryOut(a, ordered, ev) {
		return 0
	}
	if counts {
		e.operator(a.By[0]).countApproved(w, e.fees.today)
	}
	return 0
}

// ordered decodes the command of an act, as a command of now.
func (e *Engine) ordered(a *bourse.Act) *bourse.Command {
	cmd := new(bourse.Command)
	if !record.Ordered(a.Record, cmd) {
		bourse.Impossible("act %d has no command", a.ID)
	}
	cmd.Seq, cmd.Time = e.seq, e.now
	return cmd
}

// approves returns the amount that counts against the limit: that of an approved withdrawal, or of an order to cold
// storage. counts is false for other commands and for withdrawals that nobody can approve.
func (e *Engine) approves(ordered *bourse.Command, need record.Authority) (amount bourse.AssetAmount, counts bool) {
	if !need.Limited {
		return amount, false
	}
	if ordered.Kind == bourse.CommandCool {
		return bourse.AssetAmount{Asset: ordered.AssetID, Amount: ordered.Amount}, true
	}
	w := e.custody.Withdrawal(ordered.Wallet.ID)
	if w == nil {
		return amount, false
	}
	return bourse.AssetAmount{Asset: w.Asset, Amount: w.Amount}, true
}

// keepAct adds an act to the waiting ones.
func (e *Engine) keepAct(a *bourse.Act, ordered *bourse.Command, ev *bourse.Events) bourse.Reason {
	if e.openActs(a.By[0]) >= bourse.MaxOpenActs {
		return bourse.TooMany
	}
	e.operators.acts = append(e.operators.acts, a)
	announceAct(ev, bourse.EventAct, a, ordered)
	ev.Outcome.ID = uint64(a.ID)
	return 0
}

// openActs returns the number of an operator's waiting acts; of break-glass acts for zero.
func (e *Engine) openActs(by bourse.OperatorID) int {
	n := 0
	for _, a := range e.operators.acts {
		if a.By[0] == by {
			n++
		}
	}
	return n
}

// carryOut carries out the command of an act, which then waits no longer, and reports whether it was not
// refused.
func (e *Engine) carryOut(a *bourse.Act, ordered *bourse.Command, ev *bourse.Events) bool {
	e.decide(ordered, ev)
	if ev.Outcome.Reason != 0 {
		return false
	}

	e.removeAct(a.ID)
	e.outdate(ordered, ev)
	a.Status = bourse.ActDone
	announceAct(ev, bourse.EventAct, a, ordered)
	return true
}

// outdate marks the waiting acts whose commands have the subject of a command that was just carried
// out. Each was ordered earlier: carried out now, it would undo the newer change, which its operators
// have not seen.
func (e *Engine) outdate(by *bourse.Command, ev *bourse.Events) {
	if len(e.operators.acts) == 0 || e.rules < bourse.RulesOutdating {
		return
	}
	subject := record.SubjectOf(by)
	if subject == (record.Subject{}) {
		return
	}

	for _, a := range e.operators.acts {
		if a.Outdated != 0 {
			continue
		}
		if ordered := e.ordered(a); record.SubjectOf(ordered) == subject {
			a.Outdated = e.seq
			announceAct(ev, bourse.EventActOutdated, a, ordered)
		}
	}
}

func announceAct(ev *bourse.Events, kind bourse.EventKind, a *bourse.Act, ordered *bourse.Command) {
	told := *a
	told.What = record.Describe(ordered)
	ev.AddFact(kind, bourse.Fact{Act: &told})
}

// approveAct carries out a waiting act whose second operator approves it. An act whose command is
// refused goes on waiting, because a refused command changes nothing.
func (e *Engine) approveAct(asked *bourse.OperatorCommand, ev *bourse.Events) bourse.Reason {
	at := e.findAct(asked.Act)
	if at < 0 {
		return bourse.ActNotFound
	}
	a := *e.operators.acts[at]
	if a.By[0] != asked.By[0] || a.Due <= e.now {
		return bourse.ActNotFound
	}
	switch {
	case asked.By[0] == asked.By[1]:
		return bourse.SameOperator
	case asked.Digest != a.Digest:
		return bourse.WrongDigest
	case a.Outdated != 0:
		return bourse.ActOutdated
	}

	ordered := e.ordered(&a)
	for _, by := range asked.By {
		if reason := e.may(by, record.AuthorityOf(ordered).Role); reason != 0 {
			return reason
		}
	}
	a.By = asked.By
	e.carryOut(&a, ordered, ev)
	return 0
}

// dropAct ends a waiting act: its operator may, and each owner.
func (e *Engine) dropAct(asked *bourse.OperatorCommand, ev *bourse.Events) bourse.Reason {
	at := e.findAct(asked.Act)
	if at < 0 {
		return bourse.ActNotFound
	}
	a := *e.operators.acts[at]
	if asked.Digest != a.Digest {
		return bourse.WrongDigest
	}
	need := bourse.RoleOwner
	if a.By[0] == asked.By[0] {
		need = bourse.RoleViewer
	}
	if reason := e.may(asked.By[0], need); reason != 0 {
		return reason
	}

	a.By[1], a.Status = asked.By[0], bourse.ActDropped
	e.removeAct(a.ID)
	announceAct(ev, bourse.EventAct, &a, e.ordered(&a))
	ev.Outcome.ID = uint64(a.ID)
	return 0
}

// findAct returns the index of a waiting act; negative if there is none.
func (e *Engine) findAct(id bourse.Seq) int {
	return slices.IndexFunc(e.operators.acts, func(a *bourse.Act) bool { return a.ID == id })
}

func (e *Engine) removeAct(id bourse.Seq) {
	e.operators.acts = slices.DeleteFunc(e.operators.acts, func(a *bourse.Act) bool { return a.ID == id })
}

// endAct ends the oldest waiting act if its time has come: an operator's act expires, a break-glass act
// is carried out, unless it is outdated. A tick ends one at most, with the budget of a command, and its
// outcome stays its own.
func (e *Engine) endAct(ev *bourse.Events) {
	if len(e.operators.acts) == 0 || e.operators.acts[0].Due > e.now {
		return
	}
	a := *e.operators.acts[0]
	e.operators.acts = slices.Delete(e.operators.acts, 0, 1)
	ordered := e.ordered(&a)
	if a.By[0] != 0 {
		a.Status = bourse.ActExpired
		announceAct(ev, bourse.EventAct, &a, ordered)
		return
	}

	outcome := ev.Outcome
	ev.Outcome = bourse.Outcome{}
	if a.Outdated != 0 || !e.carryOut(&a, ordered, ev) {
		a.Status = bourse.ActRefused
		announceAct(ev, bourse.EventAct, &a, ordered)
	}
	ev.Outcome = outcome
}
