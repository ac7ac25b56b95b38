package engine_test

import (
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
)

// TestRevertedWithdrawalWaitsForAPerson mines a transaction that costs and does
// not pay.
func TestRevertedWithdrawalWaitsForAPerson(t *testing.T) {
	x, _, a := funded(t, true)
	id := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(usdt, 100, 4))))
	reverted, s := signAccount(a, id, 0, takes(hot, eth, 3))
	x.must(signedCommand(s))
	x.must(sentCommand(byAccount, s.Tx))
	x.must(a.next(reverted))
	if w := x.withdrawal(); !w.Reverted || w.Status != bourse.WalletDone {
		t.Fatalf("reverted, it is %+v", w)
	}
	x.wantOwn(usdt, map[bourse.AccountID]int64{bourse.AccountInTransit: 100})
	x.wantOwn(eth, map[bourse.AccountID]int64{bourse.AccountNetworkCosts: -3})
	x.restart()
	x.must(walletCommand(bourse.CommandReplaceWithdrawal, 0, bourse.WalletCommand{ID: id}))
	if w := x.withdrawal(); !w.Unsigned() || w.Reverted {
		t.Fatalf("to be replaced, it is %+v", w)
	}
	x.refused(bourse.NotSigned, walletCommand(bourse.CommandReplaceWithdrawal, 0, bourse.WalletCommand{ID: id}))
	pays, s := signAccount(a, id, 1, takes(hot, usdt, 100), takes(hot, eth, 3))
	old := *s
	old.Nonce = 0
	x.refused(bourse.WrongNonce, signedCommand(&old))
	x.must(signedCommand(s))
	x.must(a.next(pays))
	x.wantOwn(usdt, map[bourse.AccountID]int64{bourse.AccountInTransit: 0})
	x.refused(bourse.AlreadyMined, walletCommand(bourse.CommandReleaseWithdrawal, 0, bourse.WalletCommand{ID: id}))
	x.wantBalance(1, usdt, 396, 0)

	// If the chain takes both back, the first one is not to be mined again.
	rewind, _ := a.back(2)
	x.must(rewind)
	for _, s := range x.ev.Wallet.Signed {
		if s.Tx == reverted.Hash && s.State != bourse.SignedDropped {
			t.Errorf("the transaction that was replaced is %s", s.State)
		}
	}
	x.restart()
	x.must(a.next(pays))
	x.wantOwn(usdt, map[bourse.AccountID]int64{bourse.AccountInTransit: 0})
	if got := x.e.NetworkState(byAccount).Halted; got != 0 {
		t.Errorf("halted by %s", got)
	}
}

func TestReleasedWithdrawalIsPaidBack(t *testing.T) {
	release := func(id bourse.WalletID) bourse.Command {
		return walletCommand(bourse.CommandReleaseWithdrawal, 0, bourse.WalletCommand{ID: id})
	}
	x, c, a := funded(t, true)
	open := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(btc, 100, 4))))
	x.refused(bourse.NotSigned, release(open))
	x.refused(bourse.WithdrawalNotFound, release(99))
	_, s := x.signOutputs(c, open, 100, 2)
	x.must(signedCommand(s))
	x.must(release(open)) // never accepted by the network
	if w := x.withdrawal(); w.Status != bourse.WalletCanceled {
		t.Errorf("released as %+v", w)
	}
	x.wantBalance(1, btc, 1000, 0)
	x.refused(bourse.NotSigned, sentCommand(byOutput, s.Tx))

	done := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(eth, 100, 4))))
	_, first := signAccount(a, done, 0)
	x.must(signedCommand(first))
	x.must(sentCommand(byAccount, first.Tx))
	x.wantBalance(1, eth, 396, 0)
	x.must(release(done))
	if w := x.withdrawal(); w.Status != bourse.WalletDone || !w.Refunded {
		t.Errorf("released as %+v", w)
	}
	x.wantBalance(1, eth, 500, 0)
	x.refused(bourse.WithdrawalNotFound, release(done))
	x.restart()

	// The nonce that was given up is free again, once.
	next := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(eth, 100, 4))))
	pays, second := signAccount(a, next, 0, takes(hot, eth, 103))
	x.must(signedCommand(second))
	_, third := signAccount(a, 0, 0)
	x.refused(bourse.WrongNonce, signedCommand(third))
	x.must(a.next(pays))
	x.wantBalance(1, eth, 396, 0)

	// The transaction of a released withdrawal is mined after all: the treasury pays it, and
	// the network's withdrawals halt.
	wrong := bourse.TxEffect{Hash: first.Tx, Outflows: []bourse.Outflow{takes(hot, eth, 103)}}
	x.must(a.next(wrong))
	x.wantOwn(eth, map[bourse.AccountID]int64{treasury: 897, bourse.AccountInTransit: 0, bourse.AccountNetworkCosts: -3})
	if got := x.e.NetworkState(byAccount).Halted; got != bourse.HaltStrangeSpend {
		t.Errorf("halted by %q", got)
	}
	rewind, _ := a.back(2)
	x.must(rewind)
	x.restart()
}

// TestGivenUpAndMined wants a transaction that was given up too early to pay its
// withdrawal when it is mined all the same, in the place of what took its place:
// nobody is paid twice, and no network halts.
func TestGivenUpAndMined(t *testing.T) {
	replace := func(id bourse.WalletID) bourse.Command {
		return walletCommand(bourse.CommandReplaceWithdrawal, 0, bourse.WalletCommand{ID: id})
	}
	x, c, a := funded(t, true)
	id := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(eth, 100, 4))))
	pays, first := signAccount(a, id, 0, takes(hot, eth, 103))
	x.must(signedCommand(first))
	x.must(replace(id))
	x.must(a.next(pays)) // before another is signed
	if w := x.withdrawal(); w.Status != bourse.WalletDone || w.Tx != first.Tx {
		t.Errorf("paid, it is %+v", w)
	}
	_, second := signAccount(a, id, 1)
	x.refused(bourse.NotProcessing, signedCommand(second))
	x.wantBalance(1, eth, 396, 0)
	x.restart()

	id = bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(btc, 100, 4))))
	early, one := x.signOutputs(c, id, 100, 2)
	x.must(signedCommand(one))
	x.must(replace(id))
	late, two := x.signOutputs(c, id, 100, 1)
	x.must(signedCommand(two))
	x.must(sentCommand(byOutput, two.Tx))
	x.must(c.next(early))
	if w := x.withdrawal(); w.Status != bourse.WalletDone || w.Tx != one.Tx {
		t.Errorf("paid by the first, it is %+v", w)
	}
	x.refused(bourse.NotSigned, sentCommand(byOutput, two.Tx))
	x.restart()
	rewind, _ := c.back(1)
	x.must(rewind)
	x.restart()
	x.must(c.next(late))
	if w := x.withdrawal(); w.Tx != two.Tx {
		t.Errorf("paid by the second, it is %+v", w)
	}
	x.restart()
	x.wantBalance(1, btc, 896, 0)
	x.wantOwn(btc, map[bourse.AccountID]int64{bourse.AccountInTransit: 0})
	for _, network := range []bourse.NetworkID{byOutput, byAccount} {
		if got := x.e.NetworkState(network).Halted; got != 0 {
			t.Errorf("network %d halted by %q", network, got)
		}
	}
}

// TestReplacementExcludes wants what takes the place of a transaction that was given
// up to keep it out of every chain, until something else does that is deep enough.
func TestReplacementExcludes(t *testing.T) {
	replace := func(id bourse.WalletID) bourse.Command {
		return walletCommand(bourse.CommandReplaceWithdrawal, 0, bourse.WalletCommand{ID: id})
	}
	x, c, a := funded(t, true)
	x.must(c.next(c.output(treasury, btc, 500)))

	// Its output was spent by another payment.
	id := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(btc, 100, 4))))
	_, first := x.signOutputs(c, id, 100, 2)
	x.must(signedCommand(first))
	x.must(replace(id))
	other := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(btc, 100, 4))))
	pays, s := x.signOutputs(c, other, 100, 1)
	x.must(signedCommand(s))
	list, _ := c.unspent()
	list = slices.DeleteFunc(list, func(at bourse.Outpoint) bool { return slices.Contains(s.Inputs, at) })
	_, elsewhere := x.signOutputs(c, id, 100, 2)
	elsewhere.Inputs = list[:1]
	for range target {
		x.refused(bourse.InputTaken, signedCommand(elsewhere))
		x.restart()
		x.must(c.next(pays))
		pays = c.output(2, btc, 1)
	}
	x.must(signedCommand(elsewhere))

	// Its number was.
	id = bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(eth, 100, 4))))
	_, first = signAccount(a, id, 0)
	x.must(signedCommand(first))
	x.must(replace(id))
	_, s = signAccount(a, id, 1)
	x.refused(bourse.InputTaken, signedCommand(s))
	other = bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(eth, 100, 4))))
	pays, taken := signAccount(a, other, 0, takes(hot, eth, 103))
	x.must(signedCommand(taken))
	for range target {
		x.refused(bourse.InputTaken, signedCommand(s))
		x.must(a.next(pays))
		pays = a.output(2, eth, 1)
	}
	x.must(signedCommand(s))
	x.restart()
}

// TestPaymentApartFromItsCost mines payments of the coin of the costs that may cost what they pay, and failures of such. A
// payment takes its amount beside its cost. Under older rules all that takes enough has paid.
func TestPaymentApartFromItsCost(t *testing.T) {
	const amount = 100
	for name, c := range map[string]struct {
		cost  uint64 // the most that the transaction costs
		taken []uint64
		paid  bool
	}{
		"a payment":                             {120, []uint64{30, amount}, true},
		"a payment whose cost is its amount":    {amount, []uint64{amount, amount}, true},
		"a failure that costs the amount":       {amount, []uint64{amount}, false},
		"a failure that costs more":             {120, []uint64{110}, false},
		"a payment that cannot cost as much":    {99, []uint64{amount}, true},
		"two amounts, none of which is its own": {120, []uint64{60, 60}, false},
	} {
		for rules := uint32(1); rules <= bourse.CurrentRules; rules++ {
			x, _, a := funded(t, true)
			x.must(bourse.Command{Kind: bourse.CommandSetRules, Rules: rules})
			id := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(eth, amount, 4))))
			var taken []bourse.Outflow
			for _, units := range c.taken {
				taken = append(taken, takes(hot, eth, units))
			}
			tx, s := signAccount(a, id, 0, taken...)
			s.Cost = bourse.AssetAmount{Asset: eth, Amount: bourse.Units(c.cost)}
			x.must(signedCommand(s))
			x.must(a.next(tx))
			if paid, want := !x.withdrawal().Reverted, c.paid || rules < bourse.RulesRescue; paid != want {
				t.Errorf("%s under rules %d: paid is %t", name, rules, paid)
			}
			x.restart()
		}
	}
}

// TestGivenUpPaymentThatFailed mines a transaction that was given up and costs what its withdrawal asks for: the withdrawal
// waits for another one.
func TestGivenUpPaymentThatFailed(t *testing.T) {
	x, _, a := funded(t, true)
	id := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(eth, 100, 4))))
	tx, s := signAccount(a, id, 0, takes(hot, eth, 100))
	s.Cost = bourse.AssetAmount{Asset: eth, Amount: bourse.Units(100)}
	x.must(signedCommand(s))
	x.must(walletCommand(bourse.CommandReplaceWithdrawal, 0, bourse.WalletCommand{ID: id}))
	x.must(a.next(tx))
	x.wantOwn(eth, map[bourse.AccountID]int64{bourse.AccountInTransit: 0})
	x.must(walletCommand(bourse.CommandReleaseWithdrawal, 0, bourse.WalletCommand{ID: id}))
	x.wantBalance(1, eth, 500, 0)
}
