package chaintest

import (
	"errors"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
)

// testBlocks checks heights, parents and the end of the chain.
func testBlocks(d *desk) {
	before := d.head()
	after := d.mine(3)
	if after.Height != before.Height+3 || d.head() != after {
		d.Errorf("from %d to %d by 3 blocks", before.Height, after.Height)
	}

	if b := d.block(after.Height); b.BlockRef != after || b.Time <= 0 {
		d.Errorf("the head is %v", b.BlockRef)
	}

	_, err := d.Network.Block(d.Context(), after.Height+1)
	d.wants("above the head", err, chain.ErrNoBlock)
	h, err := d.Network.Health(d.Context())
	if err != nil || !h.Operating || h.Reason != "" || h.HeadTime <= 0 {
		d.Errorf("health is %v, %v", h, err)
	}
}

func (d *desk) pay(index uint32, coin chain.Coin, amount bourse.Amount) chain.Pay {
	return chain.Pay{To: d.Network.Destination(index), Coin: coin.ID, Amount: amount}
}

// testDeposit checks that a payment appears in the block that mines it, and in none
// before.
func testDeposit(d *desk) {
	for _, coin := range d.some() {
		before := d.head().Height
		sum := amount(coin)
		hash := d.send(d.pay(2, coin, sum))
		if d.head().Height != before || d.height(hash) != 0 {
			d.Fatal("a payment was in a block before one was made")
		}

		height := d.mine(1).Height
		d.mine(2) // deeper

		at, owner := d.height(hash), chain.Owner{}
		if at != height {
			d.Errorf("mined at %d, found at %d", height, at)
		}
		if found := d.deposits(height); len(found) != 1 || found[0].coin != coin.ID || found[0].sum != sum {
			d.Errorf("found %v", found)
		} else {
			owner = found[0].owner
		}
		if owner.Kind != chain.OwnerCustomer || owner.Index != 2 {
			d.Errorf("belongs to %v", owner)
		}
	}
}

// testSeveralOutputs checks that each output of a transaction counts once.
func testSeveralOutputs(d *desk) {
	coin := d.shape().Coins[0]
	if d.Several != "" {
		coin, _ = d.shape().Coin(d.Several)
	}
	to := []uint32{1, 2, 1, 3}
	if d.shape().MemoName != "" {
		to = []uint32{1, 1, 1, 1}
	}

	var pays []chain.Pay
	for i, index := range to {
		pays = append(pays, d.pay(index, coin, bourse.Units(uint64(1000+i))))
	}

	hash := d.send(pays...)
	found := d.deposits(d.mine(1).Height)
	if len(found) != len(pays) {
		d.Fatalf("found %v", found)
	}

	seen := map[uint32]bool{}
	for i, f := range found {
		if f.tx != hash || seen[f.index] || f.owner.Index != to[i] || f.sum != pays[i].Amount {
			d.Errorf("output %d is %v", i, f)
		}
		seen[f.index] = true
	}
}

// testNobodysMemo checks that payments with memos of no account reach the exchange
// without an owner.
func testNobodysMemo(d *desk) {
	coin := d.shape().Coins[0]
	address := d.Network.Destination(1).Address
	for _, memo := range []string{"", "0", "1", "100", "-1", "treasure",
		d.Network.Destination(accounts + 1).Memo, "0" + d.Network.Destination(1).Memo} {
		d.send(chain.Pay{To: chain.Destination{Address: address, Memo: memo}, Coin: coin.ID, Amount: amount(coin)})
		found := d.deposits(d.mine(1).Height)
		if len(found) != 1 || found[0].owner.Kind != chain.OwnerNobody || found[0].sum != amount(coin) {
			d.Errorf("memo %q: found %v", memo, found)
		}
	}
}

// testDust checks that a payment of one unit is reported.
func testDust(d *desk) {
	coin := d.shape().Coins[0]
	d.send(d.pay(1, coin, bourse.Units(1)))
	if found := d.deposits(d.mine(1).Height); len(found) != 1 || found[0].sum != bourse.Units(1) {
		d.Errorf("found %v", found)
	}
}

// testFailedDeposit checks that a mined transaction without effect is no deposit: a token
// that returns false, a payment out of gas or money.
func testFailedDeposit(d *desk) {
	for _, coin := range d.some() {
		hash, err := d.Outside.SendFailing(d.pay(1, coin, amount(coin)))
		d.must(err)
		height := d.mine(1).Height
		tx := d.tx(height, hash)
		if tx == nil {
			d.Fatalf("the payment of %s is not in the block", coin.ID)
		}
		if found := d.deposits(height); len(found) > 0 || len(tx.Credits) > 0 {
			d.Errorf("%s that did not arrive: found %v", coin.ID, found)
		}
	}
}

// testMinedAgain checks two deposits through a reorganisation: they disappear, and return
// with the same names and indices in another order.
func testMinedAgain(d *desk) {
	coin := d.shape().Coins[0]
	d.send(d.pay(1, coin, amount(coin)))
	d.send(d.pay(2, coin, amount(coin)))

	first := d.mine(1)
	before := d.deposits(first.Height)
	d.mine(1)

	head, err := d.Outside.Reorg(2, false)
	d.must(err)
	if other := d.block(first.Height); other.Hash == first.Hash || len(d.deposits(first.Height)) > 0 ||
		head != d.head() {
		d.Errorf("block %d is still %v", first.Height, other)
	}

	if head.Height <= first.Height+1 {
		d.Errorf("a chain took the place of one that was as long")
	}

	for _, f := range before {
		if at := d.height(f.tx); at != 0 {
			d.Errorf("a payment that waits again is in block %d", at)
		}
	}

	after := d.deposits(d.mine(1).Height)
	slices.Reverse(after)
	if len(before) != 2 || !slices.Equal(before, after) {
		d.Errorf("was %v, and is %v in the other order", before, after)
	}
}

// testDropped checks a deposit that a reorganisation drops and that returns later.
func testDropped(d *desk) {
	coin := d.shape().Coins[0]
	hash := d.send(d.pay(1, coin, amount(coin)))
	d.mine(1)
	_, err := d.Outside.Reorg(1, true)
	d.must(err)
	d.mine(5)
	if at := d.height(hash); at != 0 {
		d.Fatalf("dropped, and in block %d", at)
	}
	d.must(d.Outside.Restore())
	height := d.mine(1).Height
	if found := d.deposits(height); len(found) != 1 || found[0].tx != hash {
		d.Errorf("found %v", found)
	}
}

// testSpentTwice checks a deposit that is double-spent, before it is mined and after.
func testSpentTwice(d *desk) {
	coin := d.shape().Coins[0]
	for _, mined := range []bool{false, true} {
		hash := d.send(d.pay(1, coin, amount(coin)))
		if mined {
			d.mine(1)
		}
		other, err := d.Outside.DoubleSpend(hash)
		d.must(err)
		d.mine(2)
		d.must(d.Outside.Restore())
		d.mine(2)
		if d.height(other) == 0 || d.height(hash) != 0 || other == hash {
			d.Errorf("mined %t: one is at %d, the other at %d", mined, d.height(hash), d.height(other))
		}
	}
}

// testRestart checks that blocks and pending transactions survive a restart.
func testRestart(d *desk) {
	coin := d.shape().Coins[0]
	d.send(d.pay(1, coin, amount(coin)))
	d.mine(2)

	if !d.Final {
		_, err := d.Outside.Reorg(1, false)
		d.must(err)
	}
	waits := d.send(d.pay(2, coin, amount(coin)))
	before := d.head()

	d.Restart(d.T)
	if after := d.head(); after != before {
		d.Fatalf("was at %v, is at %v", before, after)
	}
	_, err := d.Network.Block(d.Context(), before.Height+1)
	if !errors.Is(err, chain.ErrNoBlock) {
		d.Errorf("above the head: %v", err)
	}
	if found := d.deposits(d.mine(1).Height); len(found) != 1 || found[0].tx != waits {
		d.Errorf("found %v", found)
	}
}
