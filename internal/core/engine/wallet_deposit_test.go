package engine_test

import (
	"slices"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/custody"
	"github.com/bourse-exchange/bourse/internal/core/engine"
)

func assignCommand(account bourse.AccountID, d bourse.DepositID) bourse.Command {
	return walletCommand(bourse.CommandAssignDeposit, account, bourse.WalletCommand{Deposit: d})
}

func TestDepositIsCreditedOnceAtItsDepth(t *testing.T) {
	x, c := newExchange(t, true), &chain{network: byOutput}
	x.must(c.next(c.output(1, btc, 100)))
	d := *x.deposit()
	if d.Status != bourse.WalletPending || d.ID == 0 || d.Ordinal != 1 || d.Confirms(1) != 1 || d.Target != target {
		t.Fatalf("first seen as %+v", d)
	}
	x.wantBalance(1, btc, 0, 0)
	x.wantOwn(btc, map[bourse.AccountID]int64{bourse.AccountPendingDeposits: 100, bourse.NetworkAccount(byOutput): -100})
	x.mine(c, target-2)
	x.wantBalance(1, btc, 0, 0)
	x.restart()
	x.mine(c, 1)
	x.wantBalance(1, btc, 100, 0)
	if got := x.deposit(); got.Status != bourse.WalletDone || got.ID != d.ID || got.Done == 0 {
		t.Errorf("credited as %+v", got)
	}
	x.mine(c, 5)
	x.wantBalance(1, btc, 100, 0)
}

func TestDepositWhoseBlockLeavesWaits(t *testing.T) {
	for _, network := range []bourse.NetworkID{byOutput, byAccount} {
		asset := btc
		if network == byAccount {
			asset = usdt
		}
		x, c := newExchange(t, true), &chain{network: network}
		x.mine(c, 2)
		x.must(c.next(c.output(1, asset, 100)))
		xid := x.deposit().ID
		rewind, txs := c.back(1)
		x.must(rewind)
		if d := x.deposit(); d.Status != bourse.WalletPending || d.Mined || d.Confirms(2) != 0 {
			t.Fatalf("its block left, and it is %+v", d)
		}
		x.wantOwn(asset, map[bourse.AccountID]int64{bourse.AccountPendingDeposits: 0, bourse.NetworkAccount(network): 0})
		x.restart()
		x.mine(c, target) // one takes the old one's place
		if len(x.ev.Wallet.Deposits) != 0 {
			t.Fatalf("given up too early: %+v", x.deposit())
		}
		x.mine(c, 1)
		if d := x.deposit(); d.Status != bourse.WalletCanceled || d.ID != xid {
			t.Fatalf("it stayed away, and it is %+v", d)
		}
		x.restart()
		x.must(c.next(c.output(2, asset, 20), txs[0]))
		if d := x.deposit(); d.Status != bourse.WalletPending || d.ID != xid || d.Confirms(uint64(len(c.blocks))) != 1 {
			t.Fatalf("mined again, it is %+v", d)
		}
		x.mine(c, target-1)
		x.mine(c, target)
		x.wantBalance(1, asset, 100, 0)
	}
}

// TestAbsenceCountsFromTheHighestBlock takes blocks back one by one, as a scanner
// does that asks for each parent.
func TestAbsenceCountsFromTheHighestBlock(t *testing.T) {
	x, c := newExchange(t, true), &chain{network: byOutput}
	x.mine(c, 2)
	x.must(c.next(c.output(1, btc, minDeposit-1)))
	x.mine(c, 7)
	for range 8 {
		rewind, _ := c.back(1)
		x.must(rewind)
	}
	x.restart()
	x.mine(c, 7+target)
	if len(x.ev.Wallet.Deposits) != 0 {
		t.Fatalf("given up too early: %+v", x.deposit())
	}
	x.mine(c, 1)
	if d := x.deposit(); d.Status != bourse.WalletCanceled {
		t.Errorf("it stayed away, and it is %+v", d)
	}
}

func TestReorganisationAfterCreditHalts(t *testing.T) {
	x, c := newExchange(t, true), &chain{network: byOutput}
	x.mine(c, 1)
	x.must(c.next(c.output(1, btc, 100)))
	x.mine(c, target-1)
	x.wantBalance(1, btc, 100, 0)
	x.must(withdrawCommand(1, withdrawOf(btc, 20, 1)))
	rewind, txs := c.back(target)
	x.must(rewind)
	if got := x.e.NetworkState(byOutput); got.Halted != bourse.HaltReorg {
		t.Fatalf("the network is %+v", got)
	}
	x.wantOwn(btc, map[bourse.AccountID]int64{bourse.AccountPendingDeposits: -100})
	x.wantBalance(1, btc, 79, 21)
	x.restart()
	id := x.must(withdrawCommand(1, withdrawOf(btc, 20, 1)))
	if x.withdrawal().Status != bourse.WalletPending {
		t.Errorf("a withdrawal left a halted network: %+v", x.withdrawal())
	}
	x.must(c.next(txs...))
	x.mine(c, target*2)
	x.wantBalance(1, btc, 58, 42)
	x.wantOwn(btc, map[bourse.AccountID]int64{bourse.AccountPendingDeposits: 0})
	x.must(pauseCommand(byOutput, false))
	if w := x.withdrawal(); w.ID != bourse.WalletID(id) || w.Status != bourse.WalletProcessing {
		t.Errorf("after resuming it is %+v", w)
	}
}

func TestParkedDepositIsAssigned(t *testing.T) {
	x, c := newExchange(t, true), &chain{network: byAccount}
	x.mine(c, 1)
	tx := c.output(nobody, eth, 100)
	tx.Inflows[0].Memo = "who knows"
	x.must(c.next(tx))
	d := *x.deposit()
	if d.Account != 0 || d.ID != 0 || d.Memo != "who knows" {
		t.Fatalf("parked as %+v", d)
	}
	x.mine(c, target)
	x.wantOwn(eth, map[bourse.AccountID]int64{bourse.AccountParked: 100})
	x.restart()
	x.refused(bourse.UnknownAccount, assignCommand(9, d.Number))
	x.refused(bourse.DepositNotFound, assignCommand(2, d.Number+1))
	x.must(assignCommand(2, d.Number))
	x.wantBalance(2, eth, 100, 0)
	if got := x.deposit(); got.ID == 0 || got.Ordinal != 1 || got.Status != bourse.WalletDone {
		t.Errorf("assigned as %+v", got)
	}
	x.refused(bourse.DepositNotFound, assignCommand(2, d.Number))

	// One that is assigned before it is deep enough keeps to its depth, whatever
	// becomes of its block in between.
	x.must(c.next(c.output(nobody, eth, 50)))
	d = *x.deposit()
	x.must(assignCommand(3, d.Number))
	x.wantBalance(3, eth, 0, 0)
	rewind, txs := c.back(1)
	x.must(rewind)
	x.must(c.next(txs...))
	x.wantOwn(eth, map[bourse.AccountID]int64{bourse.AccountParked: 0, bourse.AccountPendingDeposits: 50})
	x.mine(c, target)
	x.wantBalance(3, eth, 50, 0)
}

func TestDepositBelowTheMinimumWaitsForAPerson(t *testing.T) {
	x, c := newExchange(t, true), &chain{network: byOutput}
	x.must(c.next(c.output(1, btc, minDeposit-1)))
	d := *x.deposit()
	x.mine(c, target*3)
	x.wantBalance(1, btc, 0, 0)
	if !d.BelowMin || d.Status != bourse.WalletPending || d.ID == 0 {
		t.Errorf("listed as %+v", d)
	}
	x.refused(bourse.DepositNotFound, assignCommand(2, d.Number))
	x.must(assignCommand(1, d.Number))
	x.wantBalance(1, btc, minDeposit-1, 0)
}

func TestSeveralOutputsCountEach(t *testing.T) {
	x, c := newExchange(t, true), &chain{network: byOutput}
	tx := c.output(1, btc, 100)
	for i, units := range []uint64{30, 40, 50} {
		o := brings(bourse.AccountID(1+i%2), btc, units)
		o.Index = uint32(i) + 5
		tx.Inflows = append(tx.Inflows, o)
	}
	x.must(c.next(tx, c.output(treasury, btc, 7)))
	x.mine(c, target)
	x.wantBalance(1, btc, 180, 0)
	x.wantBalance(2, btc, 40, 0)
	x.wantOwn(btc, map[bourse.AccountID]int64{bourse.NetworkAccount(byOutput): -227, treasury: 7})
}

func TestDepositsGoOnWhateverIsDisabled(t *testing.T) {
	x, c := newExchange(t, true), &chain{network: byOutput}
	x.must(bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{Symbol: "BTC", Name: "BTC", Scale: 10}})
	x.must(bourse.Command{Kind: bourse.CommandDefineNetwork, Network: &bourse.Network{Symbol: "BTC", Name: "BTC"}})
	x.must(freezeCommand(1, true))
	x.must(pauseCommand(byOutput, true))
	x.must(c.next(c.output(1, btc, 100)))
	x.mine(c, target)
	x.wantBalance(1, btc, 100, 0)
	x.refused(bourse.AccountFrozen, withdrawCommand(1, withdrawOf(btc, 50, 1)))
	x.must(freezeCommand(1, false))
	x.refused(bourse.WithdrawalsClosed, withdrawCommand(1, withdrawOf(btc, 50, 1)))
}

// TestInconsistentBlocksChangeNothing gives blocks that no honest node would
// answer.
func TestInconsistentBlocksChangeNothing(t *testing.T) {
	x, c, a := newExchange(t, true), &chain{network: byOutput}, &chain{network: byAccount}
	first := c.output(1, btc, 100)
	x.must(c.next(first))
	x.must(a.next(a.output(1, eth, 100)))
	x.mine(a, 1)
	spends := func(at bourse.Outpoint, units uint64) bourse.TxEffect {
		return bourse.TxEffect{
			Hash: c.hash(), Spent: []bourse.Outpoint{at},
			Outflows: []bourse.Outflow{{Address: 1, Asset: btc, Amount: bourse.Units(units)}},
		}
	}
	there := bourse.Outpoint{Tx: first.Hash}
	twice := spends(there, 200)
	twice.Spent = append(twice.Spent, there)
	foreign := c.output(1, btc, 5)
	foreign.Inflows[0].Asset = eth
	for name, txs := range map[string][]bourse.TxEffect{
		"mined again":           {first},
		"spends what is absent": {spends(bourse.Outpoint{Tx: first.Hash, Index: 1}, 100)},
		"spends another amount": {spends(there, 99)},
		"spends twice":          {spends(there, 100), spends(there, 100)},
		"spends twice at once":  {twice},
		"an unknown asset":      {foreign},
		"twice in a block":      {c.output(2, btc, 5), {Hash: c.hash(), Inflows: c.output(2, btc, 1).Inflows}, first},
	} {
		cmd := c.next(txs...)
		c.blocks = c.blocks[:len(c.blocks)-1]
		before := snapshot(x.e)
		x.refused(bourse.BlockInconsistent, cmd)
		// All but the sequence and the time must be as before.
		if after := snapshot(x.e); !slices.Equal(before[20:], after[20:]) {
			t.Errorf("%s: the state changed", name)
		}
	}
	over := a.next(bourse.TxEffect{Hash: a.hash(), Outflows: []bourse.Outflow{{Address: 1, Asset: eth, Amount: bourse.Units(101)}}})
	x.refused(bourse.BlockInconsistent, over)
	a.blocks = a.blocks[:2]
	x.refused(bourse.BlockInconsistent, func() bourse.Command {
		cmd := a.next()
		cmd.Wallet.Block.ByOutput = true
		a.blocks = a.blocks[:2]
		return cmd
	}())
	for _, spoil := range []func(*bourse.BlockEffect){
		func(b *bourse.BlockEffect) { b.Parent[3]++ },
		func(b *bourse.BlockEffect) { b.Height++ },
		func(b *bourse.BlockEffect) { b.Part = 1 },
	} {
		cmd := a.next()
		a.blocks = a.blocks[:2]
		spoil(cmd.Wallet.Block)
		x.refused(bourse.BlockOutOfOrder, cmd)
	}
	cmd := a.next()
	cmd.Wallet.Block.Network = 9
	x.refused(bourse.UnknownNetwork, cmd)
}

// TestBlockInParts takes in a block by three commands; a deposit counts depth
// only from complete blocks.
func TestBlockInParts(t *testing.T) {
	x, c := newExchange(t, true), &chain{network: byOutput}
	x.mine(c, 1)
	many := c.output(1, btc, 100)
	whole := c.next(many).Wallet.Block
	rest := bourse.TxEffect{Hash: many.Hash, Inflows: []bourse.Inflow{brings(2, btc, 50)}}
	rest.Inflows[0].Index = 1
	for part, txs := range [][]bourse.TxEffect{{many}, {rest}, {c.output(3, btc, 60)}} {
		b := *whole
		b.Part, b.More, b.Txs = uint32(part), part < 2, txs
		cmd := blockCommand(&b)
		x.must(cmd)
		x.refused(bourse.BlockOutOfOrder, cmd)
		x.restart()
	}
	x.mine(c, target-1)
	for account, units := range map[bourse.AccountID]uint64{1: 100, 2: 50, 3: 60} {
		x.wantBalance(account, btc, units, 0)
	}
	rewind, _ := c.back(target)
	x.must(rewind)
	x.wantOwn(btc, map[bourse.AccountID]int64{bourse.NetworkAccount(byOutput): 0, bourse.AccountPendingDeposits: -210})
}

// TestBlocksBelowTheWindowAreFinal mines more blocks than are remembered.
func TestBlocksBelowTheWindowAreFinal(t *testing.T) {
	x, c := newExchange(t, true), &chain{network: byOutput}
	x.must(c.next(c.output(1, btc, 100), c.output(nobody, btc, 30)))
	parked, old := x.deposit().Number, c.blocks[0].Txs[1]
	x.unchecked = true
	x.mine(c, custody.MaxBlocks)
	x.unchecked = false
	size := len(snapshot(x.e))
	x.mine(c, 50)
	if grown := len(snapshot(x.e)) - size; grown != 0 {
		t.Errorf("the state grew by %d bytes in 50 empty blocks", grown)
	}
	x.restart()
	rewind := walletCommand(bourse.CommandRewind, 0, bourse.WalletCommand{Network: byOutput, Height: 40})
	x.refused(bourse.RewindTooDeep, rewind)
	if got := x.e.NetworkState(byOutput).Halted; got != bourse.HaltDeepReorg {
		t.Errorf("halted by %q", got)
	}
	x.refused(bourse.BlockInconsistent, c.next(old)) // it waits still, and lies there
	x.must(assignCommand(2, parked))
	x.wantBalance(2, btc, 30, 0)
	x.restart()
}

func TestRewindThatIsNone(t *testing.T) {
	x, c := newExchange(t, true), &chain{network: byOutput}
	rewind := func(height uint64) bourse.Command {
		return walletCommand(bourse.CommandRewind, 0, bourse.WalletCommand{Network: byOutput, Height: height})
	}
	x.refused(bourse.BlockOutOfOrder, rewind(0))
	x.mine(c, 2)
	x.refused(bourse.BlockOutOfOrder, rewind(2))
	x.refused(bourse.BlockOutOfOrder, rewind(7))
	x.refused(bourse.RewindTooDeep, rewind(0)) // the first block has nothing below it
}

// TestStrangeSpendHalts lets money leave by a transaction that nobody signed.
func TestStrangeSpendHalts(t *testing.T) {
	x, c := newExchange(t, true), &chain{network: byOutput}
	tx := c.output(treasury, btc, 100)
	x.must(c.next(tx))
	out, ok := c.pay([]bourse.Outpoint{{Tx: tx.Hash}}, 60, 1)
	if !ok {
		t.Fatal("no transaction")
	}
	x.must(c.next(out))
	if got := x.e.NetworkState(byOutput).Halted; got != bourse.HaltStrangeSpend {
		t.Errorf("halted by %q", got)
	}
	x.wantOwn(btc, map[bourse.AccountID]int64{treasury: 39, bourse.NetworkAccount(byOutput): -39})
	rewind, _ := c.back(1)
	x.must(rewind)
	x.wantOwn(btc, map[bourse.AccountID]int64{treasury: 100, bourse.NetworkAccount(byOutput): -100})
}

// TestAbsurdAmountsAreRefused brings what the ledger cannot count.
func TestAbsurdAmountsAreRefused(t *testing.T) {
	x, c := newExchange(t, true), &chain{network: byAccount}
	x.must(bourse.Command{Kind: bourse.CommandCredit, Account: 1, AssetID: eth, Amount: bourse.MaxAmount.Minus(bourse.Units(50))})
	x.must(c.next(c.output(1, eth, 20)))
	tx := c.output(1, eth, 31)
	x.refused(bourse.Overflow, c.next(tx))
	c.blocks = c.blocks[:1]
	tx.Inflows[0].Amount = bourse.MaxAmount
	x.refused(bourse.BlockInconsistent, c.next(tx))
	c.blocks = c.blocks[:1]
	x.mine(c, target)
	w := withdrawOf(eth, 0, 1)
	w.Amount = bourse.MaxAmount
	x.refused(bourse.Overflow, withdrawCommand(1, w))
	x.must(withdrawCommand(1, withdrawOf(eth, 1000, 1)))
}

// TestRestoreTellsTheWallet wants a restart to tell of everything that is open.
func TestRestoreTellsTheWallet(t *testing.T) {
	x, c, a := newExchange(t, true), &chain{network: byOutput}, &chain{network: byAccount}
	x.must(c.next(c.output(1, btc, 100), c.output(treasury, btc, 1000)))
	x.must(a.next(a.output(treasury, eth, 1000)))
	x.credit(2, eth, 100)
	x.must(withdrawCommand(2, withdrawOf(eth, 50, 1)))
	id := x.withdrawal().ID
	x.must(signedCommand(&bourse.SignedTx{
		Network: byAccount, Kind: bourse.SignedWithdrawal, Wallet: id, Tx: a.hash(), Raw: []byte("raw"),
	}))
	var told bourse.WalletEvents
	var movements uint64
	if _, err := engine.Restore(snapshot(x.e), func(ev *bourse.Events) {
		w := &ev.Wallet
		told.Networks = append(told.Networks, w.Networks...)
		told.Deposits = append(told.Deposits, w.Deposits...)
		told.Withdrawals = append(told.Withdrawals, w.Withdrawals...)
		told.Signed = append(told.Signed, w.Signed...)
		told.Unspent = append(told.Unspent, w.Unspent...)
		told.Holdings = append(told.Holdings, w.Holdings...)
		told.Nonces = append(told.Nonces, w.Nonces...)
		for _, e := range ev.List {
			if e.Kind == bourse.EventAccountRestored {
				movements += ev.Facts[e.At].Movements
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	if len(told.Networks) != 2 || len(told.Deposits) != 1 || len(told.Withdrawals) != 1 || len(told.Signed) != 1 ||
		len(told.Unspent) != 2 || len(told.Holdings) != 1 || len(told.Nonces) != 1 || movements != 2 {
		t.Errorf("told %+v and %d movements", told, movements)
	}
	if string(told.Signed[0].Raw) != "raw" || told.Nonces[0].Next != 1 || told.Withdrawals[0].Tx != told.Signed[0].Tx {
		t.Errorf("told %+v", told)
	}
}
