package signer_test

import (
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/chain/devnet"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// cool is a move to an address of cold storage that everything is right about.
func (b *bench) cool(id bourse.WalletID, number uint32) (chain.Payment, signer.Expect) {
	b.t.Helper()
	p, e := b.payment(btc, id, 1_000)
	p.Kind, e.Kind = bourse.SignedCool, bourse.SignedCool
	p.To = b.clients[btc].Destination(b.clients[btc].Shape().Cold + number)
	e.To = p.To
	return p, e
}

// TestCoolsToColdStorageAlone signs moves to the addresses of the signer's own descriptor, each once, and passes nothing
// else off as such a move.
func TestCoolsToColdStorageAlone(t *testing.T) {
	b := newBench(t)
	p, e := b.cool(3, 0)
	b.refuses(b.prepare(btc, p), e, signer.ErrMismatch) // without cold storage there is no address of it

	b.clients[btc].Keep(devnet.NewKeys(devnet.Lookup("BTC"), [32]byte{9}).Public())
	b.limits["BTC"] = signer.Limit{} // what stays ours has no limit
	b.open()
	own := b.clients[btc].Destination
	stranger, _ := b.payment(btc, 3, 1_000)
	for name, to := range map[string]chain.Destination{
		"a stranger": stranger.To, "the hot wallet": own(chain.IndexHot), "change": own(chain.IndexChange), "a customer": own(7),
	} {
		wrong, we := b.cool(3, 0)
		wrong.To, we.To = to, to
		t.Log(name)
		b.refuses(b.prepare(btc, wrong), we, signer.ErrMismatch)
	}
	p, e = b.cool(3, chain.ColdAddresses-1)
	u := b.prepare(btc, p)
	for name, change := range map[string]func(*signer.Expect){
		"no id":             func(e *signer.Expect) { e.ID = 0 },
		"an account":        func(e *signer.Expect) { e.Account = 7 },
		"a second attempt":  func(e *signer.Expect) { e.Attempt = 1 },
		"another amount":    func(e *signer.Expect) { e.Amount = bourse.Units(999) },
		"a memo":            func(e *signer.Expect) { e.To.Memo = "x" },
		"a lower cost":      func(e *signer.Expect) { e.CostCap = bourse.Units(1) },
		"as a sweep":        func(e *signer.Expect) { e.Kind = bourse.SignedSweep },
		"an unknown kind":   func(e *signer.Expect) { e.Kind = bourse.SignedCool + 1 },
		"of no network":     func(e *signer.Expect) { e.Network = 99 },
		"of another's coin": func(e *signer.Expect) { e.Coin = "ETH" },
	} {
		wrong := e
		change(&wrong)
		t.Log(name)
		b.refuses(u, wrong, signer.ErrMismatch)
	}

	signed := b.signs(u, e)
	other, again := b.cool(3, chain.ColdAddresses-1)
	other.Inputs = b.outputs(btc)[7:8]
	if got := b.signs(b.prepare(btc, other), again); got.Hash != signed.Hash {
		t.Error("another transaction moves the same order again")
	}
	b.open()
	if got := b.signs(b.prepare(btc, other), again); got.Hash != signed.Hash {
		t.Error("another transaction moves the same order again after a restart")
	}
	_, list, err := b.signer.After(t.Context(), btc, 0)
	if err != nil || len(list) != 1 || list[0].Kind != bourse.SignedCool || list[0].ID != 3 {
		t.Errorf("%+v, %v", list, err)
	}
	pays, pe := b.payment(btc, 3, 1_000)
	b.refuses(b.prepare(btc, pays), pe, signer.ErrAnother) // no withdrawal has the id of an order
}

// TestCoolsCostHalf lets moves to cold storage cost no more than sweeps do in an hour, so that withdrawals can still be paid.
func TestCoolsCostHalf(t *testing.T) {
	b := newBench(t)
	b.clients[btc].Keep(devnet.NewKeys(devnet.Lookup("BTC"), [32]byte{9}).Public())
	p, e := b.cool(1, 1)
	u := b.prepare(btc, p)
	b.costs, _ = u.Cost.Mul(3)
	b.open()
	b.signs(u, e)
	p, e = b.cool(2, 2)
	b.refuses(b.prepare(btc, p), e, signer.ErrCosts)
	p, e = b.payment(btc, 3, 1_000)
	b.signs(b.prepare(btc, p), e)
	b.now += bourse.Hour
	p, e = b.cool(2, 2)
	b.signs(b.prepare(btc, p), e)
}
