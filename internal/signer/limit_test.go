package signer_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
)

func TestLimits(t *testing.T) {
	b := newBench(t)
	b.limits["BTC"] = signer.Limit{
		Payment: bourse.Units(2000), Hour: bourse.Units(1000), Day: bourse.Units(1500), Free: bourse.Units(2000),
	}
	pay := func(xid bourse.WalletID, amount uint64, want error) {
		t.Helper()
		p, e := b.payment(btc, xid, amount)
		u := b.prepare(btc, p)
		if want == nil {
			b.signs(u, e)
		} else {
			b.refuses(u, e, want)
		}
	}
	pay(1, 1001, signer.ErrSpent)
	pay(1, 600, nil)
	pay(2, 401, signer.ErrSpent)
	pay(2, 400, nil)
	b.now += bourse.Hour
	b.open() // the record remembers
	pay(3, 501, signer.ErrSpent)
	pay(3, 500, nil)
	b.now += bourse.Hour
	pay(4, 1, signer.ErrSpent)
	b.now += bourse.Day
	pay(4, 600, nil)

	// A higher limit counts from the same record.
	pay(5, 401, signer.ErrSpent)
	b.limits["BTC"] = signer.Limit{
		Payment: bourse.Units(401), Hour: bourse.Units(2000), Day: bourse.Units(2000), Free: bourse.Units(401),
	}
	pay(6, 402, signer.ErrSpent)
	pay(5, 401, nil)

	// No limit is no money.
	for _, none := range []signer.Limit{
		{}, {Payment: bourse.Units(1e9), Hour: bourse.Units(1e9)}, {Hour: bourse.Units(1e9), Day: bourse.Units(1e9)},
	} {
		b.limits["BTC"] = none
		pay(6, 1, signer.ErrSpent)
	}
}

// TestLimitOnCosts counts what transactions of all kinds cost in an hour, also after a
// start.
func TestLimitOnCosts(t *testing.T) {
	b := newBench(t)
	p, e := b.payment(eth, 1, 1_000_000)
	u := b.prepare(eth, p)
	b.costs = u.Cost.Plus(u.Cost)
	b.open()
	b.signs(u, e)

	top := chain.Payment{
		Kind: bourse.SignedTopUp, Coin: "ETH", Amount: bourse.Units(1e9), To: b.clients[eth].Destination(5), CostCap: p.CostCap, Nonce: 1,
	}
	te := signer.Expect{
		Network: eth, Kind: top.Kind, Coin: top.Coin, Amount: top.Amount, To: top.To, CostCap: top.CostCap, Account: 5, Nonce: 1,
	}
	b.signs(b.prepare(eth, top), te)
	b.open()
	b.refuses(b.prepare(eth, top), te, signer.ErrCosts)
	p, e = b.payment(eth, 2, 1)
	p.Nonce, e.Nonce = 2, 2
	b.refuses(b.prepare(eth, p), e, signer.ErrCosts)
	b.now += bourse.Hour
	b.signs(b.prepare(eth, p), e)

	b.costs = bourse.Amount{}
	b.open()
	p, e = b.payment(btc, 3, 1)
	b.refuses(b.prepare(btc, p), e, signer.ErrCosts)
}

// TestSweepsLeaveCosts lets top-ups take half of the costs of an hour and withdrawals the rest.
func TestSweepsLeaveCosts(t *testing.T) {
	b := newBench(t)
	p, e := b.payment(eth, 1, 1)
	b.costs, _ = b.prepare(eth, p).Cost.Mul(4)
	b.open()
	top := chain.Payment{
		Kind: bourse.SignedTopUp, Coin: "ETH", Amount: bourse.Units(1e9), To: b.clients[eth].Destination(5), CostCap: p.CostCap, Nonce: 3,
	}
	te := signer.Expect{
		Network: eth, Kind: top.Kind, Coin: top.Coin, Amount: top.Amount, To: top.To, CostCap: top.CostCap, Account: 5, Nonce: 3,
	}
	for range 2 {
		b.signs(b.prepare(eth, top), te)
	}
	b.refuses(b.prepare(eth, top), te, signer.ErrCosts)
	b.open() // the record remembers
	b.refuses(b.prepare(eth, top), te, signer.ErrCosts)
	b.signs(b.prepare(eth, p), e)
	p, e = b.payment(eth, 2, 1)
	p.Nonce, e.Nonce = 1, 1
	b.signs(b.prepare(eth, p), e)
	p, e = b.payment(eth, 3, 1)
	p.Nonce, e.Nonce = 2, 2
	b.refuses(b.prepare(eth, p), e, signer.ErrCosts)
	b.now += bourse.Hour
	b.signs(b.prepare(eth, top), te)
}

// TestTopUpsAreBounded moves small sums to a deposit's address, whose costs are far below their limit, until
// half of the hour's costs is there.
func TestTopUpsAreBounded(t *testing.T) {
	b := newBench(t)
	b.costs = bourse.Units(10e14)
	b.open()
	top, e := b.topUp(5, 0)
	for nonce := range uint64(5) {
		top.Nonce, e.Nonce = nonce, nonce
		b.signs(b.prepare(eth, top), e)
	}
	for _, amount := range []uint64{1e14, 1} {
		b.open()
		top.Amount, e.Amount, top.Nonce, e.Nonce = bourse.Units(amount), bourse.Units(amount), 5, 5
		b.refuses(b.prepare(eth, top), e, signer.ErrCosts)
	}
	p, pe := b.payment(eth, 1, 1)
	p.Nonce, pe.Nonce = 5, 5
	b.signs(b.prepare(eth, p), pe) // a withdrawal's costs are not spent

	b.now += bourse.Hour
	top.Nonce, e.Nonce = 6, 6
	b.signs(b.prepare(eth, top), e)
}
