package news

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/view"
)

// rig is a desk with a clock, two assets and a market, and what it sent.
type rig struct {
	*testing.T
	*Desk
	now   bourse.Time
	wants map[bourse.AccountID]account.News
	// letters are the letters by account.
	letters map[bourse.AccountID][]string
	failed  []error
	refuses bool
}

const everything = account.NewsFills | account.NewsDeposits | account.NewsWithdrawals

func newRig(t *testing.T) *rig {
	r := &rig{T: t, now: bourse.Hour, wants: map[bourse.AccountID]account.News{}, letters: map[bourse.AccountID][]string{}}
	c := &view.Catalogue{
		Assets:  []*bourse.Asset{nil, {ID: 1, Symbol: "BTC", Scale: 8}, {ID: 2, Symbol: "USDT", Scale: 6}},
		Markets: []*bourse.Market{nil},
	}
	for range 2 * mostLines {
		c.Markets = append(c.Markets, &bourse.Market{Pair: "BTC/USDT", Base: 1, Quote: 2, BasePrecision: 4, LotUnit: 10_000})
	}
	r.Desk = New(Options{
		Wants:  func(id bourse.AccountID) account.News { return r.wants[id] },
		Wanted: func() bool { return len(r.wants) > 0 }, Latest: func() *view.Catalogue { return c },
		Send: func(_ context.Context, id bourse.AccountID, text string) error {
			r.letters[id] = append(r.letters[id], text)
			if r.refuses {
				return errors.New("no mail")
			}
			return nil
		},
		OnFailure: func(err error) { r.failed = append(r.failed, err) }, Gather: bourse.Minute, Every: 15 * bourse.Minute,
	})
	return r
}

// apply observes a command with trades, deposits and withdrawals.
func (r *rig) apply(fill func(*bourse.Events)) {
	ev := &bourse.Events{}
	fill(ev)
	for i := range ev.Wallet.Deposits {
		ev.List = append(ev.List, bourse.Event{Kind: bourse.EventDeposit, At: uint32(i)})
	}
	for i := range ev.Wallet.Withdrawals {
		ev.List = append(ev.List, bourse.Event{Kind: bourse.EventWithdrawal, At: uint32(i)})
	}
	r.Begin()
	r.Observe(&bourse.Command{Kind: bourse.CommandPlace, Time: r.now}, ev)
	r.End()
}

// trade lets account 1 sell 0.5 BTC to account 2, who takes.
func (r *rig) trade(market bourse.MarketID) {
	r.apply(func(ev *bourse.Events) {
		ev.Trades = append(ev.Trades, bourse.Trade{
			Market: market, TakerSide: bourse.Buy, Lots: 5000, Total: bourse.Amount{Lo: 30_000_000_000},
			Maker: bourse.Fill{Account: 1}, Taker: bourse.Fill{Account: 2},
		})
	})
}

// pass lets time pass, and steps.
func (r *rig) pass(time bourse.Time) {
	r.now += time
	r.Step(r.Context(), r.now)
}

// want wants the letters of an account.
func (r *rig) want(id bourse.AccountID, letters ...string) {
	r.Helper()
	if got := strings.Join(r.letters[id], "|"); got != strings.Join(letters, "|") {
		r.Errorf("the letters of %d are\n%s\nwant\n%s", id, got, strings.Join(letters, "|"))
	}
}

func TestFillsAreOneLetter(t *testing.T) {
	r := newRig(t)
	r.wants[1], r.wants[2] = account.NewsFills, account.NewsDeposits
	r.trade(1) // in a replay
	r.Start()
	for range 3 {
		r.trade(1)
	}
	r.pass(bourse.Minute - 1)
	r.want(1)
	r.pass(1)
	r.want(1, "Sold 1.5 BTC for 90000 USDT, in 3 trades on BTC/USDT")
	r.want(2)

	// The next letter waits, however much happens.
	for range 1000 {
		r.trade(1)
		r.pass(bourse.Second / 2)
	}
	r.want(1, "Sold 1.5 BTC for 90000 USDT, in 3 trades on BTC/USDT")
	r.pass(15*bourse.Minute - 500*bourse.Second)
	r.want(1, "Sold 1.5 BTC for 90000 USDT, in 3 trades on BTC/USDT", "Sold 500 BTC for 30000000 USDT, in 1000 trades on BTC/USDT")
	r.pass(bourse.Hour)
	if len(r.letters[1]) != 2 || len(r.pending)+len(r.sent) != 0 {
		t.Errorf("without news: %d letters; %d and %d are kept", len(r.letters[1]), len(r.pending), len(r.sent))
	}
}

// TestMovements wants each step of money in and out once, and nothing of what only changes.
func TestMovements(t *testing.T) {
	r := newRig(t)
	r.wants[1] = everything
	r.Start()
	some := bourse.Amount{Lo: 150_000_000}
	at := r.now
	withdraw := bourse.Withdraw{Asset: 1, Network: 1, Amount: some}
	r.apply(func(ev *bourse.Events) {
		ev.Wallet.Deposits = []bourse.Deposit{
			{ID: 1, Account: 1, Network: 1, Asset: 1, Amount: some, Status: bourse.WalletPending},
			{ID: 2, Account: 1, Network: 1, Asset: 1, Amount: some, Status: bourse.WalletDone, Done: at},
			{ID: 3, Account: 1, Network: 1, Asset: 1, Amount: some, Status: bourse.WalletDone, Done: at - 1},
			{ID: 4, Account: 1, Asset: 1, From: 9, By: 2, Amount: some, Status: bourse.WalletDone, Done: at},
			{ID: 5, Network: 1, Asset: 1, Amount: some, Status: bourse.WalletDone, Done: at}, // parked
		}
		ev.Wallet.Withdrawals = []bourse.Withdrawal{
			{ID: 6, Account: 1, Withdraw: withdraw, Status: bourse.WalletPending, Created: at},
			{ID: 6, Account: 1, Withdraw: withdraw, Status: bourse.WalletProcessing, Created: at},
			{ID: 7, Account: 1, Withdraw: withdraw, Status: bourse.WalletDone, Created: at - 9, Done: at},
			{ID: 8, Account: 1, Withdraw: withdraw, Status: bourse.WalletCanceled, Created: at - 9, Done: at},
			{ID: 10, Account: 1, Withdraw: withdraw, Status: bourse.WalletDone, Done: at, Refunded: true},
		}
	})
	r.pass(bourse.Minute)
	r.want(1, "Asked to withdraw 1.5 BTC\nWithdrawn 1.5 BTC\nCanceled the withdrawal of 1.5 BTC\nDeposited 1.5 BTC\nReceived from a member 1.5 BTC")
}

// TestLettersAreBounded wants what strangers cause to fill one letter at most.
func TestLettersAreBounded(t *testing.T) {
	r := newRig(t)
	r.wants[1] = everything
	r.Start()
	for i := range 2 * mostLines {
		r.trade(bourse.MarketID(i + 1))
		r.apply(func(ev *bourse.Events) {
			ev.Wallet.Deposits = []bourse.Deposit{{ID: bourse.WalletID(i + 1), Account: 1, Asset: 1, From: 9, Status: bourse.WalletDone, Done: r.now}}
		})
	}
	if p := r.pending[1]; len(p.fills)+len(p.deposits) != mostLines {
		t.Errorf("%d fills and %d deposits are kept", len(p.fills), len(p.deposits))
	}
	r.pass(bourse.Minute)
	if text := r.letters[1][0]; strings.Count(text, "\n") != mostLines || !strings.HasSuffix(text, "\nand 60 more") {
		t.Errorf("the letter is\n%s", text)
	}
}

// TestWithdrawalsAreNotCrowdedOut fills a letter by deposits and trades of strangers before a
// withdrawal is asked for. The letter begins with it. More withdrawals than fit are counted.
func TestWithdrawalsAreNotCrowdedOut(t *testing.T) {
	r := newRig(t)
	r.wants[1] = everything
	r.Start()
	withdraw := func(id bourse.WalletID, amount uint64) {
		r.apply(func(ev *bourse.Events) {
			ev.Wallet.Withdrawals = []bourse.Withdrawal{{
				ID: id, Account: 1, Withdraw: bourse.Withdraw{Asset: 1, Network: 1, Amount: bourse.Amount{Lo: amount}},
				Status: bourse.WalletPending, Created: r.now,
			}}
		})
	}
	for i := range 2 * mostLines {
		r.apply(func(ev *bourse.Events) {
			ev.Wallet.Deposits = []bourse.Deposit{{
				ID: bourse.WalletID(i + 1), Account: 1, Asset: 1, Network: 1, Amount: bourse.Amount{Lo: 1}, Status: bourse.WalletDone, Done: r.now,
			}}
		})
		r.trade(bourse.MarketID(i + 1))
	}
	withdraw(1000, 150_000_000)
	r.pass(bourse.Minute)
	if text := r.letters[1][0]; !strings.HasPrefix(text, "Asked to withdraw 1.5 BTC\nDeposited ") {
		t.Errorf("the letter is\n%s", text)
	}

	for i := range mostLines + 3 {
		withdraw(bourse.WalletID(2000+i), 150_000_000)
	}
	r.trade(1)
	r.pass(15 * bourse.Minute)
	if text := r.letters[1][1]; !strings.Contains(text, "\nand 3 more about withdrawals\nSold ") {
		t.Errorf("the letter is\n%s", text)
	}
}

func TestFailedLetter(t *testing.T) {
	r := newRig(t)
	r.wants[1], r.refuses = everything, true
	r.Start()
	r.trade(1)
	r.pass(bourse.Minute)
	if len(r.failed) != 1 || !strings.Contains(r.failed[0].Error(), "no mail") {
		t.Errorf("failures: %v", r.failed)
	}
}
