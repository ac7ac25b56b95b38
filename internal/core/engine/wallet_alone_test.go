package engine_test

import (
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
)

// overAlone returns a transaction whose output one node alone does not credit.
func (c *chain) overAlone(owner bourse.AccountID, asset bourse.AssetID, units uint64) bourse.TxEffect {
	tx := c.output(owner, asset, units)
	tx.Inflows[0].OverAlone = true
	return tx
}

// TestDepositOverAloneWaitsForAPerson lists a deposit beyond what one node alone credits for its customer, and credits it
// once an operator has admitted it for the same account, whatever its depth.
func TestDepositOverAloneWaitsForAPerson(t *testing.T) {
	for network, asset := range map[bourse.NetworkID]bourse.AssetID{byOutput: btc, byAccount: usdt} {
		x, c := newExchange(t, true), &chain{network: network}
		x.must(c.next(c.overAlone(1, asset, 100)))
		d := *x.deposit()
		if !d.OverAlone || d.Status != bourse.WalletPending || d.ID == 0 || d.Ordinal != 1 || d.Account != 1 || !d.NeedsOperator() {
			t.Fatalf("listed as %+v", d)
		}
		x.wantOwn(asset, map[bourse.AccountID]int64{
			bourse.AccountPendingDeposits: 100, bourse.AccountParked: 0, bourse.NetworkAccount(network): -100,
		})

		x.mine(c, target*3)
		x.restart()
		x.mine(c, 1)
		x.wantBalance(1, asset, 0, 0)
		x.refused(bourse.DepositNotFound, assignCommand(2, d.Number))
		x.must(assignCommand(1, d.Number))
		x.wantBalance(1, asset, 100, 0)
		if got := x.deposit(); got.OverAlone || !got.Admitted || got.Status != bourse.WalletDone || got.ID != d.ID {
			t.Errorf("admitted as %+v", got)
		}
	}
}

// TestDepositOverAloneWhoseBlockLeaves takes a deposit back that waits beyond what one node alone credits: it is canceled, and
// waits as before if it is mined after all, also in a block whose part does not mark it.
func TestDepositOverAloneWhoseBlockLeaves(t *testing.T) {
	x, c := newExchange(t, true), &chain{network: byOutput}
	x.mine(c, 2)
	x.must(c.next(c.overAlone(1, btc, 100)))
	d := *x.deposit()
	rewind, txs := c.back(1)
	x.must(rewind)
	x.wantOwn(btc, map[bourse.AccountID]int64{bourse.AccountPendingDeposits: 0, bourse.NetworkAccount(byOutput): 0})
	if x.e.NetworkState(byOutput).Halted != 0 {
		t.Error("the network halts for what was not credited")
	}
	x.mine(c, target+1)
	if got := x.deposit(); got.Status != bourse.WalletCanceled || got.ID != d.ID || got.NeedsOperator() {
		t.Fatalf("it stayed away, and it is %+v", got)
	}
	x.restart()

	txs[0].Inflows[0].OverAlone = false
	x.must(c.next(txs...))
	if got := x.deposit(); got.Status != bourse.WalletPending || !got.OverAlone || !got.Mined || got.ID != d.ID {
		t.Fatalf("mined again, it is %+v", got)
	}
	x.mine(c, target)
	x.wantBalance(1, btc, 0, 0)
	x.must(assignCommand(1, d.Number))
	x.wantBalance(1, btc, 100, 0)
}

// TestDepositOverAloneBelowTheMinimum admits a deposit with one act that is both below the minimum and beyond what one node
// alone credits.
func TestDepositOverAloneBelowTheMinimum(t *testing.T) {
	x, c := newExchange(t, true), &chain{network: byOutput}
	x.must(c.next(c.overAlone(1, btc, minDeposit-1)))
	d := *x.deposit()
	x.mine(c, target)
	x.must(assignCommand(1, d.Number))
	x.wantBalance(1, btc, minDeposit-1, 0)
}

// TestDepositOverAloneUnderOlderRules parks a marked inflow, which is its customer's since rules 4.
func TestDepositOverAloneUnderOlderRules(t *testing.T) {
	x, c := newExchange(t, true), &chain{network: byOutput}
	x.must(bourse.Command{Kind: bourse.CommandSetRules, Rules: bourse.RulesOverAlone - 1})
	x.must(c.next(c.overAlone(1, btc, 100)))
	if d := x.deposit(); d.Account != 0 || d.OverAlone || d.ID != 0 {
		t.Errorf("%+v", d)
	}
	x.wantOwn(btc, map[bourse.AccountID]int64{bourse.AccountPendingDeposits: 0, bourse.AccountParked: 100})
}

// TestLongMemosSurviveARestart keeps memos of bourse.MaxMemo bytes of deposits, withdrawals and saved addresses.
func TestLongMemosSurviveARestart(t *testing.T) {
	x, c := newExchange(t, true), &chain{network: byAccount}
	x.must(bourse.Command{Kind: bourse.CommandDefineNetwork, Network: &bourse.Network{
		Symbol: "ATOM", Name: "ATOM", MemoName: "Memo", Enabled: true,
	}})
	terms := termsOf(3, eth)
	x.must(bourse.Command{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: terms})
	c.network = 3
	long := strings.Repeat("m", bourse.MaxMemo)
	tx := c.output(1, eth, 100)
	tx.Inflows[0].Memo = long
	x.must(c.next(tx))
	d := *x.deposit()
	x.mine(c, target)
	w := withdrawOf(eth, 50, 1)
	w.Network, w.Memo = 3, long
	id := x.must(withdrawCommand(1, w))
	x.must(walletCommand(bourse.CommandSaveAddress, 1, bourse.WalletCommand{Save: &bourse.SavedAddress{
		Network: 3, Asset: eth, Address: stranger, Memo: long,
	}}))
	x.restart()
	if got := x.e.Withdrawal(bourse.WalletID(id)); got.Memo != long || d.Memo != long {
		t.Errorf("the deposit has the memo %q, the withdrawal %q", d.Memo, got.Memo)
	}
}
