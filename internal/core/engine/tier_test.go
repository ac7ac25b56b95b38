package engine_test

import (
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/engine"
	"github.com/bourse-exchange/bourse/internal/core/engine/enginetest"
	"github.com/bourse-exchange/bourse/internal/record"
)

// within returns a limit of a day.
func within(units uint64) bourse.FlowLimit {
	return bourse.FlowLimit{Day: bourse.Bound{Set: true, Most: bourse.Units(units)}}
}

func tierCommand(account bourse.AccountID, tier uint8) bourse.Command {
	return bourse.Command{Kind: bourse.CommandSetAccountTier, Account: account, Level: tier}
}

// tiered is an exchange with a limit of 100 BTC a day on deposits and withdrawals, and a tier
// without limits.
func tiered(t *testing.T, sandbox bool) *exchange {
	t.Helper()
	x := newExchange(t, sandbox)
	x.must(bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: &bourse.Tiers{List: []bourse.Tier{
		{Name: "basic", Limits: []bourse.TierLimits{{Asset: btc, Deposit: within(100), Withdrawal: within(100)}}},
		{Name: "full"},
	}}})
	return x
}

// later lets time pass.
func (x *exchange) later(span bourse.Time) {
	x.tb.Helper()
	tick := bourse.Command{Kind: bourse.CommandTick, Seq: x.e.Seq() + 1, Time: x.e.Now() + span}
	x.ev.Reset()
	x.e.Apply(&tick, &x.ev)
	if err := x.e.Check(); err != nil {
		x.tb.Fatal(err)
	}
}

func TestWithdrawalsCountFromTheRequest(t *testing.T) {
	x, c := tiered(t, false), &chain{network: byOutput}
	x.must(tierCommand(1, 1))
	x.must(c.next(c.output(1, btc, 1000)))
	x.mine(c, target)
	x.must(tierCommand(1, 0))

	first := x.must(withdrawCommand(1, withdrawOf(btc, 60, 1)))
	x.refused(bourse.WithdrawalLimit, withdrawCommand(1, withdrawOf(btc, 41, 1)))
	second := x.must(withdrawCommand(1, withdrawOf(btc, 40, 1))) // fees do not count
	transfer := walletCommand(bourse.CommandTransfer, 1, bourse.WalletCommand{Withdraw: &bourse.Withdraw{
		Asset: btc, Amount: bourse.Units(1), Internal: 2,
	}})
	x.refused(bourse.WithdrawalLimit, transfer)

	// What ends without a payment is taken back, once.
	x.later(2 * bourse.Hour)
	x.must(cancelCommand(1, second))
	x.refused(bourse.WithdrawalLimit, withdrawCommand(1, withdrawOf(btc, 41, 1)))
	x.must(transfer)
	x.must(decideCommand(x.ev.Outcome.ID, false))
	x.restart()
	x.must(decideCommand(first, false))
	third := x.must(withdrawCommand(1, withdrawOf(btc, 100, 1)))
	x.refused(bourse.WithdrawalLimit, withdrawCommand(1, withdrawOf(btc, 5, 1)))

	// An end after the limit forgot the request gives nothing back.
	x.later(25 * bourse.Hour)
	fourth := x.must(withdrawCommand(1, withdrawOf(btc, 100, 1)))
	x.must(decideCommand(third, false))
	x.refused(bourse.WithdrawalLimit, withdrawCommand(1, withdrawOf(btc, 5, 1)))
	x.must(tierCommand(1, 1))
	x.must(withdrawCommand(1, withdrawOf(btc, 200, 1)))
	x.must(decideCommand(fourth, false))
	x.must(tierCommand(1, 0))
	x.refused(bourse.WithdrawalLimit, withdrawCommand(1, withdrawOf(btc, 5, 1)))
}

// TestNoDayHasMoreThanTheLimit withdraws the limit at each minute at which that is possible, and
// wants any two withdrawals to be a day apart, and not much more.
func TestNoDayHasMoreThanTheLimit(t *testing.T) {
	x := tiered(t, true)
	x.unchecked = true
	x.credit(1, btc, 10_000)
	last := bourse.Time(0)
	for n := 0; n < 4; {
		x.later(7 * bourse.Minute)
		if x.do(withdrawCommand(1, withdrawOf(btc, 100, 1))) != 0 {
			continue
		}
		n++
		if span := x.e.Now() - last; last != 0 && (span < bourse.Day || span > bourse.Day+bourse.Hour+10*bourse.Minute) {
			t.Errorf("%d minutes passed", span/bourse.Minute)
		}
		last = x.e.Now()
	}
}

// TestWithdrawalsBeforeTheTiers wants withdrawals that did not count to give nothing back.
func TestWithdrawalsBeforeTheTiers(t *testing.T) {
	x := newExchange(t, false)
	c := &chain{network: byOutput}
	x.must(c.next(c.output(1, btc, 1000)))
	x.mine(c, target)
	before := x.must(withdrawCommand(1, withdrawOf(btc, 90, 1)))
	x.must(bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: &bourse.Tiers{List: []bourse.Tier{
		{Name: "basic", Limits: []bourse.TierLimits{{Asset: btc, Withdrawal: within(100)}}},
	}}})
	x.must(withdrawCommand(1, withdrawOf(btc, 90, 1)))
	x.must(decideCommand(before, false))
	x.refused(bourse.WithdrawalLimit, withdrawCommand(1, withdrawOf(btc, 11, 1)))
	x.must(withdrawCommand(1, withdrawOf(btc, 10, 1)))
}

// TestReleasedWithdrawalsDoNotCount ends withdrawals whose transactions can never be mined.
func TestReleasedWithdrawalsDoNotCount(t *testing.T) {
	x, c, a := funded(t, true)
	x.must(bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: &bourse.Tiers{List: []bourse.Tier{
		{Name: "basic", Limits: []bourse.TierLimits{{Asset: btc, Withdrawal: within(100)}, {Asset: eth, Withdrawal: within(100)}}},
	}}})
	release := func(id bourse.WalletID) {
		t.Helper()
		x.must(walletCommand(bourse.CommandReleaseWithdrawal, 0, bourse.WalletCommand{ID: id}))
	}

	open := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(btc, 100, 4))))
	_, s := x.signOutputs(c, open, 100, 2)
	x.must(signedCommand(s))
	x.refused(bourse.WithdrawalLimit, withdrawCommand(1, withdrawOf(btc, 10, 1)))
	release(open)
	x.must(withdrawCommand(1, withdrawOf(btc, 100, 1)))

	done := bourse.WalletID(x.must(withdrawCommand(1, withdrawOf(eth, 100, 4))))
	_, s = signAccount(a, done, 0)
	x.must(signedCommand(s))
	x.must(sentCommand(byAccount, s.Tx))
	x.refused(bourse.WithdrawalLimit, withdrawCommand(1, withdrawOf(eth, 10, 1)))
	release(done)
	x.must(withdrawCommand(1, withdrawOf(eth, 100, 1)))
}

func TestDepositsBeyondTheLimitWait(t *testing.T) {
	x, c := tiered(t, true), &chain{network: byOutput}
	beyond := func(amount uint64) bourse.Deposit {
		t.Helper()
		x.must(c.next(c.output(1, btc, amount)))
		x.mine(c, target-1)
		d := *x.deposit()
		if !d.OverLimit || d.Status != bourse.WalletPending {
			t.Fatalf("%+v", d)
		}
		return d
	}

	x.must(c.next(c.output(1, btc, 70)))
	x.mine(c, target)
	x.wantBalance(1, btc, 70, 0)
	beyond(31)
	x.wantOwn(btc, map[bourse.AccountID]int64{bourse.AccountPendingDeposits: 31})
	x.mine(c, 3)
	x.wantBalance(1, btc, 70, 0)
	if len(x.ev.Wallet.Deposits) != 0 {
		t.Errorf("%d deposits were told of in a block without any", len(x.ev.Wallet.Deposits))
	}
	x.restart()

	// The limit has room again.
	x.later(25 * bourse.Hour)
	x.mine(c, 1)
	x.wantBalance(1, btc, 101, 0)
	if d := x.deposit(); d.OverLimit || d.Status != bourse.WalletDone {
		t.Errorf("%+v", d)
	}

	// An operator admits it, for its account alone. It counts.
	d := beyond(500)
	x.refused(bourse.DepositNotFound, assignCommand(2, d.Number))
	x.must(assignCommand(1, d.Number))
	x.wantBalance(1, btc, 601, 0)
	x.refused(bourse.DepositNotFound, assignCommand(1, d.Number))

	// Another tier takes it with the next block.
	beyond(10)
	x.must(tierCommand(1, 1))
	x.mine(c, 1)
	x.wantBalance(1, btc, 611, 0)

	// One that was admitted before its block left the chain stays so.
	x.must(tierCommand(1, 0))
	d = beyond(20)
	rewind, txs := c.back(target)
	x.must(rewind)
	x.must(assignCommand(1, d.Number))
	x.must(c.next(txs...))
	x.mine(c, target)
	x.wantBalance(1, btc, 631, 0)
}

// TestTransfersAreNoDeposits wants what other accounts send to leave the limit on deposits alone:
// nobody uses up the limit of others.
func TestTransfersAreNoDeposits(t *testing.T) {
	x, c := tiered(t, true), &chain{network: byOutput}
	x.credit(2, btc, 1000)
	x.must(walletCommand(bourse.CommandTransfer, 2, bourse.WalletCommand{Withdraw: &bourse.Withdraw{
		Asset: btc, Amount: bourse.Units(100), Internal: 1,
	}}))
	x.must(c.next(c.output(1, btc, 100)))
	x.mine(c, target)
	x.wantBalance(1, btc, 200, 0)
}

// TestSumsAreFreed wants the memory of sums to be freed when nothing in them counts.
func TestSumsAreFreed(t *testing.T) {
	x := tiered(t, true)
	x.credit(1, btc, 1000)
	x.must(withdrawCommand(1, withdrawOf(btc, 10, 1)))
	if x.e.Windows() != 1 {
		t.Fatalf("%d windows", x.e.Windows())
	}
	x.later(30 * bourse.Day)
	if x.e.Windows() != 1 {
		t.Errorf("%d windows after thirty days", x.e.Windows())
	}
	x.later(2 * bourse.Day)
	hash := x.e.StateHash()
	x.restart()
	if x.e.Windows() != 0 || x.e.StateHash() != hash {
		t.Errorf("%d windows after a month", x.e.Windows())
	}
}

// TestOpenWithdrawalsAreNoOrders wants what withdrawals hold to leave the limit on trades alone,
// and the look at them to be charged.
func TestOpenWithdrawalsAreNoOrders(t *testing.T) {
	x := newExchange(t, true)
	x.must(bourse.Command{Kind: bourse.CommandDefineMarket, Market: &bourse.Market{
		Base: btc, Quote: usdt, Enabled: true, InitialPrice: 1, MaxPrice: bourse.MaxPrice,
		SelfTrade: bourse.SelfTradeNone, BasePrecision: 5, QuotePrecision: 2,
	}})
	x.must(bourse.Command{Kind: bourse.CommandDefineTiers, Tiers: &bourse.Tiers{List: []bourse.Tier{
		{Name: "basic", Limits: []bourse.TierLimits{{Asset: btc, Trade: within(300_000)}}},
	}}})
	x.must(pauseCommand(byOutput, true))
	x.credit(1, btc, 1_000_000)
	for range 3 {
		x.must(withdrawCommand(1, withdrawOf(btc, 100_000, 1)))
	}
	sell := func(lots bourse.Lots) bourse.Command {
		return bourse.Command{Kind: bourse.CommandPlace, Account: 1, NewOrder: bourse.NewOrder{
			Market: 1, Side: bourse.Sell, Type: bourse.Limit, TIF: bourse.GTC, Price: 1, Lots: lots,
		}}
	}
	x.refused(bourse.TradeLimit, sell(4))
	if x.e.Walked() != 3 {
		t.Errorf("%d steps were charged for three withdrawals", x.e.Walked())
	}
	x.must(sell(3))
}

// TestWorkloadsReachLimits wants random workloads to meet limits with every type of request.
func TestWorkloadsReachLimits(t *testing.T) {
	seen := map[string]int{}
	for seed := uint64(1); seed <= 30; seed++ {
		src, p := enginetest.Seed(seed), enginetest.NewPair()
		w := enginetest.NewWorkload(&src, p.Oracle)
		for range 1500 {
			cmd := w.Next()
			if err := p.Apply(&cmd); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if p.Events().Outcome.Reason == bourse.TradeLimit {
				seen[kindOf(&cmd)]++
			}
			if len(p.Events().Moved) > 0 {
				seen["counted"]++
			}
		}
	}
	for _, what := range []string{
		"LIMIT", "MARKET", "STOP_LIMIT", "STOP_MARKET", "TAKE_PROFIT_LIMIT", "TAKE_PROFIT_MARKET", "amend", "place-list", "counted",
	} {
		if seen[what] == 0 {
			t.Errorf("%s: never", what)
		}
	}
}

// kindOf returns the type of the order that a command places, or the command's name.
func kindOf(cmd *bourse.Command) string {
	if cmd.Kind == bourse.CommandPlace {
		return cmd.NewOrder.Type.String()
	}
	name, _, _ := strings.Cut(record.Describe(cmd), " ")
	return name
}

// TestRestoreRefusesSpoiltSums damages states with sums.
func TestRestoreRefusesSpoiltSums(t *testing.T) {
	x := tiered(t, true)
	x.credit(1, btc, 1000)
	x.must(withdrawCommand(1, withdrawOf(btc, 77, 1)))
	data := snapshot(x.e)
	restored := 0
	for i := range data {
		spoilt := append([]byte(nil), data...)
		spoilt[i] ^= 1
		e, err := engine.Restore(spoilt, func(*bourse.Events) {})
		if err == nil {
			restored++
			if err := e.Check(); err != nil {
				t.Fatalf("byte %d: %v", i, err)
			}
		}
	}
	if restored == len(data) {
		t.Error("every state was restored")
	}
}
