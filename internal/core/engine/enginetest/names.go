package enginetest

import (
	"slices"

	"github.com/bourse-exchange/bourse"
)

type nameKey struct {
	account bourse.AccountID
	id      bourse.ClientID
}

// name is a used client id.
type name struct {
	request bourse.Command
	// list has the orders of the list that the order belongs to.
	list    []bourse.NewOrder
	outcome bourse.Outcome
	open    bool
	ended   bourse.Time
}

// repeated answers a request whose client id is taken, and reports whether it did.
func (x *Oracle) repeated(cmd *bourse.Command) bool {
	key := nameKey{cmd.Account, cmd.NewOrder.ClientID}
	n := x.names[key]
	if n == nil {
		return false
	}
	if !n.open && x.now > n.ended+nameKept {
		x.forget(key)
		return false
	}
	first := &n.request
	if n.list != nil || first.NewOrder != cmd.NewOrder || first.Kind != cmd.Kind ||
		first.Order != cmd.Order && first.Order != 0 && cmd.Order != 0 {
		x.ev.Reject(&bourse.Order{Account: cmd.Account, NewOrder: cmd.NewOrder, Time: x.now}, bourse.DuplicateClientID)
		return true
	}
	x.ev.Repeat(n.outcome)
	return true
}

func (x *Oracle) forget(key nameKey) {
	a := x.accounts[key.account-1]
	list, _ := a.endedNames(x.names[key])
	*list = slices.DeleteFunc(*list, func(k nameKey) bool { return k == key })
	delete(x.names, key)
}

func (x *Oracle) nameTaken(cmd *bourse.Command, o *order) {
	if !o.ClientID.IsZero() {
		x.names[nameKey{cmd.Account, cmd.NewOrder.ClientID}] = &name{request: *cmd, open: true}
	}
}

// nameDecided stores the outcome for repetitions, unless the name is already forgotten.
func (x *Oracle) nameDecided(cmd *bourse.Command, outcome bourse.Outcome) {
	if n := x.names[nameKey{cmd.Account, cmd.NewOrder.ClientID}]; n != nil {
		n.outcome = outcome
	}
}

// nameEnded remembers a rejection.
func (x *Oracle) nameEnded(cmd *bourse.Command, outcome bourse.Outcome) {
	if cmd.NewOrder.ClientID.IsZero() {
		return
	}
	key := nameKey{cmd.Account, cmd.NewOrder.ClientID}
	x.names[key] = &name{request: *cmd, outcome: outcome}
	x.retire(key)
}

func (x *Oracle) orderEnded(o *order) {
	if !o.ClientID.IsZero() {
		x.retire(nameKey{o.Account, o.ClientID})
	}
}

// retire ends a client id, and forgets the account's oldest if there are too many.
func (x *Oracle) retire(key nameKey) {
	a, n := x.accounts[key.account-1], x.names[key]
	n.open, n.ended = false, x.now
	list, most := a.endedNames(n)
	*list = append(*list, key)
	if len(*list) > most {
		delete(x.names, (*list)[0])
		*list = (*list)[1:]
	}
}

// endedNames returns the account's list for ended names like n, and its bound.
func (a *account) endedNames(n *name) (list *[]nameKey, most int) {
	if n.outcome.Reason != 0 {
		return &a.refused, maxRefused
	}
	return &a.ended, maxNames
}
