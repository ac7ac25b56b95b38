package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
)

// signMove signs a sweep from an address of a customer, or a top-up from the hot one.
func signMove(a *chain, from uint32, nonce uint64, tx *bourse.TxEffect) *bourse.SignedTx {
	_, s := signAccount(a, 0, nonce)
	tx.Hash, s.From, s.Kind = s.Tx, from, bourse.SignedSweep
	if from == hot {
		s.Kind = bourse.SignedTopUp
	}
	return s
}

func topUpOf(cost uint64) bourse.TxEffect {
	return bourse.TxEffect{
		Outflows: []bourse.Outflow{takes(hot, eth, 10+cost)}, Inflows: []bourse.Inflow{brings(1, eth, 10)},
	}
}

func sweepOf(cost uint64) bourse.TxEffect {
	return bourse.TxEffect{
		Outflows: []bourse.Outflow{takes(1, eth, 300)}, Inflows: []bourse.Inflow{brings(treasury, eth, 300-cost)},
	}
}

func dropMove(s *bourse.SignedTx) bourse.Command {
	return walletCommand(bourse.CommandReleaseWithdrawal, 0, bourse.WalletCommand{Network: s.Network, Tx: s.Tx})
}

// TestDroppedMovesAreMined mines a sweep and a top-up that were given up, in the place of what was signed in
// theirs: they move money between addresses of the exchange, and bring nobody any.
func TestDroppedMovesAreMined(t *testing.T) {
	for _, of := range []struct {
		name string
		from uint32
		made func(cost uint64) bourse.TxEffect
	}{{"sweep", 1, sweepOf}, {"top-up", hot, topUpOf}} {
		t.Run(of.name, func(t *testing.T) {
			x, _, a := funded(t, true)
			tx, next := of.made(2), of.made(3)
			first := signMove(a, of.from, 0, &tx)
			x.must(signedCommand(first))
			x.must(sentCommand(byAccount, first.Tx))
			x.must(dropMove(first))
			second := signMove(a, of.from, 0, &next)
			x.must(signedCommand(second))
			x.restart()

			x.must(a.next(tx))
			moved := func() {
				t.Helper()
				if len(x.ev.Wallet.Deposits) != 0 {
					t.Fatalf("it is a deposit: %+v", x.deposit())
				}
				x.wantOwn(eth, map[bourse.AccountID]int64{
					treasury: 1000, bourse.AccountNetworkCosts: -2, bourse.AccountPendingDeposits: 0,
				})
				if got := x.e.NetworkState(byAccount).Halted; got != 0 {
					t.Fatalf("halted by %q", got)
				}
			}
			moved()
			x.refused(bourse.AlreadyMined, dropMove(first))
			x.refused(bourse.NotSigned, dropMove(second))
			x.refused(bourse.NotSigned, sentCommand(byAccount, second.Tx))
			x.restart()

			rewind, _ := a.back(1)
			x.must(rewind)
			x.wantOwn(eth, map[bourse.AccountID]int64{bourse.AccountNetworkCosts: 0})
			x.refused(bourse.NotSigned, sentCommand(byAccount, first.Tx))
			last := of.made(4)
			third := signMove(a, of.from, 0, &last)
			x.must(signedCommand(third))
			x.restart()
			x.must(a.next(tx))
			moved()
			x.refused(bourse.NotSigned, sentCommand(byAccount, third.Tx))

			x.mine(a, target)
			x.wantBalance(1, eth, 500, 0)
		})
	}
}

// TestMovesMinedBeforeTheyAreTold takes in a block with a sweep or top-up before the signer's record tells of it.
// What a top-up brought was a deposit until then; a credited one stays the treasury's loss.
func TestMovesMinedBeforeTheyAreTold(t *testing.T) {
	for name, of := range map[string]struct {
		from uint32
		tx   bourse.TxEffect
		deep int
	}{
		"sweep": {1, sweepOf(2), target}, "top-up": {hot, topUpOf(2), 0}, "credited top-up": {hot, topUpOf(2), target},
	} {
		t.Run(name, func(t *testing.T) {
			x, _, a := funded(t, true)
			s := signMove(a, of.from, 0, &of.tx)
			x.must(a.next(of.tx))
			x.mine(a, of.deep)
			x.must(recordCommand(1, s))
			x.restart()
			if name == "credited top-up" {
				x.wantBalance(1, eth, 510, 0)
				x.wantOwn(eth, map[bourse.AccountID]int64{treasury: 988, bourse.AccountNetworkCosts: 0})
				return
			}

			costs := map[bourse.AccountID]int64{
				treasury: 1000, bourse.AccountNetworkCosts: -2, bourse.AccountPendingDeposits: 0,
			}
			x.wantOwn(eth, costs)
			rewind, _ := a.back(1 + of.deep)
			x.must(rewind)
			x.wantOwn(eth, map[bourse.AccountID]int64{treasury: 1000, bourse.AccountNetworkCosts: 0})
			x.must(a.next(of.tx))
			x.mine(a, 2*target)
			x.wantOwn(eth, costs)
			x.wantBalance(1, eth, 500, 0)
		})
	}
}

// TestDroppedTopUpAndWithdrawal mines a top-up that was given up in the place of a withdrawal that has its nonce. The
// withdrawal keeps its transaction, until an operator releases it.
func TestDroppedTopUpAndWithdrawal(t *testing.T) {
	x, _, a := funded(t, true)
	tx := topUpOf(2)
	s := signMove(a, hot, 0, &tx)
	x.must(signedCommand(s))
	x.must(dropMove(s))
	id := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(eth, 100, 4))))
	_, pays := signAccount(a, id, 0, takes(hot, eth, 103))
	x.must(signedCommand(pays))
	x.must(sentCommand(byAccount, pays.Tx))
	x.must(a.next(tx))
	x.restart()
	if w := x.e.Withdrawal(id); w.Tx != pays.Tx {
		t.Fatalf("it is %+v", w)
	}
	x.wantOwn(eth, map[bourse.AccountID]int64{treasury: 1000, bourse.AccountInTransit: 100, bourse.AccountNetworkCosts: -2})
	x.must(walletCommand(bourse.CommandReleaseWithdrawal, 0, bourse.WalletCommand{ID: id}))
	x.wantBalance(1, eth, 500, 0)
}
