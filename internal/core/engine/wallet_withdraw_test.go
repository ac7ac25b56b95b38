package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
)

// funded returns an exchange whose hot wallets and first customer have money.
func funded(t *testing.T, sandbox bool) (x *exchange, c, a *chain) {
	t.Helper()
	x, c, a = newExchange(t, sandbox), &chain{network: byOutput}, &chain{network: byAccount}
	x.must(c.next(c.output(treasury, btc, 1000), c.output(1, btc, 1000)))
	x.must(a.next(a.output(treasury, eth, 1000), a.output(treasury, usdt, 1000), a.output(1, eth, 500), a.output(1, usdt, 500)))
	x.mine(c, target)
	x.mine(a, target)
	return x, c, a
}

// signOutputs signs a withdrawal with the first free outputs.
func (x *exchange) signOutputs(c *chain, id bourse.WalletID, amount, cost uint64) (bourse.TxEffect, *bourse.SignedTx) {
	x.tb.Helper()
	list, _ := c.unspent()
	tx, ok := c.pay(list[:1], amount, cost)
	if !ok {
		x.tb.Fatal("not enough")
	}
	return tx, &bourse.SignedTx{
		Network: c.network, Kind: bourse.SignedWithdrawal, Wallet: id, Tx: tx.Hash, Raw: []byte{1}, Inputs: tx.Spent,
	}
}

// signAccount makes what a withdrawal from the hot address does.
func signAccount(a *chain, id bourse.WalletID, nonce uint64, taken ...bourse.Outflow) (bourse.TxEffect, *bourse.SignedTx) {
	tx := bourse.TxEffect{Hash: a.hash(), Outflows: taken}
	kind := bourse.SignedWithdrawal
	if id == 0 {
		kind = bourse.SignedSweep
	}
	return tx, &bourse.SignedTx{Network: a.network, Kind: kind, Wallet: id, Tx: tx.Hash, Raw: []byte{1}, Nonce: nonce}
}

func takes(address uint32, asset bourse.AssetID, units uint64) bourse.Outflow {
	return bourse.Outflow{Address: address, Asset: asset, Amount: bourse.Units(units)}
}

func TestWithdrawalPaysOnce(t *testing.T) {
	x, c, _ := funded(t, true)
	id := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(btc, 100, 4))))
	if w := x.withdrawal(); w.Status != bourse.WalletProcessing || w.Ordinal == 0 || !w.Unsigned() {
		t.Fatalf("taken as %+v", w)
	}
	x.wantBalance(1, btc, 896, 104)
	tx, s := x.signOutputs(c, id, 100, 2)
	x.must(signedCommand(s))
	if w := x.withdrawal(); !w.Signed || w.Tx != tx.Hash || w.Status != bourse.WalletProcessing {
		t.Fatalf("signed as %+v", w)
	}
	x.refused(bourse.WithdrawalSigned, cancelCommand(1, uint64(id)))
	x.refused(bourse.WithdrawalSigned, decideCommand(uint64(id), false))
	_, again := x.signOutputs(c, id, 100, 2)
	x.refused(bourse.NotProcessing, signedCommand(again))
	other := *s
	other.Wallet = bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(btc, 50, 1))))
	x.refused(bourse.NotProcessing, signedCommand(&other)) // the same transaction
	other.Tx = c.hash()
	x.refused(bourse.InputTaken, signedCommand(&other))
	x.must(cancelCommand(1, uint64(other.Wallet)))
	x.restart()
	x.must(sentCommand(byOutput, tx.Hash))
	if w := x.withdrawal(); w.Status != bourse.WalletDone || w.Done == 0 {
		t.Fatalf("sent as %+v", w)
	}
	x.must(sentCommand(byOutput, tx.Hash)) // the answer got lost, and it came again
	x.wantBalance(1, btc, 896, 0)
	x.wantOwn(btc, map[bourse.AccountID]int64{
		bourse.AccountInTransit: 100, bourse.AccountWithdrawalFees: 4, bourse.NetworkAccount(byOutput): -2000,
	})
	x.must(c.next(tx))
	paid := map[bourse.AccountID]int64{
		bourse.AccountInTransit: 0, bourse.AccountNetworkCosts: -2, bourse.NetworkAccount(byOutput): -1898, treasury: 1000,
	}
	x.wantOwn(btc, paid)
	rewind, txs := c.back(1)
	x.must(rewind)
	x.wantOwn(btc, map[bourse.AccountID]int64{bourse.AccountInTransit: 100, bourse.AccountNetworkCosts: 0})
	x.restart()
	x.mine(c, 2)
	x.must(c.next(txs...))
	x.wantOwn(btc, paid)
	x.wantBalance(1, btc, 896, 0)
	x.refused(bourse.WithdrawalSigned, cancelCommand(1, uint64(id)))
}

// TestMinedIsAccepted loses the network's answer and the process with it: the
// block says that the transaction was accepted.
func TestMinedIsAccepted(t *testing.T) {
	x, c, _ := funded(t, true)
	id := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(btc, 100, 4))))
	tx, s := x.signOutputs(c, id, 100, 2)
	x.must(signedCommand(s))
	x.must(c.next(tx))
	if w := x.withdrawal(); w.Status != bourse.WalletDone {
		t.Fatalf("mined, and it is %+v", w)
	}
	x.must(sentCommand(byOutput, tx.Hash))
	x.wantBalance(1, btc, 896, 0)
}

func TestCancelAgainstSendIsDecidedByOrder(t *testing.T) {
	x, c, _ := funded(t, true)
	id := x.must(withdrawCommand(1, withdrawOf(btc, 100, 4)))
	_, s := x.signOutputs(c, bourse.WalletID(id), 100, 2)
	x.refused(bourse.WithdrawalNotFound, cancelCommand(2, id))
	x.must(cancelCommand(1, id))
	if w := x.ev.Wallet.Withdrawals; len(w) != 2 || w[0].Status != bourse.WalletPendingCancel || w[1].Status != bourse.WalletCanceled {
		t.Errorf("canceled by way of %+v", w)
	}
	x.refused(bourse.NotProcessing, signedCommand(s))
	x.refused(bourse.NotSigned, sentCommand(byOutput, s.Tx))
	x.refused(bourse.WithdrawalNotFound, cancelCommand(1, id))
	x.wantBalance(1, btc, 1000, 0)
}

// TestOneOfAThousandSucceeds asks for 60 % of a balance again and again.
func TestOneOfAThousandSucceeds(t *testing.T) {
	x, _, _ := funded(t, true)
	x.unchecked = true
	taken := 0
	for range 1000 {
		if x.do(withdrawCommand(1, withdrawOf(btc, 599, 1))) == 0 {
			taken++
		} else if x.ev.Outcome.Reason != bourse.InsufficientFunds {
			t.Fatalf("refused by %s", x.ev.Outcome.Reason)
		}
	}
	if taken != 1 {
		t.Errorf("%d withdrawals were taken", taken)
	}
	x.wantBalance(1, btc, 400, 600)
}

// TestOrdersAndWithdrawalsShareABalance holds money for both, and lets each go
// its own way.
func TestOrdersAndWithdrawalsShareABalance(t *testing.T) {
	x, c, _ := funded(t, true)
	x.must(bourse.Command{Kind: bourse.CommandDefineMarket, Market: &bourse.Market{
		Base: btc, Quote: usdt, BasePrecision: 6, QuotePrecision: 2, Enabled: true, SelfTrade: bourse.SelfTradeNone,
		InitialPrice: 100, MaxPrice: bourse.MaxPrice, Taker: 100_000,
	}})
	x.credit(1, btc, 99_000)
	x.credit(2, usdt, 1_000_000)
	sell := bourse.Command{Kind: bourse.CommandPlace, Account: 1, NewOrder: bourse.NewOrder{
		Market: 1, Side: bourse.Sell, Type: bourse.Limit, TIF: bourse.GTC, Price: 100, Lots: 6,
	}}
	order := x.must(sell)
	x.refused(bourse.InsufficientFunds, withdrawCommand(1, withdrawOf(btc, 40_000, 1)))
	id := x.must(withdrawCommand(1, withdrawOf(btc, 900, 4)))
	x.wantBalance(1, btc, 39_096, 60_904)
	if reason := x.do(sell); reason != bourse.InsufficientFunds {
		t.Errorf("an order for more than is left: %q", reason)
	}
	buy := bourse.Command{Kind: bourse.CommandPlace, Account: 2, NewOrder: bourse.NewOrder{
		Market: 1, Side: bourse.Buy, Type: bourse.Limit, TIF: bourse.GTC, Price: 100, Lots: 2,
	}}
	x.must(buy)
	x.wantBalance(1, btc, 39_096, 40_904)
	x.must(withdrawCommand(2, withdrawOf(btc, 17_999, 1))) // what was bought, less its fee
	x.wantBalance(2, btc, 0, 18_000)
	x.restart()
	_, s := x.signOutputs(c, bourse.WalletID(id), 900, 2)
	x.must(signedCommand(s))
	x.must(sentCommand(byOutput, s.Tx))
	x.wantBalance(1, btc, 39_096, 40_000)
	x.must(bourse.Command{Kind: bourse.CommandCancel, Account: 1, Order: bourse.OrderID(order)})
	x.wantBalance(1, btc, 79_096, 0)
	x.must(bourse.Command{Kind: bourse.CommandCollectFees})
	x.wantOwn(btc, map[bourse.AccountID]int64{bourse.AccountWithdrawalFees: 0, bourse.AccountFees: 0, treasury: 3004})
}

func TestInternalWithdrawal(t *testing.T) {
	x, _, _ := funded(t, true)
	w := withdrawOf(btc, 100, 4)
	w.Internal = 2
	id := x.must(withdrawCommand(1, w))
	got, d := x.withdrawal(), x.deposit()
	if got.Status != bourse.WalletDone || got.Deposit != d.ID || !got.Fee.IsZero() ||
		d.Status != bourse.WalletDone || d.From != bourse.WalletID(id) || d.Account != 2 || d.Ordinal != 1 {
		t.Fatalf("booked as %+v and %+v", got, d)
	}
	x.wantBalance(1, btc, 900, 0)
	x.wantBalance(2, btc, 100, 0)
	w.Fee = bourse.Amount{}
	w.Internal = 1
	x.must(withdrawCommand(1, w)) // to oneself
	x.wantBalance(1, btc, 900, 0)
	w.Internal = 9
	x.refused(bourse.UnknownAccount, withdrawCommand(1, w))
	w.Internal = 2

	x.must(pauseCommand(byOutput, true))
	id = x.must(withdrawCommand(1, w))
	x.wantBalance(1, btc, 800, 100)
	x.restart()
	x.must(freezeCommand(1, true))
	x.must(pauseCommand(byOutput, false))
	if got := x.withdrawal(); got.Status != bourse.WalletPending || got.Approved {
		t.Errorf("frozen meanwhile, it is %+v", got)
	}
	x.refused(bourse.AccountFrozen, decideCommand(id, true))
	x.must(freezeCommand(1, false))
	x.must(decideCommand(id, true))
	x.wantBalance(1, btc, 800, 0)
	x.wantBalance(2, btc, 200, 0)
}

func TestPausedWithdrawalsWait(t *testing.T) {
	x, c, _ := funded(t, true)
	before := x.must(withdrawCommand(1, withdrawOf(btc, 10, 1)))
	_, s := x.signOutputs(c, bourse.WalletID(before), 10, 2)
	x.must(pauseCommand(byOutput, true))
	x.refused(bourse.WithdrawalsPaused, signedCommand(s))
	var ids []uint64
	for range 5 {
		ids = append(ids, x.must(withdrawCommand(1, withdrawOf(btc, 10, 1))))
		if w := x.withdrawal(); w.Status != bourse.WalletPending || !w.Approved {
			t.Fatalf("paused, and it is %+v", w)
		}
	}
	x.must(decideCommand(ids[1], true)) // a person's word changes nothing
	x.must(cancelCommand(1, ids[0]))
	x.must(decideCommand(ids[4], false))
	x.restart()
	x.must(pauseCommand(byOutput, false))
	if got := x.ev.Wallet.Withdrawals; len(got) != 3 || got[0].ID != bourse.WalletID(ids[1]) || got[2].Status != bourse.WalletProcessing {
		t.Errorf("resumed with %+v", got)
	}
	if x.e.Unfinished() {
		t.Error("something is left over")
	}
	x.must(signedCommand(s))
	x.refused(bourse.UnknownNetwork, pauseCommand(9, true))
}

// TestResumingManyContinues leaves what a command has no steps for to a
// Continue.
func TestResumingManyContinues(t *testing.T) {
	x, _, _ := funded(t, true)
	x.unchecked = true
	x.must(pauseCommand(byOutput, true))
	for account := bourse.AccountID(1); account <= 2; account++ {
		x.credit(account, btc, 100_000)
		for range 700 {
			x.must(withdrawCommand(account, withdrawOf(btc, 10, 1)))
		}
	}
	for range 300 {
		x.must(withdrawCommand(1, withdrawOf(btc, 10, 1)))
	}
	x.refused(bourse.TooManyWithdrawals, withdrawCommand(1, withdrawOf(btc, 10, 1)))
	x.must(pauseCommand(byOutput, false))
	if len(x.ev.Wallet.Withdrawals) != 1000 || !x.e.Unfinished() {
		t.Errorf("%d went on at once", len(x.ev.Wallet.Withdrawals))
	}
	x.restart()
	x.must(bourse.Command{Kind: bourse.CommandContinue})
	if len(x.ev.Wallet.Withdrawals) != 700 || x.e.Unfinished() {
		t.Errorf("%d went on with the Continue", len(x.ev.Wallet.Withdrawals))
	}
}

func TestTermsOfWithdrawals(t *testing.T) {
	x, _, _ := funded(t, true)
	fine := bourse.NetworkAsset{
		Network: byAccount, Asset: eth, Precision: 10, Confirms: target, Enabled: true,
		MinWithdrawal: bourse.Units(minWithdrawal), FeeMin: bourse.Units(feeMin), FeeMax: bourse.Units(feeMax),
	}
	x.must(bourse.Command{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: &fine})
	x.must(bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{Symbol: "DAI", Name: "DAI", Scale: 10, Enabled: true}})
	x.must(bourse.Command{Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: &bourse.NetworkAsset{
		Network: byAccount, Asset: 4, Precision: 8, Confirms: target, Enabled: true, FeeMax: bourse.Units(100),
	}})
	x.credit(1, 4, 1000)
	for reason, change := range map[bourse.Reason]func(*bourse.Withdraw){
		bourse.UnknownAsset:       func(w *bourse.Withdraw) { w.Asset = 9 },
		bourse.UnknownNetwork:     func(w *bourse.Withdraw) { w.Network = 9 },
		bourse.NotOnNetwork:       func(w *bourse.Withdraw) { w.Network = byOutput },
		bourse.MemoNotAllowed:     func(w *bourse.Withdraw) { w.Memo = "1" },
		bourse.BadPrecision:       func(w *bourse.Withdraw) { w.Asset, w.Fee = 4, bourse.Units(50) },
		bourse.BelowMinWithdrawal: func(w *bourse.Withdraw) { w.Amount = bourse.Units(minWithdrawal - 1) },
		bourse.FeeOutOfRange:      func(w *bourse.Withdraw) { w.Fee = bourse.Units(feeMax + 1) },
		bourse.InsufficientFunds:  func(w *bourse.Withdraw) { w.Amount = bourse.Units(500) },
	} {
		w := withdrawOf(eth, 100, 1)
		change(w)
		x.refused(reason, withdrawCommand(1, w))
	}
	x.refused(bourse.FeeOutOfRange, withdrawCommand(1, withdrawOf(eth, 100, 0)))
	x.refused(bourse.UnknownAccount, withdrawCommand(9, withdrawOf(eth, 100, 1)))
	x.must(withdrawCommand(1, withdrawOf(eth, 499, 1)))
}

func TestDisabledTakesNoNewWithdrawals(t *testing.T) {
	closed := termsOf(byOutput, btc)
	closed.Enabled = false
	for what, cmd := range map[string]bourse.Command{
		"asset":   {Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{Symbol: "BTC", Name: "BTC", Scale: 10}},
		"network": {Kind: bourse.CommandDefineNetwork, Network: &bourse.Network{Symbol: "BTC", Name: "BTC"}},
		"terms":   {Kind: bourse.CommandDefineNetworkAsset, NetworkAsset: closed},
	} {
		x, c, _ := funded(t, true)
		id := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(btc, 100, 4))))
		x.must(cmd)
		x.refused(bourse.WithdrawalsClosed, withdrawCommand(1, withdrawOf(btc, 50, 1)))
		tx, s := x.signOutputs(c, id, 100, 2) // what was taken goes on
		x.must(signedCommand(s))
		x.must(c.next(tx, c.output(2, btc, 30)))
		x.mine(c, target)
		x.wantBalance(2, btc, 30, 0)
		if t.Failed() {
			t.Fatal(what)
		}
	}
}

// TestSweepsAreNoDeposits tops an address up with the coin that a sweep costs,
// and brings its token to the hot wallet.
func TestSweepsAreNoDeposits(t *testing.T) {
	x, _, a := funded(t, true)
	topUp, s := signAccount(a, 0, 0, takes(hot, eth, 12))
	topUp.Inflows = []bourse.Inflow{brings(1, eth, 10)}
	s.Kind = bourse.SignedTopUp
	x.must(signedCommand(s))
	x.must(a.next(topUp))
	sweep, s := signAccount(a, 0, 0, takes(1, usdt, 500), takes(1, eth, 7))
	sweep.Inflows = []bourse.Inflow{brings(treasury, usdt, 500)}
	s.From = 1
	x.must(signedCommand(s))
	x.must(sentCommand(byAccount, s.Tx))
	x.must(a.next(sweep))
	if len(x.ev.Wallet.Deposits) != 0 {
		t.Errorf("a sweep is a deposit: %+v", x.deposit())
	}
	x.wantOwn(eth, map[bourse.AccountID]int64{bourse.AccountNetworkCosts: -9, bourse.NetworkAccount(byAccount): -1491})
	x.wantOwn(usdt, map[bourse.AccountID]int64{bourse.AccountNetworkCosts: 0, bourse.NetworkAccount(byAccount): -1500})
	x.wantBalance(1, eth, 500, 0)
	rewind, _ := a.back(2)
	x.must(rewind)
	x.wantOwn(eth, map[bourse.AccountID]int64{bourse.AccountNetworkCosts: 0})
	release := walletCommand(bourse.CommandReleaseWithdrawal, 0, bourse.WalletCommand{Network: byAccount, Tx: s.Tx})
	x.must(release)
	x.refused(bourse.NotSigned, release)
}

// TestProductionWaitsForAPerson approves by hand until an address is trusted.
func TestProductionWaitsForAPerson(t *testing.T) {
	x, _, _ := funded(t, false)
	w := withdrawOf(btc, 100, 1)
	w.Save = bourse.Token{7}
	id := x.must(withdrawCommand(1, w))
	if got := x.withdrawal(); got.Status != bourse.WalletPending || got.Approved {
		t.Fatalf("taken as %+v", got)
	}
	if saved := x.ev.Wallet.Addresses; len(saved) != 1 || saved[0].Token != w.Save || saved[0].Trusts != nil || saved[0].ID != 1 {
		t.Fatalf("saved as %+v", saved)
	}
	x.refused(bourse.AddressTaken, withdrawCommand(1, w))
	x.must(decideCommand(id, true))
	if got := x.withdrawal(); got.Status != bourse.WalletProcessing {
		t.Errorf("approved, it is %+v", got)
	}
	if saved := x.ev.Wallet.Addresses; len(saved) != 1 || len(saved[0].Trusts) != 1 || saved[0].Trusts[0].From != x.e.Now()+bourse.Day {
		t.Errorf("approved, its address is %+v", saved)
	}
	w.Save = bourse.Token{}
	x.must(withdrawCommand(1, w))
	if x.withdrawal().Approved {
		t.Error("trusted too early")
	}
	x.restart()
	x.aDayLater()
	x.must(withdrawCommand(1, w))
	if got := x.withdrawal(); got.Status != bourse.WalletProcessing {
		t.Errorf("trusted, it is %+v", got)
	}
}

func TestSecondFactorMakesTrusted(t *testing.T) {
	x, _, _ := funded(t, false)
	save := walletCommand(bourse.CommandSaveAddress, 1, bourse.WalletCommand{Save: &bourse.SavedAddress{
		Network: byOutput, Asset: btc, Address: stranger,
	}})
	save.Token = bourse.Token{1}
	id := x.must(save)
	x.refused(bourse.AddressTaken, save)
	w := withdrawOf(btc, 100, 1)
	w.Factor = true
	x.must(withdrawCommand(1, w))
	if x.withdrawal().Approved {
		t.Error("a second factor alone approves")
	}
	if saved := x.ev.Wallet.Addresses; len(saved) != 1 || len(saved[0].Trusts) == 0 {
		t.Errorf("its address is %+v", saved)
	}
	forget := func(account bourse.AccountID) bourse.Command {
		return walletCommand(bourse.CommandForgetAddress, account, bourse.WalletCommand{Address: bourse.AddressID(id)})
	}
	x.refused(bourse.AddressNotFound, forget(2))
	x.must(forget(1))
	x.refused(bourse.AddressNotFound, forget(1))
	x.restart()
	if again := x.must(save); again <= id {
		t.Errorf("id %d came again as %d", id, again)
	}
}

func TestWithdrawalClientIDs(t *testing.T) {
	x, _, _ := funded(t, true)
	name, _ := bourse.ParseClientID("rent")
	w := withdrawOf(btc, 100, 1)
	w.ClientID = name
	id := x.must(withdrawCommand(1, w))
	again := *w
	again.Save = bourse.Token{9} // another row is waiting for its confirmation
	if x.must(withdrawCommand(1, &again)) != id || !x.ev.Outcome.Repeated {
		t.Error("the same request is another withdrawal")
	}
	other := *w
	other.Amount = bourse.Units(101)
	x.refused(bourse.DuplicateClientID, withdrawCommand(1, &other))
	x.wantBalance(1, btc, 899, 101)
	x.must(cancelCommand(1, id))
	x.restart()
	if x.must(withdrawCommand(1, w)) != id || !x.ev.Outcome.Repeated {
		t.Error("the name of an ended withdrawal was free at once")
	}
	poor := withdrawOf(btc, 100_000, 1)
	poor.ClientID, _ = bourse.ParseClientID("yacht")
	x.refused(bourse.InsufficientFunds, withdrawCommand(1, poor))
	x.credit(1, btc, 1_000_000)
	x.refused(bourse.InsufficientFunds, withdrawCommand(1, poor))
	absurd := withdrawOf(btc, 1, 1)
	absurd.Asset, absurd.ClientID = 77, bourse.ClientID{'x'}
	x.refused(bourse.UnknownAsset, withdrawCommand(1, absurd))
	x.restart()
	for range 3 {
		x.aDayLater()
	}
	if x.must(withdrawCommand(1, w)) == id {
		t.Error("the name is taken for ever")
	}
	x.must(withdrawCommand(1, poor))
	x.restart()
}
