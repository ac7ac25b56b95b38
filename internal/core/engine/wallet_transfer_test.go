package engine_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/record"
)

func transferOf(to bourse.AccountID, asset bourse.AssetID, amount uint64) *bourse.Withdraw {
	return &bourse.Withdraw{Asset: asset, Amount: bourse.Units(amount), Internal: to}
}

func transferCommand(account bourse.AccountID, w *bourse.Withdraw) bourse.Command {
	return walletCommand(bourse.CommandTransfer, account, bourse.WalletCommand{Withdraw: w})
}

func (x *exchange) wake() { x.must(bourse.Command{Kind: bourse.CommandContinue}) }

func TestTransferMovesBothSidesAtOnce(t *testing.T) {
	x, _, _ := funded(t, true)
	w := transferOf(2, btc, 100)
	w.Message = bourse.Token{5}
	id := x.must(transferCommand(1, w))
	out, in := x.withdrawal(), x.deposit()
	if out.Status != bourse.WalletDone || out.Ordinal != 4 || out.Deposit != in.ID || !out.Fee.IsZero() || out.Message != w.Message {
		t.Errorf("given as %+v", out)
	}
	if uint64(in.ID) == id || in.Account != 2 || in.Ordinal != 1 || in.From != out.ID || in.By != 1 || in.Network != 0 ||
		in.Status != bourse.WalletDone || in.Done != x.e.Now() {
		t.Errorf("received as %+v", in)
	}
	if len(x.ev.Transfers) != 1 || x.ev.Transfers[0].Kind != bourse.TransferToCustomer {
		t.Errorf("posted as %+v", x.ev.Transfers)
	}
	x.wantBalance(1, btc, 900, 0)
	x.wantBalance(2, btc, 100, 0)
	x.refused(bourse.WithdrawalNotFound, cancelCommand(1, id))
	x.restart()
}

func TestTermsOfTransfers(t *testing.T) {
	x, _, _ := funded(t, true)
	x.refused(bourse.UnknownAccount, transferCommand(77, transferOf(2, btc, 1)))
	x.refused(bourse.UnknownAccount, transferCommand(1, transferOf(77, btc, 1)))
	x.refused(bourse.UnknownAsset, transferCommand(1, transferOf(2, 77, 1)))
	x.refused(bourse.InsufficientFunds, transferCommand(1, transferOf(2, btc, 1001)))
	x.must(freezeCommand(2, true))
	x.must(transferCommand(1, transferOf(2, btc, 1)))
	x.refused(bourse.AccountFrozen, transferCommand(2, transferOf(1, btc, 1)))
	x.must(bourse.Command{Kind: bourse.CommandDefineAsset, Asset: &bourse.Asset{Symbol: "BTC", Name: "BTC", Scale: 10}})
	x.refused(bourse.WithdrawalsClosed, transferCommand(1, transferOf(3, btc, 1)))
	for what, change := range map[string]func(*bourse.Withdraw){
		"a fee":       func(w *bourse.Withdraw) { w.Fee = bourse.Units(1) },
		"a network":   func(w *bourse.Withdraw) { w.Network = byOutput },
		"nothing":     func(w *bourse.Withdraw) { w.Amount = bourse.Amount{} },
		"nobody":      func(w *bourse.Withdraw) { w.Internal = 0 },
		"an address":  func(w *bourse.Withdraw) { w.Address = stranger },
		"a client id": func(w *bourse.Withdraw) { w.ClientID = bourse.ClientID{'a'} },
		"a saved one": func(w *bourse.Withdraw) { w.Save = bourse.Token{1} },
	} {
		w := transferOf(2, btc, 1)
		change(w)
		if cmd := transferCommand(1, w); record.Check(&cmd) == nil {
			t.Errorf("a transfer with %s is well formed", what)
		}
	}
}

func TestProductionTransferWaitsForAPerson(t *testing.T) {
	x, _, _ := funded(t, false)
	first, second := x.must(transferCommand(1, transferOf(2, btc, 100))), x.must(transferCommand(1, transferOf(2, btc, 50)))
	x.refused(bourse.WithdrawalNotFound, cancelCommand(1, first)) // it is not its owner's to cancel
	x.wantBalance(1, btc, 850, 150)
	x.restart()
	x.must(decideCommand(first, true))
	x.must(decideCommand(second, false))
	x.wantBalance(1, btc, 900, 0)
	x.wantBalance(2, btc, 100, 0)
}

func TestDelayedWithdrawalWaits(t *testing.T) {
	x, _, _ := funded(t, true)
	x.must(secureCommand(1, bourse.Hour))
	until := x.e.Now() + bourse.Hour
	late := withdrawOf(btc, 100, 4)
	id := x.must(withdrawCommand(1, late))
	given := transferOf(2, btc, 50)
	x.must(transferCommand(1, given))
	dropped := x.must(withdrawCommand(1, late))
	if w := x.withdrawal(); w.Status != bourse.WalletPending || !w.Approved || w.NotBefore != until {
		t.Fatalf("taken as %+v", w)
	}
	x.must(decideCommand(id, true)) // a person's word does not make time pass
	x.must(pauseCommand(byOutput, true))
	x.must(pauseCommand(byOutput, false))
	x.must(cancelCommand(1, dropped))
	x.restart()
	x.wake()
	x.wantBalance(1, btc, 846, 154)
	if x.e.Unfinished() {
		t.Error("there is work before the time")
	}
	tick := bourse.Command{Kind: bourse.CommandTick, Seq: x.e.Seq() + 1, Time: until}
	x.e.Apply(&tick, &x.ev)
	if !x.e.Unfinished() {
		t.Error("there is no work when the time has come")
	}
	x.restart()
	x.wake()
	x.wantBalance(1, btc, 846, 104)
	x.wantBalance(2, btc, 50, 0)
	if len(x.ev.Wallet.Withdrawals) != 2 || x.ev.Wallet.Withdrawals[0].Status != bourse.WalletProcessing ||
		x.ev.Wallet.Withdrawals[0].NotBefore != 0 || x.e.Unfinished() {
		t.Errorf("woke as %+v", x.ev.Wallet.Withdrawals)
	}
	x.restart()
}

// TestDelayIsNotApproval has a withdrawal wait for a time and a person.
func TestDelayIsNotApproval(t *testing.T) {
	x, _, _ := funded(t, false)
	w := withdrawOf(btc, 100, 4)
	x.must(secureCommand(1, 3*bourse.Second))
	id := x.must(withdrawCommand(1, w))
	for range 2 {
		x.wake()
	}
	if got := x.withdrawal(); got.Status != bourse.WalletPending || got.NotBefore != 0 {
		t.Fatalf("it is %+v", got)
	}
	x.must(decideCommand(id, true))
	if got := x.withdrawal(); got.Status != bourse.WalletProcessing {
		t.Errorf("approved, it is %+v", got)
	}
}

// TestAgain wants a request that is to have come before to be answered if it has,
// with nothing left to take, and else to leave no trace.
func TestAgain(t *testing.T) {
	x, _, _ := funded(t, true)
	whole := transferOf(2, btc, 1000)
	whole.Once = bourse.Once{Key: bourse.RequestHash{1}}
	named := withdrawOf(btc, 100, 1)
	named.ClientID = bourse.ClientID{'r'}
	for _, cmd := range []bourse.Command{transferCommand(1, whole), withdrawCommand(1, named)} {
		asked := cmd.Wallet.Withdraw
		asked.Again = true
		x.refused(bourse.NotAskedBefore, cmd)
		x.refused(bourse.NotAskedBefore, cmd)
	}
	nameless := transferOf(2, btc, 1)
	nameless.Again = true
	if cmd := transferCommand(1, nameless); record.Check(&cmd) == nil {
		t.Error("a request without a name is to be known again")
	}
	whole.Again = false
	id := x.must(transferCommand(1, whole))
	whole.Again = true
	if x.must(transferCommand(1, whole)) != id || !x.ev.Outcome.Repeated {
		t.Error("the transfer is not known again")
	}
	x.refused(bourse.NotAskedBefore, withdrawCommand(1, named))
	named.Again = false
	x.refused(bourse.InsufficientFunds, withdrawCommand(1, named))
	named.Again = true
	x.refused(bourse.InsufficientFunds, withdrawCommand(1, named))
}

func TestKeysOfRequests(t *testing.T) {
	x, _, _ := funded(t, true)
	w := withdrawOf(btc, 100, 1)
	w.Once = bourse.Once{Key: bourse.RequestHash{1}, Body: bourse.RequestHash{2}}
	id := x.must(withdrawCommand(1, w))
	x.restart()
	again := *w
	again.Fee, again.Save = bourse.Units(2), bourse.Token{3} // the body alone decides
	if x.must(withdrawCommand(1, &again)) != id || !x.ev.Outcome.Repeated {
		t.Error("the same body is another withdrawal")
	}
	given := transferOf(2, btc, 1)
	given.Once = bourse.Once{Key: w.Once.Key, Body: bourse.RequestHash{9}}
	x.refused(bourse.DuplicateRequest, transferCommand(1, given))
	x.must(transferCommand(2, transferFor(x, 2, given))) // another account's key
	given.Once.Key = bourse.RequestHash{4}
	paid := x.must(transferCommand(1, given))
	x.restart()
	if x.must(transferCommand(1, given)) != paid {
		t.Error("the same transfer was made twice")
	}
	x.wantBalance(1, btc, 898, 101)
	poor := transferOf(2, btc, 100_000)
	poor.Once = bourse.Once{Key: bourse.RequestHash{5}}
	x.refused(bourse.InsufficientFunds, transferCommand(1, poor))
	x.credit(1, btc, 1_000_000)
	x.refused(bourse.InsufficientFunds, transferCommand(1, poor))
	x.must(cancelCommand(1, id))
	x.restart()
	for range 3 {
		x.aDayLater()
	}
	if x.must(withdrawCommand(1, w)) == id {
		t.Error("the key is taken for ever")
	}
	both := *w
	both.ClientID = bourse.ClientID{'a'}
	if cmd := withdrawCommand(1, &both); record.Check(&cmd) == nil {
		t.Error("a request with two names is well formed")
	}
}

// transferFor gives an account what a transfer needs.
func transferFor(x *exchange, account bourse.AccountID, w *bourse.Withdraw) *bourse.Withdraw {
	x.credit(account, w.Asset, 10)
	other := *w
	other.Internal = 3
	return &other
}
