package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
)

func warmCommand(s *bourse.SignedTx) bourse.Command {
	c := walletCommand(bourse.CommandWarm, 0, bourse.WalletCommand{Signed: s})
	c.On = true
	return c
}

func endWarmCommand(n bourse.NetworkID) bourse.Command {
	return walletCommand(bourse.CommandWarm, 0, bourse.WalletCommand{Network: n})
}

// warms makes a transaction that moves an amount from outputs of cold storage to the hot wallet.
func (c *chain) warms(inputs []bourse.Outpoint, amount, cost uint64) (tx bourse.TxEffect, s *bourse.SignedTx, ok bool) {
	if tx, ok = c.pay(inputs, amount, cost); !ok {
		return tx, nil, false
	}
	for i := range tx.Inflows { // change
		tx.Inflows[i].Address = coldAddress
	}
	warm := brings(treasury, btc, amount)
	warm.Index = 1
	tx.Inflows = append(tx.Inflows, warm)
	return tx, &bourse.SignedTx{
		Network: c.network, Kind: bourse.SignedWarm, Tx: tx.Hash, Raw: []byte{1}, Inputs: tx.Spent,
		Cost: bourse.AssetAmount{Asset: btc, Amount: bourse.Units(cost)},
	}, true
}

// chilled returns an exchange with three outputs of 500 in cold storage.
func chilled(t *testing.T) (x *exchange, c *chain, cold []bourse.Outpoint) {
	t.Helper()
	x, c, _ = funded(t, true)
	for range 3 {
		in := c.output(treasury, btc, 500)
		in.Inflows[0].Address = coldAddress
		x.must(c.next(in))
		cold = append(cold, bourse.Outpoint{Tx: in.Hash, Index: in.Inflows[0].Index})
	}
	return x, c, cold
}

// warmOf signs a move of 400 from outputs.
func (x *exchange) warmOf(c *chain, cost uint64, inputs ...bourse.Outpoint) (bourse.TxEffect, *bourse.SignedTx) {
	x.tb.Helper()
	tx, s, ok := c.warms(inputs, 400, cost)
	if !ok {
		x.tb.Fatal("not enough")
	}
	return tx, s
}

// TestWarmIsOurs mines a transaction that people signed, and takes its block back. It halts nothing, and costs the exchange
// its fee alone.
func TestWarmIsOurs(t *testing.T) {
	x, c, cold := chilled(t)
	tx, s := x.warmOf(c, 7, cold[0])
	x.must(warmCommand(s))
	x.refused(bourse.NotProcessing, warmCommand(s))
	x.restart()
	x.must(sentCommand(byOutput, s.Tx))
	before := map[bourse.AccountID]int64{treasury: 2500, bourse.AccountNetworkCosts: 0, bourse.NetworkAccount(byOutput): -3500}
	x.wantOwn(btc, before)

	x.must(c.next(tx))
	after := map[bourse.AccountID]int64{treasury: 2500, bourse.AccountNetworkCosts: -7, bourse.NetworkAccount(byOutput): -3493}
	x.wantOwn(btc, after)
	x.wantBalance(1, btc, 1000, 0)
	if got := x.e.NetworkState(byOutput).Halted; got != 0 {
		t.Fatalf("halted by %s", got)
	}
	x.refused(bourse.NothingToEnd, endWarmCommand(byOutput))
	x.refused(bourse.NotProcessing, warmCommand(s))

	rewind, _ := c.back(1)
	x.must(rewind)
	x.wantOwn(btc, before)
	x.restart()
	x.must(c.next(tx))
	x.wantOwn(btc, after)
	_, next := x.warmOf(c, 1, cold[1])
	x.must(warmCommand(next))
}

// TestWarmIsRefused refuses what is not of the network's outputs, or may not be now.
func TestWarmIsRefused(t *testing.T) {
	x, c, cold := chilled(t)
	_, s := x.warmOf(c, 7, cold[0])
	for reason, change := range map[bourse.Reason]func(*bourse.SignedTx){
		bourse.UnknownNetwork: func(s *bourse.SignedTx) { s.Network = 9 },
		bourse.NotOnNetwork:   func(s *bourse.SignedTx) { s.Cost.Asset = eth },
		bourse.InputTaken:     func(s *bourse.SignedTx) { s.Inputs = append(s.Inputs[:1:1], cold[0]) },
	} {
		other := *s
		change(&other)
		x.refused(reason, warmCommand(&other))
	}
	byAccounts := *s
	byAccounts.Network, byAccounts.Cost.Asset = byAccount, eth
	x.refused(bourse.NotOnNetwork, warmCommand(&byAccounts))
	unknown := *s
	unknown.Inputs = []bourse.Outpoint{{Tx: bourse.TxHash{77}}}
	x.refused(bourse.InputTaken, warmCommand(&unknown))
	x.refused(bourse.UnknownNetwork, endWarmCommand(9))
	x.refused(bourse.NothingToEnd, endWarmCommand(byOutput))

	x.must(pauseCommand(byOutput, true))
	x.refused(bourse.WithdrawalsPaused, warmCommand(s))
	x.must(pauseCommand(byOutput, false))
	x.must(warmCommand(s))
}

// TestWarmIsAlone has one transaction of a network wait at a time. One that was given up may be mined still, and is ours then:
// the next one shares an output with it, or waits until a deep block excludes it.
func TestWarmIsAlone(t *testing.T) {
	x, c, cold := chilled(t)
	first, s := x.warmOf(c, 1, cold[0])
	x.must(warmCommand(s))
	_, apart := x.warmOf(c, 1, cold[1])
	x.refused(bourse.WarmOpen, warmCommand(apart))
	x.must(endWarmCommand(byOutput))
	x.refused(bourse.NothingToEnd, endWarmCommand(byOutput))
	x.restart()
	x.refused(bourse.WarmOpen, warmCommand(apart))

	second, instead := x.warmOf(c, 9, cold[0], cold[1])
	x.must(warmCommand(instead))
	x.must(c.next(first)) // given up, and mined all the same
	x.wantOwn(btc, map[bourse.AccountID]int64{treasury: 2500, bourse.AccountNetworkCosts: -1})
	if got := x.e.NetworkState(byOutput).Halted; got != 0 {
		t.Fatalf("halted by %s", got)
	}
	x.refused(bourse.NothingToEnd, endWarmCommand(byOutput)) // the block gave the second one up
	x.refused(bourse.WarmOpen, warmCommand(&bourse.SignedTx{
		Network: byOutput, Kind: bourse.SignedWarm, Tx: bourse.TxHash{9, 9}, Raw: []byte{1}, Inputs: cold[2:], Cost: s.Cost,
	}))

	rewind, _ := c.back(1)
	x.must(rewind)
	x.must(warmCommand(instead))
	x.must(c.next(second))
	x.mine(c, target-2)
	_, last := x.warmOf(c, 1, cold[2])
	x.refused(bourse.WarmOpen, warmCommand(last))
	x.mine(c, 1)
	x.must(warmCommand(last))
	x.wantOwn(btc, map[bourse.AccountID]int64{treasury: 2500, bourse.AccountNetworkCosts: -9})
}

// TestWarmByOperators has one operator bring coins back: those who hold the keys of cold storage have signed.
func TestWarmByOperators(t *testing.T) {
	x, c := staffedOn(t)
	list, _ := c.unspent()
	_, s := x.warmOf(c, 1, list[0])
	x.refused(bourse.OperatorsOnly, warmCommand(s))
	x.refused(bourse.RoleMissing, x.actOf(dora, warmCommand(s)))
	x.must(x.actOf(carl, warmCommand(s)))
	if a := x.lastAct(); a.Status == bourse.ActWaits {
		t.Error(a.String())
	}
	x.must(endWarmCommand(byOutput))
}
