package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
)

// coldAddress is an address of cold storage.
const coldAddress = 1<<31 | 5

func coolCommand(n bourse.NetworkID, asset bourse.AssetID, units uint64) bourse.Command {
	c := walletCommand(bourse.CommandCool, 0, bourse.WalletCommand{Network: n})
	c.On, c.AssetID, c.Amount = true, asset, bourse.Units(units)
	return c
}

func endCoolCommand(n bourse.NetworkID) bourse.Command {
	return walletCommand(bourse.CommandCool, 0, bourse.WalletCommand{Network: n})
}

// cools makes a transaction that moves an amount to cold storage; false if the inputs have less.
func (c *chain) cools(inputs []bourse.Outpoint, id bourse.WalletID, amount, cost uint64) (
	tx bourse.TxEffect, s *bourse.SignedTx, ok bool,
) {
	if tx, ok = c.pay(inputs, amount, cost); !ok {
		return tx, nil, false
	}
	cold := brings(treasury, btc, amount)
	cold.Index, cold.Address = 1, coldAddress
	tx.Inflows = append(tx.Inflows, cold)
	return tx, &bourse.SignedTx{
		Network: c.network, Kind: bourse.SignedCool, Wallet: id, Tx: tx.Hash, Raw: []byte{1}, Inputs: tx.Spent,
	}, true
}

// coolFirst signs an order with the first output.
func (x *exchange) coolFirst(c *chain, id bourse.WalletID, amount, cost uint64) (bourse.TxEffect, *bourse.SignedTx) {
	x.tb.Helper()
	list, _ := c.unspent()
	tx, s, ok := c.cools(list[:1], id, amount, cost)
	if !ok {
		x.tb.Fatal("not enough")
	}
	return tx, s
}

// TestCoolMovesNoMoneyOfCustomers carries out an order, and takes its block back: the exchange has less by the
// network's cost alone, and customers have what they had.
func TestCoolMovesNoMoneyOfCustomers(t *testing.T) {
	for name, sign := range map[string]func(*bourse.SignedTx) bourse.Command{
		"signed": signedCommand, "recorded": func(s *bourse.SignedTx) bourse.Command { return recordCommand(1, s) },
	} {
		t.Run(name, func(t *testing.T) {
			x, c, _ := funded(t, true)
			id := bourse.WalletID(x.must(coolCommand(byOutput, btc, 600)))
			order := bourse.CoolOrder{ID: id, AssetAmount: bourse.AssetAmount{Asset: btc, Amount: bourse.Units(600)}}
			if got := x.e.NetworkState(byOutput).Cool; got != order {
				t.Fatalf("%+v is open", got)
			}
			x.restart()
			x.refused(bourse.CoolOpen, coolCommand(byOutput, btc, 1))

			tx, s := x.coolFirst(c, id, 600, 7)
			x.must(sign(s))
			if got := x.e.NetworkState(byOutput); got.Cool != (bourse.CoolOrder{}) || got.Halted != 0 {
				t.Fatalf("%+v", got)
			}
			x.refused(bourse.CoolOpen, coolCommand(byOutput, btc, 1))
			x.must(sentCommand(byOutput, s.Tx))
			x.restart()
			before := map[bourse.AccountID]int64{
				treasury: 1000, bourse.AccountNetworkCosts: 0, bourse.NetworkAccount(byOutput): -2000,
			}
			x.wantOwn(btc, before)

			x.must(c.next(tx))
			after := map[bourse.AccountID]int64{
				treasury: 1000, bourse.AccountNetworkCosts: -7, bourse.NetworkAccount(byOutput): -1993,
			}
			x.wantOwn(btc, after)
			x.wantBalance(1, btc, 1000, 0)
			if got := x.e.NetworkState(byOutput).Halted; got != 0 {
				t.Fatalf("halted by %s", got)
			}
			x.refused(bourse.NothingToEnd, endCoolCommand(byOutput))

			rewind, _ := c.back(1)
			x.must(rewind)
			x.wantOwn(btc, before)
			x.must(c.next(tx))
			x.wantOwn(btc, after)
			x.must(coolCommand(byOutput, btc, 1))
		})
	}
}

// TestCoolIsRefused refuses orders that cannot be carried out.
func TestCoolIsRefused(t *testing.T) {
	x, _, _ := funded(t, true)
	x.refused(bourse.UnknownNetwork, coolCommand(9, btc, 1))
	x.refused(bourse.NotOnNetwork, coolCommand(byOutput, eth, 1))
	x.refused(bourse.NotOnNetwork, coolCommand(byOutput, 99, 1))
	x.refused(bourse.NotOnNetwork, coolCommand(byAccount, eth, 1)) // there is cold storage of outputs alone
	x.refused(bourse.InsufficientFunds, coolCommand(byOutput, btc, 2001))
	x.refused(bourse.NothingToEnd, endCoolCommand(byOutput))
	x.refused(bourse.UnknownNetwork, endCoolCommand(9))
	id := x.must(coolCommand(byOutput, btc, 2000))
	if next := x.must(withdrawCommand(1, withdrawOf(btc, 100, 4))); next <= id {
		t.Errorf("the withdrawal is %d, after the order %d", next, id)
	}
	x.must(bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{Symbol: "TOK", Name: "token", Scale: 10}})
	coarse := *termsOf(byOutput, usdt+1)
	coarse.Contract, coarse.Precision, coarse.MinDeposit, coarse.MinWithdrawal = "tok", 8, bourse.Units(100), bourse.Units(100)
	coarse.FeeMin, coarse.FeeMax = bourse.Units(100), bourse.Units(900)
	x.must(bourse.Command{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: &coarse})
	x.refused(bourse.BadPrecision, coolCommand(byOutput, coarse.Asset, 150))
	x.refused(bourse.InsufficientFunds, coolCommand(byOutput, coarse.Asset, 200))
}

// TestCoolMovesOnce gives up the transaction of an order. It may be mined still, so no second order is taken before a
// deep block excludes it.
func TestCoolMovesOnce(t *testing.T) {
	x, c, _ := funded(t, true)
	id := bourse.WalletID(x.must(coolCommand(byOutput, btc, 600)))
	tx, s := x.coolFirst(c, id, 600, 7)
	x.must(recordCommand(1, s))
	x.must(endCoolCommand(byOutput))
	x.refused(bourse.NothingToEnd, endCoolCommand(byOutput))
	x.refused(bourse.CoolOpen, coolCommand(byOutput, btc, 600))
	x.restart()
	x.refused(bourse.CoolOpen, coolCommand(byOutput, btc, 600))

	x.must(c.next(tx)) // it is ours, and halts nothing
	x.wantOwn(btc, map[bourse.AccountID]int64{treasury: 1000, bourse.AccountNetworkCosts: -7})
	if got := x.e.NetworkState(byOutput).Halted; got != 0 {
		t.Fatalf("halted by %s", got)
	}
	rewind, _ := c.back(1)
	x.must(rewind)
	x.refused(bourse.CoolOpen, coolCommand(byOutput, btc, 600))

	w := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(btc, 100, 4))))
	pays, by := x.signOutputs(c, w, 100, 2) // with the same output
	x.must(signedCommand(by))
	x.must(c.next(pays))
	x.mine(c, target-2)
	x.refused(bourse.CoolOpen, coolCommand(byOutput, btc, 600))
	x.mine(c, 1)
	x.must(coolCommand(byOutput, btc, 600))
}

// TestCoolOfNoOrder takes over what the signer signed for an order that was ended meanwhile, or that this journal never
// had.
func TestCoolOfNoOrder(t *testing.T) {
	for name, of := range map[string]struct {
		id     bourse.WalletID
		halted bourse.Halt
		kept   bool
	}{
		"ended": {0, 0, true}, "of a lost journal": {99, bourse.HaltUnknownSigned, true},
		"of no journal": {1 << 62, bourse.HaltUnknownSigned, false},
	} {
		t.Run(name, func(t *testing.T) {
			x, c, _ := funded(t, true)
			id := of.id
			if id == 0 {
				id = bourse.WalletID(x.must(coolCommand(byOutput, btc, 600)))
				x.must(endCoolCommand(byOutput))
			}
			tx, s := x.coolFirst(c, id, 600, 7)
			x.refused(bourse.NotProcessing, signedCommand(s))
			x.must(recordCommand(1, s))
			x.restart()
			if got := x.e.NetworkState(byOutput); got.Halted != of.halted || got.Record != 1 {
				t.Fatalf("%+v", got)
			}
			if !of.kept {
				return
			}
			x.must(sentCommand(byOutput, s.Tx))
			if next := x.must(withdrawCommand(1, withdrawOf(btc, 100, 4))); next <= uint64(id) {
				t.Errorf("%d is allotted after %d", next, id)
			}
			x.must(c.next(tx))
			x.wantOwn(btc, map[bourse.AccountID]int64{treasury: 1000, bourse.AccountNetworkCosts: -7})
		})
	}
}

// TestCoolOfAWithdrawal takes over a move of a lost journal whose id a withdrawal has by now. The signer pays no
// withdrawal of that id, so the network halts for an operator, and the money goes back.
func TestCoolOfAWithdrawal(t *testing.T) {
	x, c, _ := funded(t, true)
	w := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(btc, 100, 4))))
	tx, s := x.coolFirst(c, w, 600, 7)
	x.must(recordCommand(1, s))
	x.restart()
	if got := x.e.NetworkState(byOutput).Halted; got != bourse.HaltUnknownSigned {
		t.Fatalf("halted by %q", got)
	}
	x.must(c.next(tx))
	x.must(cancelCommand(1, uint64(w)))
	x.wantBalance(1, btc, 1000, 0)
	x.wantOwn(btc, map[bourse.AccountID]int64{treasury: 1000, bourse.AccountNetworkCosts: -7})
}

// TestCoolByOperators has one operator move up to the limit of approvals to cold storage, and two above it. Approved
// withdrawals count in the same sum. Without an operator, orders are ended alone.
func TestCoolByOperators(t *testing.T) {
	x := staffed(t)
	waits := func(want bool, units uint64) {
		t.Helper()
		x.must(x.actOf(carl, coolCommand(byOutput, btc, units)))
		if a := x.lastAct(); (a.Status == bourse.ActWaits) != want {
			t.Error(a.String())
		}
		if (x.e.NetworkState(byOutput).Cool.ID == 0) != want {
			t.Errorf("an order of %d units: %+v", units, x.e.NetworkState(byOutput))
		}
	}
	x.refused(bourse.RoleMissing, x.actOf(dora, coolCommand(byOutput, btc, 1)))
	x.refused(bourse.OperatorsOnly, coolCommand(byOutput, btc, 1))
	waits(true, 5) // without a limit
	x.agreed(ann, bob, bourse.Command{Kind: bourse.CommandSetApprovalLimit, AssetID: btc, Amount: bourse.Units(100)})
	waits(false, 60)
	x.must(endCoolCommand(byOutput))
	waits(true, 41)
	waits(false, 40)
	x.must(endCoolCommand(byOutput))
	waits(true, 1)
}

// TestGivenUpCoolLeavesTheChain mines a move that was given up, whose output a withdrawal takes. The exchange restarts,
// and the block leaves the chain: the output is the withdrawal's.
func TestGivenUpCoolLeavesTheChain(t *testing.T) {
	x, c, _ := funded(t, true)
	x.must(bourse.Command{Kind: bourse.CommandSetRules, Rules: bourse.RulesJoined - 1}) // newer ones give up the other one
	tx, s := x.coolFirst(c, bourse.WalletID(x.must(coolCommand(byOutput, btc, 600))), 600, 7)
	x.must(signedCommand(s))
	x.must(endCoolCommand(byOutput))
	pays, w := x.signOutputs(c, bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(btc, 100, 4)))), 100, 2)
	x.must(signedCommand(w))
	x.must(c.next(tx))
	x.restart()
	rewind, _ := c.back(1)
	x.must(rewind)
	x.must(c.next(pays))
}

// TestGivenUpCoolExcludes mines a move to cold storage that was given up, after a withdrawal was signed with its
// output: the withdrawal needs another transaction, which nobody has to ask for. Under older rules it waited for an
// operator.
func TestGivenUpCoolExcludes(t *testing.T) {
	for rules, want := range map[uint32]bourse.Reason{bourse.RulesJoined - 1: 0, bourse.RulesJoined: bourse.NotSigned} {
		x, c, _ := funded(t, true)
		x.must(bourse.Command{Kind: bourse.CommandSetRules, Rules: rules})
		id := bourse.WalletID(x.must(coolCommand(byOutput, btc, 600)))
		tx, s := x.coolFirst(c, id, 600, 2)
		x.must(signedCommand(s))
		x.must(endCoolCommand(byOutput))
		of := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(btc, 100, 4))))
		x.must(askingCommand(of))
		_, paid := x.signOutputs(c, of, 100, 3)
		x.must(recordCommand(1, paid))
		if !paid.Rivals(s) {
			t.Fatal("they exclude each other not")
		}
		x.must(c.next(tx))
		x.restart()
		if got := x.do(replaceCommand(of)); got != want {
			t.Errorf("under rules %d the withdrawal's transaction is given up: %q, not %q", rules, got, want)
		}
		rewind, _ := c.back(1)
		x.must(rewind)
		x.must(c.next(tx))
		x.restart()
	}
}
