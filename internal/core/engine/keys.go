package engine

import (
	"cmp"
	"container/heap"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/ordered"
)

// keys is the set of live API keys, or of live sessions. A key leaves the set when it is
// revoked or expires. Ids rise and are never reused.
type keys struct {
	byID map[bourse.KeyID]*key
	// last is the newest allotted id, end the highest possible one.
	last, end bourse.KeyID
	// expiring is a heap of the keys with an expiry, earliest first.
	expiring expiring[*key]
}

type key struct {
	id      bourse.KeyID
	account bourse.AccountID
	token   bourse.Token
	bourse.Access
	// at is the index in expiring, if the key expires.
	at int
}

func newKeys(first, end bourse.KeyID) keys {
	return keys{byID: map[bourse.KeyID]*key{}, last: first, end: end}
}

func newAPIKeys() keys  { return newKeys(0, bourse.FirstSession-1) }
func newSessions() keys { return newKeys(bourse.FirstSession, bourse.LastSession) }

// keysOf returns the set of an id.
func (e *Engine) keysOf(id bourse.KeyID) *keys {
	if id.IsSession() {
		return &e.sessions
	}
	return &e.keys
}

// add adds a key that has its id.
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
	return ordered.Values(k.byID, cmp.Compare[bourse.KeyID])
}

// before orders keys by expiry, then by id, so that the order is the same everywhere.
func (k *key) before(other *key) bool {
	return cmp.Or(cmp.Compare(k.Expires, other.Expires), cmp.Compare(k.id, other.id)) < 0
}

func (k *key) moved(to int) { k.at = to }

// listOf returns the account's list of live keys or sessions, by the kind of id.
func (a *account) listOf(id bourse.KeyID) *[]*key {
	if id.IsSession() {
		return &a.sessions
	}
	return &a.keys
}

func (e *Engine) createKey(cmd *bourse.Command, ev *bourse.Events) {
	e.beginKey(&key{account: cmd.Account, token: cmd.Token, Access: *cmd.Access}, &e.keys, bourse.MaxKeys, ev)
}

// beginKey allots a key the next id of its set, unless its account already has most keys.
func (e *Engine) beginKey(one *key, set *keys, most int, ev *bourse.Events) {
	acct := e.account(one.account)
	if acct == nil {
		ev.Refuse(bourse.UnknownAccount)
		return
	}
	e.expireKeys(set, ev)
	list := acct.listOf(set.last)
	if len(*list) >= most || set.last == set.end {
		ev.Refuse(bourse.TooMany)
		return
	}

	set.last++
	one.id = set.last
	set.add(one)
	*list = append(*list, one)
	announceKey(ev, bourse.EventKeyCreated, one)
	ev.Outcome.ID = uint64(one.id)
}

// changeKey replaces the access of an API key.
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

// openSession starts a session, which always expires.
func (e *Engine) openSession(cmd *bourse.Command, ev *bourse.Events) {
	e.beginKey(&key{account: cmd.Account, Access: *cmd.Access}, &e.sessions, bourse.MaxSessions, ev)
}

// endKeys ends keys or sessions of one account, oldest first, except but.
func (e *Engine) endKeys(list []*key, but bourse.KeyID, ev *bourse.Events) {
	for _, one := range slices.Clone(list) {
		if one.id != but {
			e.endKey(one, ev)
		}
	}
}

// expireKeys ends expired keys, at most expiredPerTick.
func (e *Engine) expireKeys(k *keys, ev *bourse.Events) {
	for n := expiredPerTick; n > 0 && len(k.expiring) > 0 && k.expiring[0].Expires <= e.now; n-- {
		e.endKey(k.expiring[0], ev)
	}
}

func announceKey(ev *bourse.Events, kind bourse.EventKind, k *key) {
	ev.AddFact(kind, bourse.Fact{Account: k.account, Key: k.id, Token: k.token, Digest: k.Digest})
}

// Keys returns the number of live API keys.
func (e *Engine) Keys() int { return len(e.keys.byID) }

// Sessions returns the number of live sessions.
func (e *Engine) Sessions() int { return len(e.sessions.byID) }
