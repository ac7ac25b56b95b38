package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
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
