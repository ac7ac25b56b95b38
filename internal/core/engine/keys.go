package engine

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/bourse-exchange/bourse"
)

// keys are the live API keys, or the live sessions. A key leaves when it is revoked
// and when its time is over; ids rise, and none comes twice.
type keys struct {
	byID map[bourse.KeyID]*key
	// last is the newest id that was allotted, and end the highest that can be.
	last, end bourse.KeyID
	// expiring are those that end by themselves, the first to end first.
	expiring expiringKeys
}

type key struct {
	id      bourse.KeyID
	account bourse.AccountID
	token   bourse.Token
	bourse.Access
	// at is its place in expiring, if it is there.
	at int
}

func newKeys(first, end bourse.KeyID) keys {
	return keys{byID: map[bourse.KeyID]*key{}, last: first, end: end}
}

func newAPIKeys() keys  { return newKeys(0, bourse.FirstSession-1) }
func newSessions() keys { return newKeys(bourse.FirstSession, bourse.LastSession) }

// keysOf returns the set that an id belongs to.
func (e *Engine) keysOf(id bourse.KeyID) *keys {
	if id.IsSession() {
		return &e.sessions
	}
	return &e.keys
}

// add takes in a key with an id of its own.
func (k *keys) add(one *key) {
	k.byID[one.id] = one
	if one.Expires != 0 {
		heap.Push(&k.expiring, one)
	}
}

func (k *keys) remove(one *key) {
	delete(k.byID, one.id)
	if one.Expires != 0 {
		heap.Remove(&k.expiring, one.at)
	}
}

// sorted returns the live keys by ascending id.
func (k *keys) sorted() []*key {
	list := make([]*key, 0, len(k.byID))
	for _, one := range k.byID {
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b *key) int { return cmp.Compare(a.id, b.id) })
	return list
}

// expiringKeys is a heap.
type expiringKeys []*key

// Len returns how many there are.
func (h expiringKeys) Len() int { return len(h) }

// Less orders by the end, then by id, so that the order is the same everywhere.
func (h expiringKeys) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].Expires, h[j].Expires), cmp.Compare(h[i].id, h[j].id)) < 0
}

// Swap lets two change places.
func (h expiringKeys) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

// Push adds a *key.
func (h *expiringKeys) Push(x any) {
	one := x.(*key) //nolint:forcetypeassert // the heap holds nothing else
	one.at = len(*h)
	*h = append(*h, one)
}

// Pop takes the last one out.
func (h *expiringKeys) Pop() any {
	list := *h
	one := list[len(list)-1]
	list[len(list)-1] = nil
	*h = list[:len(list)-1]
	return one
}

// listOf returns the list of an account's live keys or sessions that an id belongs to.
func (a *account) listOf(id bourse.KeyID) *[]*key {
	if id.IsSession() {
		return &a.sessions
	}
	return &a.keys
}

func (e *Engine) createKey(cmd *bourse.Command, ev *bourse.Events) {
	acct := e.account(cmd.Account)
	if acct == nil {
		ev.Refuse(bourse.UnknownAccount)
		return
	}
	e.expireKeys(&e.keys, ev)
	if len(acct.keys) >= bourse.MaxKeys || e.keys.last == e.keys.end {
		ev.Refuse(bourse.TooMany)
		return
	}

	e.keys.last++
	one := &key{id: e.keys.last, account: cmd.Account, token: cmd.Token, Access: *cmd.Access}
	e.keys.add(one)
	acct.keys = append(acct.keys, one)
	announceKey(ev, bourse.EventKeyCreated, one)
	ev.Outcome.ID = uint64(one.id)
}

// changeKey takes over what the owner made of a key.
func (e *Engine) changeKey(cmd *bourse.Command, ev *bourse.Events) {
	one := e.keys.byID[cmd.Key]
	if one == nil || one.account != cmd.Account {
		ev.Refuse(bourse.UnknownKey)
		return
	}
	e.keys.remove(one)
	one.Access = *cmd.Access
	e.keys.add(one)
	announceKey(ev, bourse.EventKeyChanged, one)
	ev.Outcome.ID = uint64(one.id)
}

func (e *Engine) revokeKey(cmd *bourse.Command, ev *bourse.Events) {
	one := e.keysOf(cmd.Key).byID[cmd.Key]
	if one == nil {
		ev.Refuse(bourse.UnknownKey)
		return
	}
	e.endKey(one, ev)
	ev.Outcome.ID = uint64(one.id)
}

func (e *Engine) endKey(one *key, ev *bourse.Events) {
	e.keysOf(one.id).remove(one)
	acct := e.account(one.account)
	list := acct.listOf(one.id)
	*list = slices.DeleteFunc(*list, func(other *key) bool { return other == one })
	announceKey(ev, bourse.EventKeyRevoked, one)
}

// openSession begins a session, which ends by itself.
func (e *Engine) openSession(cmd *bourse.Command, ev *bourse.Events) {
	acct := e.account(cmd.Account)
	if acct == nil {
		ev.Refuse(bourse.UnknownAccount)
		return
	}
	e.expireKeys(&e.sessions, ev)
	if len(acct.sessions) >= bourse.MaxSessions || e.sessions.last == e.sessions.end {
		ev.Refuse(bourse.TooMany)
		return
	}

	e.sessions.last++
	one := &key{id: e.sessions.last, account: cmd.Account, Access: *cmd.Access}
	e.sessions.add(one)
	acct.sessions = append(acct.sessions, one)
	announceKey(ev, bourse.EventKeyCreated, one)
	ev.Outcome.ID = uint64(one.id)
}

// endKeys ends keys or sessions of one account, oldest first, except one.
func (e *Engine) endKeys(list []*key, but bourse.KeyID, ev *bourse.Events) {
	for _, one := range slices.Clone(list) {
		if one.id != but {
			e.endKey(one, ev)
		}
	}
}

// expireKeys ends keys whose time is over, some at a time.
func (e *Engine) expireKeys(k *keys, ev *bourse.Events) {
	for n := expiredPerTick; n > 0 && len(k.expiring) > 0 && k.expiring[0].Expires <= e.now; n-- {
		e.endKey(k.expiring[0], ev)
	}
}

func announceKey(ev *bourse.Events, kind bourse.EventKind, k *key) {
	ev.AddFact(kind, bourse.Fact{Account: k.account, Key: k.id, Token: k.token, Digest: k.Digest})
}

// Keys returns how many API keys are live.
func (e *Engine) Keys() int { return len(e.keys.byID) }

// Sessions returns how many sessions are live.
func (e *Engine) Sessions() int { return len(e.sessions.byID) }
