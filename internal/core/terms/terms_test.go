package terms_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/core/terms"
)

// TestOrderOfReasons takes a request in which everything is wrong, mends one thing at a
// time, and wants the reasons in their order.
func TestOrderOfReasons(t *testing.T) {
	maximum := bourse.Amount{Hi: 1<<64 - 1, Lo: 1<<64 - 1}
	asked := &bourse.Withdraw{Network: 1, Asset: 1, Internal: 9, Amount: bourse.Units(1), Fee: maximum, Memo: "7"}
	c := terms.Case{Asked: asked, Frozen: true, Book: bourse.AddressTaken, Open: terms.MaxOpen}
	c.Limit.Day = bourse.Bound{Set: true, Most: bourse.Units(999)}
	c.Moved.Day = bourse.Units(2)
	asset, network := bourse.Asset{ID: 1, Scale: 8}, bourse.Network{ID: 1}
	of := bourse.NetworkAsset{
		Precision: 6, MinWithdrawal: bourse.Units(1000), FeeMin: bourse.Units(200), FeeMax: bourse.Units(900),
	}
	for _, step := range []struct {
		reason bourse.Reason
		mend   func()
	}{
		{bourse.AccountFrozen, func() { c.Frozen = false }},
		{bourse.UnknownAsset, func() { c.Asset = &asset }},
		{bourse.UnknownNetwork, func() { c.Network = &network }},
		{bourse.UnknownAccount, func() { c.Recipient = true }},
		{bourse.NotOnNetwork, func() { c.Terms = &of }},
		{bourse.WithdrawalsClosed, func() { asset.Enabled = true }},
		{bourse.WithdrawalsClosed, func() { network.Enabled = true }},
		{bourse.WithdrawalsClosed, func() { of.Enabled = true }},
		{bourse.MemoNotAllowed, func() { network.MemoName = "memo" }},
		{bourse.BadPrecision, func() { asked.Amount = bourse.Units(100) }},
		{bourse.BadPrecision, func() { asked.Fee = bourse.Units(1000) }},
		{bourse.BelowMinWithdrawal, func() { asked.Amount = maximum.Minus(bourse.Units(55)) }}, // in whole steps
		{bourse.FeeOutOfRange, func() { asked.Fee = bourse.Units(100) }},
		{bourse.AddressTaken, func() { c.Book = 0 }},
		{bourse.TooManyWithdrawals, func() { c.Open-- }},
		{bourse.InsufficientFunds, func() { asked.Internal = 0 }}, // then the least fee counts
		{bourse.FeeOutOfRange, func() { asked.Fee = bourse.Units(200) }},
		{bourse.Overflow, func() { asked.Amount = bourse.Units(1000) }},
		{bourse.InsufficientFunds, func() { c.Available = bourse.Units(1199) }},
		{bourse.InsufficientFunds, func() { c.Available = bourse.Units(1200) }},
		{bourse.WithdrawalLimit, func() { c.Limit.Day.Most = bourse.Units(1001) }},
		{bourse.WithdrawalLimit, func() { c.Moved.Day = bourse.Units(1) }},
		{0, func() {}},
	} {
		if got := c.Refusal(); got != step.reason {
			t.Fatalf("%+v: %q, want %q", c, got, step.reason)
		}
		step.mend()
	}
}

// TestTransfer wants a transfer to ask for an asset and a recipient, and for no network.
func TestTransfer(t *testing.T) {
	asset := bourse.Asset{ID: 1, Scale: 8}
	c := terms.Case{Asked: &bourse.Withdraw{Asset: 1, Internal: 2, Amount: bourse.Units(1)}}
	for _, step := range []struct {
		reason bourse.Reason
		mend   func()
	}{
		{bourse.UnknownAsset, func() { c.Asset = &asset }},
		{bourse.UnknownAccount, func() { c.Recipient = true }},
		{bourse.WithdrawalsClosed, func() { asset.Enabled = true }},
		{bourse.InsufficientFunds, func() { c.Available = bourse.Units(1) }},
		{0, func() {}},
	} {
		if got := c.Refusal(); got != step.reason {
			t.Fatalf("%+v: %q, want %q", c, got, step.reason)
		}
		step.mend()
	}
}
