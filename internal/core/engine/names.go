package engine

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/book"
)

const (
	// maxEndedNames bounds the retained client ids of an account's ended orders.
	// bourse.MaxRejections bounds those of its rejections, which cost their sender nothing.
	maxEndedNames = 10_000
	// expiredPerTick bounds the names that one tick forgets.
	expiredPerTick = 1_000
)

// names remembers client ids, so that a repeated request gets its first outcome: while
// its order is open and for ClientIDKept after, up to the last maxEndedNames of an account. A
// rejection is an outcome too, up to the last MaxRejections.
type names struct {
	entries []name
	free    uint32
	byID    map[nameKey]uint32
	// byOrder indexes the entries of open orders.
	byOrder map[bourse.OrderID]uint32
	// oldest and newest are the ends of the list of ended names, by time of end.
	oldest, newest uint32
}

type nameKey struct {
	account bourse.AccountID
	id      bourse.ClientID
}

// name is a taken client id.
type name struct {
	account bourse.AccountID
	// place is the request. If replaces is set, it was to cancel the order replaced as well,
	// or, at zero, one that was not open.
	place    bourse.NewOrder
	replaces bool
	replaced bourse.OrderID
	// list is the request for the order's list, or nil.
	list *bourse.NewList
	// outcome has the order's id, also as part of a list's outcome.
	outcome bourse.Outcome
	// ended is the time the order ended; zero while it is open.
	ended bourse.Time
	// older and newer link the ended names of all accounts, next those of one account.
	older, newer uint32
	next         uint32
}

// endedNames is one of an account's two lists of ended names, oldest first: one for
// orders, one for rejections.
type endedNames struct {
	oldest, newest, count uint32
}

// full reports whether the list of n exceeds its bound.
func (n *name) full(list *endedNames) bool {
	if n.outcome.Reason != 0 {
		return list.count > bourse.MaxRejections
	}
	return list.count > maxEndedNames
}

// listedNames returns the list of an ended name.
func (e *Engine) listedNames(n *name) *endedNames {
	acct := e.accounts.At(uint32(n.account))
	if n.outcome.Reason != 0 {
		return &acct.refused
	}
	return &acct.ended
}

func newNames() names {
	return names{
		entries: make([]name, 1), // index zero means none
		byID:    map[nameKey]uint32{},
		byOrder: map[bourse.OrderID]uint32{},
	}
}

// repeated answers a request whose client id is taken, and reports whether it did.
func (e *Engine) repeated(cmd *bourse.Command, ev *bourse.Events) bool {
	at := e.names.taken(e, cmd.Account, cmd.NewOrder.ClientID)
	if at == 0 {
		return false
	}
	n := &e.names.entries[at]
	if !n.same(cmd) {
		e.reject(cmd, bourse.DuplicateClientID, ev)
		return true
	}
	ev.Repeat(n.outcome)
	return true
}

// same reports whether a command asks for what took the name. An order that is to be
// canceled and is not open may be that of the first request, named by a client id.
func (n *name) same(cmd *bourse.Command) bool {
	if n.list != nil || n.replaces != (cmd.Kind == bourse.CommandReplace) || n.place != cmd.NewOrder {
		return false
	}
	return !n.replaces || n.replaced == cmd.Order || n.replaced == 0 || cmd.Order == 0
}

// taken returns the entry of a client id, or zero if it is free.
func (n *names) taken(e *Engine, account bourse.AccountID, id bourse.ClientID) uint32 {
	at := n.byID[nameKey{account, id}]
	if at != 0 && n.entries[at].ended != 0 && n.entries[at].ended+bourse.ClientIDKept < e.now {
		n.forget(e, at)
		return 0
	}
	return at
}

// take adds an entry for a request's client id. It is never inlined, because most orders
// have none.
//
//go:noinline
func (n *names) take(cmd *bourse.Command) uint32 {
	at := n.free
	if at != 0 {
		n.free = n.entries[at].next
	} else {
		at = uint32(len(n.entries))
		n.entries = append(n.entries, name{})
	}
	n.entries[at] = name{account: cmd.Account, place: cmd.NewOrder}
	if cmd.Kind == bourse.CommandReplace {
		n.entries[at].replaces, n.entries[at].replaced = true, cmd.Order
	}
	n.byID[nameKey{cmd.Account, cmd.NewOrder.ClientID}] = at
	return at
}

// of returns the client id of an open order, or the zero value.
func (n *names) of(o *book.Order) bourse.ClientID {
	if !o.Named {
		return bourse.ClientID{}
	}
	return n.entries[n.byOrder[o.ID]].place.ClientID
}

// end ends the name of a closed order: ClientIDKept later its client id is free.
func (n *names) end(e *Engine, id bourse.OrderID) {
	at := n.byOrder[id]
	delete(n.byOrder, id)
	n.retire(e, at)
}

// retire ends an entry's name and forgets the oldest of its list if that is full.
func (n *names) retire(e *Engine, at uint32) {
	n.append(e, at, e.now)
	if list := e.listedNames(&n.entries[at]); n.entries[at].full(list) {
		n.forget(e, list.oldest)
	}
}

// append adds an entry to the lists of ended names.
func (n *names) append(e *Engine, at uint32, ended bourse.Time) {
	entry := &n.entries[at]
	entry.ended = ended
	entry.older, entry.newer, entry.next = n.newest, 0, 0
	if n.newest != 0 {
		n.entries[n.newest].newer = at
	} else {
		n.oldest = at
	}
	n.newest = at

	list := e.listedNames(entry)
	if list.newest != 0 {
		n.entries[list.newest].next = at
	} else {
		list.oldest = at
	}
	list.newest = at
	list.count++
}

// forget frees an ended entry, after all older ones of its account's list: the lists are
// in order of end, so those have expired as well.
func (n *names) forget(e *Engine, at uint32) {
	entry := &n.entries[at]
	list := e.listedNames(entry)
	for list.oldest != at { // older, so expired as well
		n.forget(e, list.oldest)
	}

	list.oldest = entry.next
	if list.oldest == 0 {
		list.newest = 0
	}
	list.count--

	if entry.older != 0 {
		n.entries[entry.older].newer = entry.newer
	} else {
		n.oldest = entry.newer
	}
	if entry.newer != 0 {
		n.entries[entry.newer].older = entry.older
	} else {
		n.newest = entry.older
	}

	delete(n.byID, nameKey{entry.account, entry.place.ClientID})
	*entry = name{next: n.free}
	n.free = at
}

// expire forgets at most most expired names.
func (n *names) expire(e *Engine, most int) {
	for ; most > 0 && n.oldest != 0 && n.entries[n.oldest].ended+bourse.ClientIDKept < e.now; most-- {
		n.forget(e, n.oldest)
	}
}
