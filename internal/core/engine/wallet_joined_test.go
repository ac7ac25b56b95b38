package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
)

// joinOutputs asks for withdrawals and makes one transaction that pays them, with the first free output.
func (x *exchange) joinOutputs(c *chain, cost uint64, ids ...bourse.WalletID) (bourse.TxEffect, *bourse.SignedTx) {
	x.tb.Helper()
	var joined []bourse.Share
	sum := uint64(0)
	for _, id := range ids {
		amount := bourse.Units(100)
		if w := x.e.Withdrawal(id); w != nil {
			amount = w.Amount
		}
		joined, sum = append(joined, bourse.Share{Wallet: id, Amount: amount}), sum+amount.Lo
	}
	tx, s := x.signOutputs(c, ids[0], sum, cost)
	s.Joined = joined
	return tx, s
}

// three makes withdrawals of 100, 200 and 300, and asks the signer for them.
func (x *exchange) three() (ids []bourse.WalletID) {
	x.tb.Helper()
	for n := range uint64(3) {
		id := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(btc, 100+100*n, 4))))
		x.must(askingCommand(id))
		ids = append(ids, id)
	}
	return ids
}

func replaceCommand(id bourse.WalletID) bourse.Command {
	return walletCommand(bourse.CommandReplaceWithdrawal, 0, bourse.WalletCommand{ID: id})
}

func releaseCommand(id bourse.WalletID) bourse.Command {
	return walletCommand(bourse.CommandReleaseWithdrawal, 0, bourse.WalletCommand{ID: id})
}

// status wants withdrawals to have a status and a transaction.
func (x *exchange) status(want bourse.WalletStatus, tx bourse.TxHash, ids ...bourse.WalletID) {
	x.tb.Helper()
	for _, id := range ids {
		if w := x.e.Withdrawal(id); w == nil || w.Status != want || w.Tx != tx {
			x.tb.Errorf("withdrawal %d is %+v, not %s by %x", id, w, want, tx)
		}
	}
}

// TestJoined pays three withdrawals by one transaction, through a reorganisation and until it is final. It is taken
// over under older rules too, because its bytes are signed.
func TestJoined(t *testing.T) {
	x, c, _ := funded(t, true)
	ids := x.three()
	tx, s := x.joinOutputs(c, 2, ids...)
	x.must(bourse.Command{Kind: bourse.CommandSetRules, Rules: bourse.RulesJoined - 1})
	x.must(recordCommand(1, s))
	x.must(bourse.Command{Kind: bourse.CommandSetRules, Rules: bourse.RulesJoined})
	x.restart()
	for _, id := range ids {
		x.refused(bourse.WithdrawalSigned, cancelCommand(1, uint64(id)))
	}
	x.status(bourse.WalletProcessing, s.Tx, ids...)
	x.wantBalance(1, btc, 388, 612)

	x.must(sentCommand(byOutput, s.Tx))
	x.status(bourse.WalletDone, s.Tx, ids...)
	x.wantBalance(1, btc, 388, 0)
	x.wantOwn(btc, map[bourse.AccountID]int64{bourse.AccountInTransit: 600})
	x.must(c.next(tx))
	paid := map[bourse.AccountID]int64{bourse.AccountInTransit: 0, bourse.AccountNetworkCosts: -2, treasury: 1000}
	x.wantOwn(btc, paid)
	x.refused(bourse.AlreadyMined, replaceCommand(ids[1]))

	rewind, _ := c.back(1)
	x.must(rewind)
	x.restart()
	x.wantOwn(btc, map[bourse.AccountID]int64{bourse.AccountInTransit: 600, bourse.AccountNetworkCosts: 0})
	x.must(c.next(tx))
	x.wantOwn(btc, paid)

	x.unchecked = true
	x.mine(c, 1000)
	x.unchecked = false
	x.mine(c, 1)
	for _, id := range ids {
		if w := x.e.Withdrawal(id); w != nil {
			t.Errorf("%+v is remembered", w)
		}
	}
	if got := x.e.NetworkState(byOutput).Halted; got != 0 {
		t.Errorf("halted by %s", got)
	}
}

// TestJoinedGivenUp gives up a joined transaction for one of its withdrawals: all need another one, and each that
// excludes the first is taken.
func TestJoinedGivenUp(t *testing.T) {
	x, c, _ := funded(t, true)
	ids := x.three()
	_, s := x.joinOutputs(c, 2, ids...)
	x.must(recordCommand(1, s))
	x.must(sentCommand(byOutput, s.Tx))
	x.must(replaceCommand(ids[1]))
	x.restart()
	x.status(bourse.WalletDone, bourse.TxHash{}, ids...)
	x.refused(bourse.NotSigned, replaceCommand(ids[0]))

	// Another output excludes nothing.
	list, _ := c.unspent()
	apart, _ := c.pay(list[1:2], 100, 2)
	x.must(askingCommand(ids[0]))
	x.must(recordCommand(2, &bourse.SignedTx{
		Network: byOutput, Kind: bourse.SignedWithdrawal, Wallet: ids[0], Tx: apart.Hash, Raw: []byte{1}, Inputs: apart.Spent,
	}))
	x.refused(bourse.NotSigned, sentCommand(byOutput, apart.Hash))
	x.status(bourse.WalletDone, bourse.TxHash{}, ids...)

	// Two of them together, and then the third alone with an output that both have.
	for _, id := range ids[1:] {
		x.must(askingCommand(id))
	}
	tx, two := x.joinOutputs(c, 3, ids[1:]...)
	x.must(recordCommand(3, two))
	x.status(bourse.WalletDone, two.Tx, ids[1:]...)
	x.status(bourse.WalletDone, bourse.TxHash{}, ids[0])
	x.must(c.next(tx))
	x.mine(c, target-1)
	x.restart()

	// The block with two excludes the joined one of all three; the one apart has to be excluded too.
	x.must(askingCommand(ids[0]))
	last, _ := c.pay(list[1:2], 100, 5)
	x.must(recordCommand(4, &bourse.SignedTx{
		Network: byOutput, Kind: bourse.SignedWithdrawal, Wallet: ids[0], Tx: last.Hash, Raw: []byte{1}, Inputs: last.Spent,
	}))
	x.status(bourse.WalletDone, last.Hash, ids[0])
	x.must(c.next(last))
	x.wantOwn(btc, map[bourse.AccountID]int64{bourse.AccountInTransit: 0, treasury: 1000})
	x.wantBalance(1, btc, 388, 0)
}

// TestJoinedAfterAnEnd mines a joined transaction that was given up, after an operator ended one of its withdrawals and
// another transaction was signed for the others: it pays the others, and the treasury pays what is lost.
func TestJoinedAfterAnEnd(t *testing.T) {
	x, c, _ := funded(t, true)
	ids := x.three()
	tx, s := x.joinOutputs(c, 2, ids...)
	x.must(recordCommand(1, s))
	x.must(releaseCommand(ids[0]))
	x.wantBalance(1, btc, 492, 508)
	for _, id := range ids[1:] {
		x.must(askingCommand(id))
	}
	_, two := x.joinOutputs(c, 3, ids[1:]...)
	x.must(recordCommand(2, two))
	x.restart()

	x.must(c.next(tx))
	check := func() {
		t.Helper()
		x.restart()
		x.status(bourse.WalletDone, tx.Hash, ids[1:]...)
		x.wantBalance(1, btc, 492, 0)
		x.wantOwn(btc, map[bourse.AccountID]int64{treasury: 900, bourse.AccountInTransit: 0, bourse.AccountNetworkCosts: -2})
		if got := x.e.NetworkState(byOutput).Halted; got != bourse.HaltStrangeSpend {
			t.Errorf("halted by %q", got)
		}
	}
	check()
	x.refused(bourse.NotSigned, sentCommand(byOutput, two.Tx))

	// The chain takes it back: it is that of the two, and is mined again, or given up once more.
	rewind, _ := c.back(1)
	x.must(rewind)
	x.restart()
	x.wantOwn(btc, map[bourse.AccountID]int64{treasury: 1000, bourse.AccountInTransit: 500, bourse.AccountNetworkCosts: 0})
	x.must(pauseCommand(byOutput, false))
	x.must(c.next(tx))
	check()
	rewind, _ = c.back(1)
	x.must(rewind)
	x.must(replaceCommand(ids[2]))
	x.restart()
	x.status(bourse.WalletDone, bourse.TxHash{}, ids[1:]...)
	x.must(c.next(tx))
	check()
}

// TestJoinedBesideAnother mines a joined transaction beside another one of a withdrawal, after a reorganisation deeper
// than the confirmations for which that one was signed, and mines both again in the other order: the first that a block
// has pays.
func TestJoinedBesideAnother(t *testing.T) {
	x, c, _ := funded(t, true)
	ids := x.three()
	list, _ := c.unspent()
	all, s := x.joinOutputs(c, 2, ids...)
	x.must(recordCommand(1, s))
	x.must(replaceCommand(ids[0]))
	for _, id := range ids[1:] {
		x.must(askingCommand(id))
	}
	tx, two := x.joinOutputs(c, 3, ids[1:]...)
	x.must(recordCommand(2, two))
	x.must(c.next(tx))
	x.mine(c, target-1)
	x.must(askingCommand(ids[0]))
	alone, _ := c.pay(list[1:2], 100, 5)
	x.must(recordCommand(3, &bourse.SignedTx{
		Network: byOutput, Kind: bourse.SignedWithdrawal, Wallet: ids[0], Tx: alone.Hash, Raw: []byte{1}, Inputs: alone.Spent,
	}))
	x.status(bourse.WalletProcessing, alone.Hash, ids[0])
	rewind, _ := c.back(target)
	x.must(rewind)

	x.must(c.next(alone))
	x.must(c.next(all))
	x.status(bourse.WalletDone, alone.Hash, ids[0])
	x.status(bourse.WalletDone, all.Hash, ids[1:]...)
	x.wantOwn(btc, map[bourse.AccountID]int64{treasury: 900, bourse.AccountInTransit: 0, bourse.AccountNetworkCosts: -7})

	for range 2 {
		rewind, _ = c.back(2)
		x.must(rewind)
		x.restart()
		x.must(c.next(all))
		x.status(bourse.WalletDone, all.Hash, ids...)
		x.wantOwn(btc, map[bourse.AccountID]int64{treasury: 1000, bourse.AccountInTransit: 0, bourse.AccountNetworkCosts: -2})
		x.refused(bourse.NotSigned, sentCommand(byOutput, alone.Hash))
		x.must(c.next(alone))
		x.restart()
		x.wantOwn(btc, map[bourse.AccountID]int64{treasury: 895, bourse.AccountInTransit: 0, bourse.AccountNetworkCosts: -2})
	}
	x.wantBalance(1, btc, 388, 0)
}

// TestJoinedWithoutSomeone takes over a joined transaction with a withdrawal that this journal does not know, or of
// which it has another amount: the network halts, and nobody can cancel what may be paid. If it is mined, it pays the
// known ones.
func TestJoinedWithoutSomeone(t *testing.T) {
	for name, change := range map[string]func(s *bourse.SignedTx){
		"unknown":         func(s *bourse.SignedTx) { s.Joined[2].Wallet = 99 },
		"another amount":  func(s *bourse.SignedTx) { s.Joined[2].Amount = bourse.Units(299) },
		"nobody is asked": func(s *bourse.SignedTx) { s.Joined[2].Wallet++ },
	} {
		t.Run(name, func(t *testing.T) {
			x, c, _ := funded(t, true)
			ids := x.three()
			x.must(withdrawCommand(1, withdrawOf(btc, 300, 4)))
			tx, s := x.joinOutputs(c, 2, ids...)
			change(s)
			x.must(recordCommand(1, s))
			x.restart()
			if got := x.e.NetworkState(byOutput).Halted; got != bourse.HaltUnknownSigned {
				t.Fatalf("halted by %q", got)
			}
			for _, id := range ids[:2] {
				x.refused(bourse.WithdrawalSigned, cancelCommand(1, uint64(id)))
			}
			x.refused(bourse.NotSigned, sentCommand(byOutput, s.Tx))
			if next := x.must(withdrawCommand(1, withdrawOf(btc, 5, 4))); next <= uint64(s.Joined[2].Wallet) {
				t.Errorf("%d is allotted again, as %d", s.Joined[2].Wallet, next)
			}
			x.must(c.next(tx))
			x.restart()
			x.status(bourse.WalletDone, tx.Hash, ids[:2]...)
		})
	}
}

// TestJoinedOutdates orders the release of a withdrawal, whose joined transaction is then given up for another one: the
// operators do not know that it has none, or another one, since.
func TestJoinedOutdates(t *testing.T) {
	x, c, _ := funded(t, true)
	x.must(x.hire(bourse.RoleOwner))
	x.must(x.hire(bourse.RoleOwner))
	ids := x.three()
	_, s := x.joinOutputs(c, 2, ids...)
	x.must(recordCommand(1, s))
	release := x.actOf(ann, releaseCommand(ids[2]))
	of := x.must(release)
	x.must(replaceCommand(ids[0]))
	x.refused(bourse.ActOutdated, approveCommand(of, bob, &release))

	again := x.actOf(ann, releaseCommand(ids[1]))
	of = x.must(again)
	for _, id := range ids {
		x.must(askingCommand(id))
	}
	_, s = x.joinOutputs(c, 3, ids...)
	x.must(recordCommand(2, s))
	x.refused(bourse.ActOutdated, approveCommand(of, bob, &again))
}

// TestStrandedJoinedIsPaid mines a stranger's transaction in the place of a joined one that was given up. Operators say
// that it paid one of its withdrawals, and if it took as much as all of them, it paid all. It pays no other part.
func TestStrandedJoinedIsPaid(t *testing.T) {
	stranded := func() (x *exchange, c *chain, ids []bourse.WalletID, first bourse.TxEffect) {
		x, c, _ = funded(t, true)
		ids = x.three()
		first, s := x.joinOutputs(c, 3, ids...)
		s.Cost = bourse.AssetAmount{Asset: btc, Amount: bourse.Units(3)}
		x.must(recordCommand(1, s))
		x.must(replaceCommand(ids[0]))
		return x, c, ids, first
	}
	paid := func(id bourse.WalletID, tx bourse.TxHash) bourse.Command {
		return walletCommand(bourse.CommandPaidWithdrawal, 0, bourse.WalletCommand{ID: id, Tx: tx})
	}

	x, c, ids, first := stranded()
	tx, _ := x.joinOutputs(c, 2, ids[1:]...) // the amount of two
	x.must(c.next(tx))
	for _, id := range ids {
		x.refused(bourse.NotPaid, paid(id, tx.Hash))
	}
	rewind, _ := c.back(1)
	x.must(rewind)

	tx, _ = x.joinOutputs(c, 2, ids[1])
	x.must(c.next(tx))
	x.must(paid(ids[1], tx.Hash))
	check := func() {
		t.Helper()
		x.restart()
		x.status(bourse.WalletDone, tx.Hash, ids[1])
		x.status(bourse.WalletProcessing, bourse.TxHash{}, ids[0], ids[2])
		x.wantOwn(btc, map[bourse.AccountID]int64{treasury: 1000, bourse.AccountInTransit: 0, bourse.AccountNetworkCosts: -2})
	}
	check()
	x.refused(bourse.NotPaid, paid(ids[0], tx.Hash))

	// Its block leaves the chain, and the bytes that were given up pay all three.
	rewind, _ = c.back(1)
	x.must(rewind)
	x.wantOwn(btc, map[bourse.AccountID]int64{bourse.AccountInTransit: 200, bourse.AccountNetworkCosts: 0})
	x.must(c.next(first))
	x.restart()
	x.status(bourse.WalletDone, first.Hash, ids...)
	x.wantOwn(btc, map[bourse.AccountID]int64{treasury: 1000, bourse.AccountInTransit: 0, bourse.AccountNetworkCosts: -3})
	x.mine(c, target)

	x, c, ids, _ = stranded()
	tx, _ = x.joinOutputs(c, 2, ids...)
	x.must(c.next(tx))
	x.must(paid(ids[2], tx.Hash))
	x.restart()
	x.status(bourse.WalletDone, tx.Hash, ids...)
	x.wantOwn(btc, map[bourse.AccountID]int64{treasury: 1000, bourse.AccountInTransit: 0, bourse.AccountNetworkCosts: -2})
	x.refused(bourse.NotProcessing, paid(ids[0], tx.Hash))

	// The money of one went back to its customer: the others are not marked with it.
	x, c, ids, _ = stranded()
	x.must(releaseCommand(ids[0]))
	tx, _ = x.joinOutputs(c, 2, ids...)
	x.must(c.next(tx))
	x.refused(bourse.NotPaid, paid(ids[2], tx.Hash))
}

// TestRecordOfAnotherNetwork mines what the signer of one network signed for an id that is another network's withdrawal
// here, as after a restore. It pays that withdrawal under older rules, whose journals replay as they did, and nothing
// since.
func TestRecordOfAnotherNetwork(t *testing.T) {
	for rules, want := range map[uint32]bourse.WalletStatus{
		bourse.RulesJoined - 1: bourse.WalletDone, bourse.RulesJoined: bourse.WalletProcessing,
	} {
		x, _, a := funded(t, true)
		x.must(bourse.Command{Kind: bourse.CommandSetRules, Rules: rules})
		x.must(bourse.Command{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: termsOf(byAccount, btc)})
		x.must(a.next(a.output(treasury, btc, 500)))
		id := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(btc, 100, 4))))
		tx, s := signAccount(a, id, 0, takes(hot, btc, 100), takes(hot, eth, 3))
		x.must(recordCommand(1, s))
		x.unchecked = rules < bourse.RulesJoined // custody finds the payment on no network
		x.must(a.next(tx))
		if w := x.e.Withdrawal(id); w == nil || w.Status != want {
			t.Errorf("under rules %d the withdrawal is %+v", rules, w)
		}
		if rules < bourse.RulesJoined {
			rewind, _ := a.back(1)
			x.must(rewind)
			x.must(a.next(tx))
			x.wantOwn(btc, map[bourse.AccountID]int64{bourse.AccountInTransit: 0, treasury: 1500})
		}
	}
}
