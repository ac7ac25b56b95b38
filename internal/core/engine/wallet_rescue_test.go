package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/custody"
)

func followCommand(b *bourse.BlockEffect) bourse.Command {
	return walletCommand(bourse.CommandFollowChain, 0, bourse.WalletCommand{Network: b.Network, Height: b.Height, Tx: b.Hash})
}

// takeAllBack takes back all blocks of a chain that are remembered, and one more, which is refused and halts the network.
func (x *exchange) takeAllBack(c *chain) {
	x.tb.Helper()
	remembered := min(len(c.blocks), custody.MaxBlocks)
	rewind, _ := c.back(remembered - 1)
	x.must(rewind)
	rewind, _ = c.back(1)
	if got := x.do(rewind); got != bourse.RewindTooDeep {
		x.tb.Fatalf("the oldest block is taken back: %q", got)
	}
}

// rewritten returns a chain from block one on, which has the transactions of the blocks below a height but some.
func (c *chain) rewritten(below int, without ...bourse.TxHash) *chain {
	other := &chain{network: c.network, hashes: c.hashes + 1<<40}
	for _, b := range c.blocks[:below] {
		var txs []bourse.TxEffect
		for _, tx := range b.Txs {
			gone := false
			for _, hash := range without {
				gone = gone || hash == tx.Hash
			}
			if !gone {
				txs = append(txs, tx)
			}
		}
		other.next(txs...)
	}
	return other
}

// takeIn takes in the blocks of a chain.
func (x *exchange) takeIn(c *chain) {
	x.tb.Helper()
	for _, b := range c.blocks {
		x.must(blockCommand(b))
	}
}

// TestChainBeginsAnew replaces more blocks than are remembered. Operators have the network follow the other chain: what was
// credited stays credited, the treasury has what the other chain lacks, and nothing is credited twice.
func TestChainBeginsAnew(t *testing.T) {
	for _, asset := range []bourse.AssetID{btc, eth} {
		x := newExchange(t, true)
		x.unchecked = true // thousands of blocks
		c := &chain{network: byOutput}
		if asset == eth {
			c.network = byAccount
		}
		kept, lost, parked := c.output(1, asset, 1000), c.output(2, asset, 300), c.output(nobody, asset, 70)
		x.must(c.next(c.output(treasury, asset, 5000)))
		x.must(c.next(kept))
		x.must(c.next(lost, parked))
		number := x.deposit().Number
		x.mine(c, target)
		x.refused(bourse.ChainStands, followCommand(c.blocks[0]))

		id := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(asset, 100, 4))))
		paid, s := signAccount(c, id, 0, takes(hot, asset, 100), takes(hot, asset, 3))
		if asset == btc {
			paid, s = x.signOutputs(c, id, 100, 3)
		}
		x.must(signedCommand(s))
		x.must(c.next(paid))
		x.mine(c, custody.MaxBlocks)
		last := c.output(3, asset, 50)
		x.must(c.next(last))
		x.mine(c, target)
		x.unchecked = false
		x.wantBalance(2, asset, 300, 0)
		x.wantBalance(3, asset, 50, 0)

		x.unchecked = true
		whole := *c
		x.takeAllBack(c)
		x.unchecked = false
		x.wantOwn(asset, map[bourse.AccountID]int64{bourse.NetworkAccount(c.network): -(5000 + 1000 + 300 + 70 - 103), treasury: 5000})

		// The other chain has neither the lost deposit nor the last one, and the payment.
		other := whole.rewritten(7, lost.Hash)
		x.must(followCommand(other.blocks[6]))
		x.wantOwn(asset, map[bourse.AccountID]int64{
			bourse.NetworkAccount(c.network): 0, treasury: 5000 - (5000 + 1000 + 300 - 103), bourse.AccountParked: 0,
			bourse.AccountPendingDeposits: -50,
		})
		x.restart()
		if got := x.e.NetworkState(c.network); !got.Paused || got.Halted != 0 || got.Tip != (bourse.BlockRef{}) {
			t.Errorf("it begins anew with %+v", got)
		}
		above := *other.blocks[6]
		above.Height++
		x.refused(bourse.BlockOutOfOrder, blockCommand(&above))

		x.takeIn(other)
		x.restart()
		x.refused(bourse.ChainStands, followCommand(other.blocks[6]))
		x.wantOwn(asset, map[bourse.AccountID]int64{
			bourse.NetworkAccount(c.network): -(5000 + 1000 + 70 - 103), treasury: 5000 - 300, bourse.AccountParked: 70,
		})
		x.wantBalance(1, asset, 896, 0)
		x.wantBalance(2, asset, 300, 0)

		// A remembered deposit comes back as itself, and an unknown one is new.
		x.must(other.next(last, other.output(2, asset, 40)))
		x.mine(other, target)
		x.wantBalance(3, asset, 50, 0)
		x.wantBalance(2, asset, 340, 0)
		x.must(walletCommand(bourse.CommandAssignDeposit, 1, bourse.WalletCommand{Deposit: number}))
		x.wantBalance(1, asset, 966, 0)
		x.wantOwn(asset, map[bourse.AccountID]int64{bourse.AccountPendingDeposits: 0, treasury: 5000 - 300})

		rewind, _ := other.back(len(other.blocks) - 1)
		x.must(rewind)
		x.restart()
	}
}

// TestAnotherChainThanNamed wants a block at the named height to be the named one. Operators can name another one then.
func TestAnotherChainThanNamed(t *testing.T) {
	x := newExchange(t, true)
	c := &chain{network: byOutput}
	x.must(c.next(c.output(treasury, btc, 1000)))
	x.must(c.next(c.output(1, btc, 500)))
	x.mine(c, target)
	whole := *c
	x.takeAllBack(c)
	other := whole.rewritten(4)
	named := *other.blocks[2]
	named.Hash = bourse.TxHash{9}
	x.must(followCommand(&named))

	x.must(blockCommand(other.blocks[0]))
	x.must(blockCommand(other.blocks[1]))
	x.refused(bourse.BlockInconsistent, blockCommand(other.blocks[2]))
	x.must(followCommand(other.blocks[2]))
	x.takeIn(other)
	x.wantOwn(btc, map[bourse.AccountID]int64{bourse.NetworkAccount(byOutput): -1500, treasury: 1000})
	x.wantBalance(1, btc, 500, 0)
}

// TestBlockInFlight has operators name another block while the worker hands in the next one of a chain that is counted anew. That
// block was read before, and is not the first one of the chain that begins anew: the coins below it would be missing.
func TestBlockInFlight(t *testing.T) {
	x := newExchange(t, true)
	c := &chain{network: byOutput}
	x.must(c.next(c.output(treasury, btc, 1000)))
	x.must(c.next(c.output(1, btc, 500)))
	x.mine(c, target)
	whole := *c
	x.takeAllBack(c)
	other := whole.rewritten(5)
	x.must(followCommand(other.blocks[3]))
	x.refused(bourse.BlockOutOfOrder, blockCommand(whole.blocks[1]))
	x.must(blockCommand(other.blocks[0]))
	x.must(blockCommand(other.blocks[1]))
	x.must(followCommand(other.blocks[4]))
	x.must(followCommand(other.blocks[3]))
	x.restart()
	x.refused(bourse.BlockOutOfOrder, blockCommand(other.blocks[2]))
	x.takeIn(other)
	x.wantOwn(btc, map[bourse.AccountID]int64{bourse.NetworkAccount(byOutput): -1500, treasury: 1000})
	x.restart()
}

// TestStrandedWithdrawalIsPaid mines a transaction in the place of one that was given up, which the journal does not know as
// the exchange's. Operators say that it paid: the withdrawal is done, and no second one is paid by it.
func TestStrandedWithdrawalIsPaid(t *testing.T) {
	for _, asset := range []bourse.AssetID{btc, eth, usdt} {
		x, c, a := funded(t, true)
		id := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(asset, 100, 4))))
		other := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(asset, 100, 4))))
		pays := func(id bourse.WalletID, amount, cost uint64) (bourse.TxEffect, *bourse.SignedTx) {
			tx, s := signAccount(a, id, 0, takes(hot, asset, amount), takes(hot, eth, cost))
			s.Cost = bourse.AssetAmount{Asset: eth, Amount: bourse.Units(3)}
			if asset == btc {
				tx, s = x.signOutputs(c, id, amount, cost)
				s.Cost = bourse.AssetAmount{Asset: btc, Amount: bourse.Units(3)}
			}
			return tx, s
		}
		on := a
		if asset == btc {
			on = c
		}
		_, rival := pays(other, 100, 3)
		_, s := pays(id, 100, 3)
		for _, s := range []*bourse.SignedTx{rival, s} { // with the same output, or the same nonce
			x.must(signedCommand(s))
			x.must(walletCommand(bourse.CommandReplaceWithdrawal, 0, bourse.WalletCommand{ID: s.Wallet}))
		}
		paid := func(id bourse.WalletID, tx bourse.TxHash) bourse.Command {
			return walletCommand(bourse.CommandPaidWithdrawal, 0, bourse.WalletCommand{ID: id, Tx: tx})
		}

		// One that took less than the amount did not pay it.
		tx, _ := pays(id, 90, 3)
		x.must(on.next(tx))
		x.refused(bourse.NotPaid, paid(id, tx.Hash))
		rewind, _ := on.back(1)
		x.must(rewind)

		tx, _ = pays(id, 100, 2)
		x.refused(bourse.NotPaid, paid(id, tx.Hash))
		x.must(on.next(tx))
		x.wantBalance(1, asset, x.e.Balance(1, asset).Available.Lo, 208)
		x.refused(bourse.NotPaid, paid(id, s.Tx))
		x.refused(bourse.WithdrawalNotFound, paid(other+1, tx.Hash))
		x.must(paid(id, tx.Hash))
		if w := x.withdrawal(); w.Status != bourse.WalletDone || w.Tx != tx.Hash {
			t.Errorf("it is %+v", w)
		}
		x.wantBalance(1, asset, x.e.Balance(1, asset).Available.Lo, 104)
		x.wantOwn(asset, map[bourse.AccountID]int64{bourse.AccountInTransit: 0, treasury: 1000})
		x.refused(bourse.NotProcessing, paid(id, tx.Hash))
		x.refused(bourse.NotPaid, paid(other, tx.Hash))
		x.refused(bourse.AlreadyMined, walletCommand(bourse.CommandReleaseWithdrawal, 0, bourse.WalletCommand{ID: id}))
		x.restart()

		// Its block leaves the chain: the bytes that were given up are offered again. Mined, they pay it.
		rewind, _ = on.back(1)
		x.must(rewind)
		x.wantOwn(asset, map[bourse.AccountID]int64{bourse.AccountInTransit: 100})
		first := tx
		first.Hash = s.Tx
		x.must(on.next(first))
		x.wantOwn(asset, map[bourse.AccountID]int64{bourse.AccountInTransit: 0, treasury: 1000})
		x.mine(on, target)
		x.restart()
	}
}
