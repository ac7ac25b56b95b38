package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
)

// approved asks for a withdrawal and reports whether it left without a person.
func (x *exchange) approved(w *bourse.Withdraw) bool {
	x.tb.Helper()
	x.must(withdrawCommand(1, w))
	// The address book may have been told of first.
	for i := range x.ev.Wallet.Withdrawals {
		if x.ev.Wallet.Withdrawals[i].Status == bourse.WalletProcessing {
			return true
		}
	}
	return false
}

// trusting returns a production exchange whose first customer has a saved address
// that a second factor approved an amount for, and the withdrawal of it.
func trusting(t *testing.T, amount uint64) (*exchange, uint64) {
	x, _, _ := funded(t, false)
	w := withdrawOf(btc, amount, 1)
	w.Save, w.Factor = bourse.Token{7}, true
	return x, x.must(withdrawCommand(1, w))
}

// TestTrustEndsWithADenial denies or cancels the withdrawal by which an address
// was to become trusted, and one that came when it was.
func TestTrustEndsWithADenial(t *testing.T) {
	for what, end := range map[string]func(uint64) bourse.Command{
		"denied":   func(id uint64) bourse.Command { return decideCommand(id, false) },
		"canceled": func(id uint64) bourse.Command { return cancelCommand(1, id) },
	} {
		x, id := trusting(t, 20)
		x.must(end(id))
		if saved := x.ev.Wallet.Addresses; len(saved) != 1 || len(saved[0].Trusts) != 0 {
			t.Errorf("%s, its address is told as %+v", what, saved)
		}
		x.restart()
		x.aDayLater()
		if x.approved(withdrawOf(btc, 10, 1)) {
			t.Errorf("%s, and a day later the address is trusted", what)
		}

		x, _ = trusting(t, 20)
		x.aDayLater()
		if !x.approved(withdrawOf(btc, 20, 1)) {
			t.Fatal("a day later the address is not trusted")
		}
		x.must(end(x.ev.Outcome.ID))
		x.aDayLater()
		if x.approved(withdrawOf(btc, 20, 1)) {
			t.Errorf("%s when it was trusted, and the address is still", what)
		}
	}
}

// TestTrustHasAnAmount wants an address to be trusted with the greatest amount that
// was approved a day ago, of the asset that it was.
func TestTrustHasAnAmount(t *testing.T) {
	x, first := trusting(t, 20)
	x.must(decideCommand(first, true))
	x.aDayLater()
	if x.approved(withdrawOf(btc, 21, 1)) {
		t.Error("one unit more needs no person")
	}
	more := x.ev.Outcome.ID
	if !x.approved(withdrawOf(btc, 20, 9)) { // whatever the fee
		t.Error("the amount that was approved needs a person")
	}
	x.must(decideCommand(more, true))
	x.restart()
	if x.approved(withdrawOf(btc, 21, 1)) {
		t.Error("a greater amount needs no person at once")
	}
	if !x.approved(withdrawOf(btc, 20, 1)) {
		t.Error("a greater amount took the trust in the lesser one")
	}
	x.aDayLater()
	if !x.approved(withdrawOf(btc, 21, 1)) || x.approved(withdrawOf(btc, 22, 1)) {
		t.Error("a day later the greater amount is not what is trusted")
	}
	x.restart()
}

// TestTrustIsOfAnAsset approves one asset and asks for another to the same address.
func TestTrustIsOfAnAsset(t *testing.T) {
	x, _, _ := funded(t, false)
	w := withdrawOf(usdt, 20, 1)
	w.Save, w.Factor = bourse.Token{7}, true
	x.must(withdrawCommand(1, w))
	x.aDayLater()
	coin := withdrawOf(eth, 10, 1)
	if x.approved(coin) {
		t.Error("another asset is trusted")
	}
	coin.Factor = true
	x.must(withdrawCommand(1, coin))
	x.restart()
	x.aDayLater()
	coin.Factor = false
	if !x.approved(coin) || !x.approved(withdrawOf(usdt, 20, 1)) {
		t.Error("two assets are not trusted side by side")
	}
	x.restart()
}

// TestHoldEndsTrust changes how a person gets in: no address of the account is
// trusted then, and those of others still are.
func TestHoldEndsTrust(t *testing.T) {
	x, _ := trusting(t, 20)
	x.aDayLater()
	x.must(secureCommand(2, 0))
	if !x.approved(withdrawOf(btc, 20, 1)) {
		t.Error("a change of another account ends trust")
	}
	x.must(secureCommand(1, 0))
	x.restart()
	if x.approved(withdrawOf(btc, 20, 1)) {
		t.Error("an address is trusted after a change of how its owner gets in")
	}
}

// TestHoldCoversWhatWaits asks for withdrawals and a transfer, and then changes how
// the person gets in: nothing that is not signed leaves before the hold ends, nor
// without a person.
func TestHoldCoversWhatWaits(t *testing.T) {
	x, c, _ := funded(t, false)
	first := x.must(withdrawCommand(1, withdrawOf(btc, 100, 4)))
	x.must(decideCommand(first, true)) // in the hands of the signer
	signed := x.must(withdrawCommand(1, withdrawOf(btc, 30, 4)))
	x.must(decideCommand(signed, true))
	_, s := x.signOutputs(c, bourse.WalletID(signed), 30, 2)
	x.must(signedCommand(s))
	waits := x.must(withdrawCommand(1, withdrawOf(btc, 50, 4)))
	given := x.must(transferCommand(1, transferOf(2, btc, 10)))
	x.must(secureCommand(1, bourse.Hour))
	until := x.e.Now() + bourse.Hour
	for i := range x.ev.Wallet.Withdrawals {
		w := &x.ev.Wallet.Withdrawals[i]
		if w.Status != bourse.WalletPending || w.Approved || w.NotBefore != until || uint64(w.ID) == signed {
			t.Errorf("held back as %+v", w)
		}
	}
	if n := len(x.ev.Wallet.Withdrawals); n != 3 {
		t.Errorf("%d were held back, not 3", n)
	}
	x.restart()
	_, late := x.signOutputs(c, bourse.WalletID(first), 100, 2)
	x.refused(bourse.NotProcessing, signedCommand(late)) // the signer was at it
	for _, id := range []uint64{waits, given} {
		x.must(decideCommand(id, true))
	}
	x.wake()
	x.wantBalance(2, btc, 0, 0)
	x.must(secureCommand(1, 0)) // a shorter hold takes nothing from a longer one
	x.must(decideCommand(waits, true))

	tick := bourse.Command{Kind: bourse.CommandTick, Seq: x.e.Seq() + 1, Time: until}
	x.e.Apply(&tick, &x.ev)
	x.wake()
	left := 0
	for i := range x.ev.Wallet.Withdrawals {
		if x.ev.Wallet.Withdrawals[i].Status == bourse.WalletProcessing {
			left++
		}
	}
	if left != 1 { // what a person approved after the change, and once more after the second
		t.Errorf("%d left when the hold was over: %+v", left, x.ev.Wallet.Withdrawals)
	}
	x.restart()
}
