package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
)

// TestResets wants the reset of a person to end sessions and keys, and to hold withdrawals, once, and
// only of the row that it was made of.
func TestResets(t *testing.T) {
	x := newExchange(t, true)
	was, now := bourse.RowDigest{1}, bourse.RowDigest{2}
	one := bourse.AccountID(x.must(bourse.Command{Kind: bourse.CommandCreateAccount, Access: &bourse.Access{Digest: was}}))
	reset := bourse.Command{
		Kind: bourse.CommandResetPerson, Account: one, Level: uint8(bourse.ResetFactors), Hold: bourse.Day,
		Access: &bourse.Access{Digest: now}, Operators: &bourse.OperatorCommand{Was: was},
	}
	x.must(keyCommand(one, 0))
	x.must(sessionCommand(one, x.e.Now()+bourse.Day))
	other := x.must(keyCommand(1, 0))
	keys, sessions := x.e.Keys(), x.e.Sessions()

	another := reset
	another.Operators = &bourse.OperatorCommand{Was: bourse.RowDigest{9}}
	x.refused(bourse.WrongDigest, another)
	nobody := reset
	nobody.Account = 999
	x.refused(bourse.UnknownAccount, nobody)

	x.must(reset)
	var told, held bool
	for _, e := range x.ev.List {
		told = told || e.Kind == bourse.EventPersonChanged && x.ev.Facts[e.At].Digest == now
		held = held || e.Kind == bourse.EventAccountHeld && x.ev.Facts[e.At].Until >= x.e.Now()+bourse.Day-bourse.Second
	}
	if !told || !held || x.e.Keys() != keys-1 || x.e.Sessions() != sessions-1 {
		t.Errorf("told %t, held %t, %d keys of %d, %d sessions of %d", told, held, x.e.Keys(), keys, x.e.Sessions(), sessions)
	}
	x.restart()
	x.refused(bourse.WrongDigest, reset) // it is done
	x.must(revokeCommand(other))
}
