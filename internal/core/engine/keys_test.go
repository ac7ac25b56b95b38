package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
)

func keyCommand(account bourse.AccountID, expires bourse.Time) bourse.Command {
	return bourse.Command{Kind: bourse.CommandCreateKey, Account: account, Access: &bourse.Access{Expires: expires}}
}

func revokeCommand(id uint64) bourse.Command {
	return bourse.Command{Kind: bourse.CommandRevokeKey, Key: bourse.KeyID(id)}
}

// TestKeysAreBounded wants an account to have at most MaxKeys live keys, and none
// that ended to count.
func TestKeysAreBounded(t *testing.T) {
	x := newExchange(t, true)
	var ids []uint64
	for range bourse.MaxKeys {
		ids = append(ids, x.must(keyCommand(1, 0)))
	}
	x.refused(bourse.TooMany, keyCommand(1, 0))
	x.restart()
	x.refused(bourse.TooMany, keyCommand(1, 0))
	x.must(keyCommand(2, 0)) // another account
	x.must(revokeCommand(ids[7]))
	x.refused(bourse.UnknownKey, revokeCommand(ids[7]))
	if id := x.must(keyCommand(1, 0)); id <= ids[len(ids)-1]+1 {
		t.Errorf("id %d came again", id)
	}
	x.refused(bourse.TooMany, keyCommand(1, 0))
}

// TestEndedKeysAreFreed makes many more keys than may live, and wants the state to
// stay as large as the live ones make it.
func TestEndedKeysAreFreed(t *testing.T) {
	x := newExchange(t, true)
	x.unchecked = true
	id := x.must(keyCommand(1, 0))
	size := len(snapshot(x.e))
	for range 20 * bourse.MaxKeys {
		x.must(revokeCommand(id))
		id = x.must(keyCommand(1, 0))
	}
	if got := len(snapshot(x.e)); got != size || x.e.Keys() != 1 {
		t.Errorf("one key takes %d bytes in a state of %d keys, it took %d", got, x.e.Keys(), size)
	}
}

// TestKeyIDsLast wants ids beyond four bytes to survive a restart: they are shared by all
// accounts, and making and revoking keys for some years uses fewer up. JSON's numbers hold
// the highest exactly.
func TestKeyIDsLast(t *testing.T) {
	x := newExchange(t, true)
	const many = 1 << 51
	x.e.NumberKeys(many, many)
	key := x.must(keyCommand(1, 0))
	open := bourse.Command{Kind: bourse.CommandOpenSession, Account: 1, Access: &bourse.Access{Expires: x.e.Now() + bourse.Day}}
	session := x.must(open)
	if key != many+1 || bourse.KeyID(session) != bourse.FirstSession+many+1 {
		t.Fatalf("key %d, session %d", key, session)
	}
	x.restart()
	if next := x.must(keyCommand(1, 0)); next != key+1 {
		t.Errorf("key %d after %d", next, key)
	}
	x.must(revokeCommand(key))
	x.must(revokeCommand(session))

	x.e.NumberKeys(bourse.FirstSession-2, bourse.LastSession-bourse.FirstSession)
	x.must(keyCommand(1, 0))
	x.refused(bourse.TooMany, keyCommand(1, 0))
	x.refused(bourse.TooMany, open)
}

// TestKeysExpire wants a key to end when its time is over, and to be told of.
func TestKeysExpire(t *testing.T) {
	x := newExchange(t, true)
	soon := x.e.Now() + bourse.Hour
	late := x.must(keyCommand(1, soon+bourse.Hour))
	first := x.must(keyCommand(1, soon))
	for range bourse.MaxKeys - 2 {
		x.must(keyCommand(1, soon+bourse.Day))
	}
	x.restart()
	tick := func(at bourse.Time) (ended []bourse.KeyID) {
		x.ev.Reset()
		cmd := bourse.Command{Kind: bourse.CommandTick, Seq: x.e.Seq() + 1, Time: max(at, x.e.Now())}
		x.e.Apply(&cmd, &x.ev)
		for i := range x.ev.Facts {
			ended = append(ended, x.ev.Facts[i].Key)
		}
		return ended
	}
	if ended := tick(soon - 1); len(ended) > 0 {
		t.Errorf("%v ended early", ended)
	}
	if ended := tick(soon); len(ended) != 1 || uint64(ended[0]) != first {
		t.Errorf("%v ended, not %d", ended, first)
	}
	x.refused(bourse.UnknownKey, revokeCommand(first))

	// A key that is changed ends at its new time, and not at the old one.
	change := bourse.Command{Kind: bourse.CommandChangeKey, Account: 2, Key: bourse.KeyID(late), Access: &bourse.Access{}}
	x.refused(bourse.UnknownKey, change)
	change.Account = 1
	x.must(change)
	x.restart()
	if ended := tick(soon + 2*bourse.Day); len(ended) != bourse.MaxKeys-2 {
		t.Errorf("%d keys ended", len(ended))
	}
	if x.must(revokeCommand(late)); x.e.Keys() != 0 {
		t.Errorf("%d keys are left", x.e.Keys())
	}
}

func sessionCommand(account bourse.AccountID, expires bourse.Time) bourse.Command {
	return bourse.Command{Kind: bourse.CommandOpenSession, Account: account, Access: &bourse.Access{Expires: expires}}
}

// TestSessionsAreBounded wants an account to have at most MaxSessions live sessions,
// apart from its keys, and the state to be as large as the live ones make it.
func TestSessionsAreBounded(t *testing.T) {
	x := newExchange(t, true)
	x.unchecked = true
	ends := x.e.Now() + bourse.Day
	var ids []uint64
	for range bourse.MaxSessions {
		ids = append(ids, x.must(sessionCommand(1, ends)))
	}
	x.must(keyCommand(1, 0))
	x.refused(bourse.TooMany, sessionCommand(1, ends))
	x.restart()
	x.refused(bourse.TooMany, sessionCommand(1, ends))
	size := len(snapshot(x.e))
	for i := range 3 * bourse.MaxSessions {
		x.must(revokeCommand(ids[i]))
		ids = append(ids, x.must(sessionCommand(1, ends)))
	}
	if got := len(snapshot(x.e)); got != size || x.e.Sessions() != bourse.MaxSessions {
		t.Errorf("%d sessions take %d bytes, they took %d", x.e.Sessions(), got, size)
	}
	x.refused(bourse.UnknownKey, revokeCommand(ids[0]))
	x.refused(bourse.UnknownKey, bourse.Command{
		Kind: bourse.CommandChangeKey, Account: 1, Key: bourse.KeyID(ids[len(ids)-1]), Access: &bourse.Access{},
	})
}

// TestSessionsEnd wants sessions to end when their time is over, and when how their
// account's person gets in changes, except the one in which that was asked for.
func TestSessionsEnd(t *testing.T) {
	x := newExchange(t, true)
	soon := x.e.Now() + bourse.Hour
	for _, ends := range []bourse.Time{soon + bourse.Day, soon, soon + bourse.Day} {
		x.must(sessionCommand(1, ends))
	}
	kept := x.must(sessionCommand(1, soon+bourse.Day))
	other := x.must(sessionCommand(2, soon+bourse.Day))
	x.restart()

	x.ev.Reset()
	x.e.Apply(&bourse.Command{Kind: bourse.CommandTick, Seq: x.e.Seq() + 1, Time: soon}, &x.ev)
	if x.e.Sessions() != 4 {
		t.Errorf("%d sessions are left when the time of one is over", x.e.Sessions())
	}

	x.must(bourse.Command{
		Kind: bourse.CommandSecureAccount, Account: 1, Key: bourse.KeyID(kept), Access: &bourse.Access{Digest: bourse.RowDigest{1}},
	})
	x.restart()
	if x.e.Sessions() != 2 {
		t.Errorf("%d sessions are left", x.e.Sessions())
	}
	x.must(revokeCommand(kept))
	x.must(revokeCommand(other))
}

// TestSecureEndsKeys wants all API keys of one account to end when how its person gets in
// changes and the command says so, and otherwise none.
func TestSecureEndsKeys(t *testing.T) {
	x := newExchange(t, true)
	secure := bourse.Command{Kind: bourse.CommandSecureAccount, Account: 1, Access: &bourse.Access{Digest: bourse.RowDigest{1}}}
	x.must(keyCommand(1, 0))
	x.must(keyCommand(1, x.e.Now()+bourse.Day))
	other := x.must(keyCommand(2, 0))
	x.must(secure)
	if x.restart(); x.e.Keys() != 3 {
		t.Errorf("%d keys are left without the flag", x.e.Keys())
	}
	secure.On = true
	x.must(secure)
	if x.restart(); x.e.Keys() != 1 {
		t.Errorf("%d keys are left", x.e.Keys())
	}
	x.must(revokeCommand(other))
	for range bourse.MaxKeys {
		x.must(keyCommand(1, 0))
	}
	x.refused(bourse.TooMany, keyCommand(1, 0))
}

// TestPersonsAreState wants the digest of a person's row to be part of the state and to
// be told by a restore.
func TestPersonsAreState(t *testing.T) {
	x := newExchange(t, true)
	want := bourse.RowDigest{1}
	one := x.must(bourse.Command{Kind: bourse.CommandCreateAccount, Access: &bourse.Access{Digest: want}})
	told := func() (digest bourse.RowDigest) {
		_, err := engine.Restore(snapshot(x.e), func(ev *bourse.Events) {
			for i := range ev.List {
				if e := &ev.List[i]; e.Kind == bourse.EventAccountRestored && uint64(ev.Facts[e.At].Account) == one {
					digest = ev.Facts[e.At].Digest
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	if told() != want {
		t.Errorf("a new account has %v", told())
	}
	for i, kind := range []bourse.CommandKind{bourse.CommandSetPerson, bourse.CommandSecureAccount} {
		before := x.e.StateHash()
		want = bourse.RowDigest{0, byte(i + 1)}
		x.must(bourse.Command{Kind: kind, Account: bourse.AccountID(one), Access: &bourse.Access{Digest: want}})
		if told() != want || x.e.StateHash() == before {
			t.Errorf("kind %d sets %v", kind, told())
		}
	}
	x.must(bourse.Command{Kind: bourse.CommandSecureAccount, Account: bourse.AccountID(one)})
	if told() != want {
		t.Errorf("a hold alone sets %v", told())
	}
	x.refused(bourse.UnknownAccount, bourse.Command{Kind: bourse.CommandSetPerson, Account: 999, Access: &bourse.Access{}})
	x.refused(bourse.UnknownAccount, sessionCommand(999, 1))
}
