package signer_test

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain/bitcoin"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/disk/memdisk"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// hello is what the exchange of the tests says in an epoch.
func (b *bench) hello(incarnation bourse.Incarnation, term uint64) *signer.Hello {
	return &signer.Hello{
		Exchange: sandbox, Epoch: signer.Epoch{Incarnation: incarnation, Term: term},
		Networks: []signer.Account{b.account(btc), b.account(eth)},
	}
}

func (b *bench) session(incarnation bourse.Incarnation, term uint64) *signer.Session {
	b.t.Helper()
	s, err := b.signer.Session(b.hello(incarnation, term))
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

func (b *bench) noSession(h *signer.Hello, want error) {
	b.t.Helper()
	if s, err := b.signer.Session(h); !errors.Is(err, want) || s != nil {
		b.t.Errorf("hello %+v: %v, want %v", h, err, want)
	}
}

// TestOldEpochs serves the highest epoch alone, also after a start.
func TestOldEpochs(t *testing.T) {
	b := newBench(t)
	old := b.session(1, 7)
	p, e := b.payment(btc, 1, 1_000)
	u := b.prepare(btc, p)
	signed, err := old.Sign(t.Context(), u, e)
	if err != nil {
		t.Fatal(err)
	}
	next := b.session(1, 8)
	if _, err := old.Sign(t.Context(), u, e); !errors.Is(err, signer.ErrEpoch) {
		t.Errorf("an old epoch signs: %v", err)
	}
	if _, _, err := old.After(t.Context(), btc, 0); !errors.Is(err, signer.ErrEpoch) {
		t.Errorf("an old epoch is told the record: %v", err)
	}
	if err := old.Void(t.Context(), btc, 9); !errors.Is(err, signer.ErrEpoch) {
		t.Errorf("an old epoch ends withdrawals: %v", err)
	}
	if again, err := next.Sign(t.Context(), u, e); err != nil || again.Hash != signed.Hash {
		t.Errorf("the next epoch gets %x, %v", again.Hash, err)
	}

	b.open()
	b.noSession(b.hello(1, 7), signer.ErrEpoch)
	b.session(1, 8)
}

// TestJumps wants an operator's adoption for a new incarnation and for terms that jump.
func TestJumps(t *testing.T) {
	b := newBench(t)
	b.session(1, 1000)
	b.noSession(b.hello(1, 2001), signer.ErrAdopt)
	b.noSession(b.hello(2, 1001), signer.ErrAdopt)
	b.session(1, 2000)
	if err := b.signer.Adopt(signer.Epoch{Incarnation: 2}, nil); err != nil {
		t.Fatal(err)
	}
	b.open()
	b.noSession(b.hello(1, 2001), signer.ErrEpoch)
	b.session(2, 1)
	if err := b.signer.Adopt(signer.Epoch{Incarnation: 1, Term: 9}, nil); !errors.Is(err, signer.ErrEpoch) {
		t.Errorf("an old epoch is adopted: %v", err)
	}
}

// TestEpochIsDurable loses power at each operation of the disk in hello: a session that began
// has its epoch after the next start.
func TestEpochIsDurable(t *testing.T) {
	for at := 1; at < 12; at++ {
		b := newBench(t)
		b.session(1, 1)
		b.disk.StopAt(at)
		_, err := b.signer.Session(b.hello(1, 2))
		b.open()
		if err == nil {
			b.noSession(b.hello(1, 1), signer.ErrEpoch)
		}
	}
}

// TestOtherExchanges says hello as others, on other chains, and with other keys.
func TestOtherExchanges(t *testing.T) {
	b := newBench(t)
	for name, c := range map[string]struct {
		change func(h *signer.Hello)
		want   error
	}{
		"id":      {func(h *signer.Hello) { h.Exchange.ID[15] ^= 1 }, signer.ErrExchange},
		"no id":   {func(h *signer.Hello) { h.Exchange.ID = signer.ExchangeID{} }, signer.ErrExchange},
		"sandbox": {func(h *signer.Hello) { h.Exchange.Sandbox = false }, signer.ErrExchange},
		"chain":   {func(h *signer.Hello) { h.Networks[0].Chain = "devnet:LTC" }, signer.ErrKeys},
		"keys":    {func(h *signer.Hello) { h.Networks[1].Public += " " }, signer.ErrKeys},
		"cold":    {func(h *signer.Hello) { h.Networks[1].Cold = "wpkh(…)" }, signer.ErrKeys},
		"network": {func(h *signer.Hello) { h.Networks[0].Name = "DOGE" }, signer.ErrKeys},
	} {
		h := b.hello(1, 5)
		c.change(h)
		t.Run(name, func(*testing.T) { b.noSession(h, c.want) })
	}
	b.session(1, 1) // what was refused raised nothing
}

// TestPins pins a signer once; a sandbox's takes the first exchange that asks.
func TestPins(t *testing.T) {
	d := memdisk.New(1)
	if _, err := signer.Open(d, signer.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without pins it opens: %v", err)
	}
	if err := signer.Create(d, signer.Exchange{}, signer.Epoch{Incarnation: 1}); err == nil {
		t.Error("a signer of real money has no exchange")
	}
	if err := signer.Create(d, signer.Exchange{Sandbox: true}, signer.Epoch{Incarnation: 1}); err != nil {
		t.Fatal(err)
	}
	if err := signer.Create(d, sandbox, signer.Epoch{Incarnation: 1}); err == nil {
		t.Error("it is pinned twice")
	}
	first, other := sandbox, signer.Exchange{ID: signer.ExchangeID{8}, Sandbox: true}
	for range 2 {
		s, err := signer.Open(d, signer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Session(&signer.Hello{Exchange: first, Epoch: signer.Epoch{Incarnation: 1}}); err != nil {
			t.Error(err)
		}
		if _, err := s.Session(&signer.Hello{Exchange: other, Epoch: signer.Epoch{Incarnation: 1}}); !errors.Is(err, signer.ErrExchange) {
			t.Errorf("another exchange: %v", err)
		}
	}

	for _, symbols := range [][]bourse.Symbol{{"LTC"}, {"BTC", "LTC"}, {"BTC"}} {
		numbers, err := signer.Number(d, symbols)
		if err != nil || numbers["LTC"] != 1 || len(symbols) == 2 && numbers["BTC"] != 2 {
			t.Errorf("%v: %v, %v", symbols, numbers, err)
		}
	}

	whole, err := disk.ReadFile(d, "pins.json")
	if err != nil {
		t.Fatal(err)
	}
	for at := range whole[:len(whole)-1] {
		whole[at] ^= 1
		if err := disk.Replace(d, "pins.json", "tmp", whole); err != nil {
			t.Fatal(err)
		}
		if _, err := signer.ReadPins(d); err == nil {
			t.Errorf("byte %d is damaged, and they are read", at)
		}
		whole[at] ^= 1
	}
}

// TestChains refuses a sandbox on a chain whose coins are worth something, and an exchange of
// real money on an embedded one. The signer's list agrees with the adapter's.
func TestChains(t *testing.T) {
	opens := func(isSandbox bool, identity string) error {
		d := memdisk.New(1)
		x := signer.Exchange{ID: signer.ExchangeID{1}, Sandbox: isSandbox}
		if err := signer.Create(d, x, signer.Epoch{Incarnation: 1}); err != nil {
			t.Fatal(err)
		}
		_, err := signer.Open(d, signer.Options{
			Networks: map[bourse.NetworkID]signer.Network{1: {Account: signer.Account{Name: "BTC", Chain: identity}}},
		})
		return err
	}
	for _, p := range bitcoin.All() {
		if err := opens(true, p.Identity()); (err == nil) != p.Test || err != nil && !errors.Is(err, signer.ErrRealChain) {
			t.Errorf("a sandbox on %s: %v", p.Name, err)
		}
		if err := opens(false, p.Identity()); err != nil {
			t.Errorf("real money on %s: %v", p.Name, err)
		}
	}
	for identity, isTest := range map[string]bool{
		"evm:1": false, "evm:31337": true, "cosmos:cosmoshub-4": false, "cosmos:dev-1": true, "cosmos:provider": true, "": false, "devnet:BTC": true,
	} {
		if err := opens(true, identity); (err == nil) != isTest {
			t.Errorf("a sandbox on %q: %v", identity, err)
		}
	}
	if opens(false, "devnet:BTC") == nil {
		t.Error("real money is on an embedded network")
	}
}

// TestEpochOnAFullDisk lets an exchange start that holds its signer itself. Nothing is signed before its epoch is durable.
func TestEpochOnAFullDisk(t *testing.T) {
	b := newBench(t)
	p, e := b.payment(btc, 1, 1_000)
	u := b.prepare(btc, p)
	b.disk.SetCapacity(0)
	if err := b.signer.Raise(signer.Epoch{Incarnation: 1, Term: 9}); err != nil {
		t.Fatal(err)
	}
	b.refuses(u, e, syscall.ENOSPC)
	term := func() uint64 {
		pins, err := signer.ReadPins(b.disk)
		if err != nil {
			t.Fatal(err)
		}
		return pins.Term
	}
	if got := term(); got != 0 {
		t.Errorf("the term is %d on a full disk", got)
	}
	b.disk.SetCapacity(1 << 30)
	b.signs(u, e)
	if got := term(); got != 9 {
		t.Errorf("the term is %d after a signature", got)
	}
}
