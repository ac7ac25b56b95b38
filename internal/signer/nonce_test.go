package signer_test

import (
	"fmt"
	"hash/crc32"
	"regexp"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/disk"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// topUp is a top-up of an account's address, with a nonce.
func (b *bench) topUp(account uint32, nonce uint64) (chain.Payment, signer.Expect) {
	p := chain.Payment{
		Kind: bourse.SignedTopUp, Coin: "ETH", Amount: bourse.Units(1e14), To: b.clients[eth].Destination(account),
		CostCap: bourse.Units(1e15), Nonce: nonce,
	}
	return p, signer.Expect{
		Network: eth, Kind: p.Kind, Coin: p.Coin, Amount: p.Amount, To: p.To, CostCap: p.CostCap, Account: account, Nonce: nonce,
	}
}

// TestNonceBelongsToAWithdrawal refuses other payments with the nonce of a withdrawal, before and
// after a start, until the withdrawal was ended.
func TestNonceBelongsToAWithdrawal(t *testing.T) {
	b := newBench(t)
	p, e := b.payment(eth, 1, 1_000_000)
	b.signs(b.prepare(eth, p), e)
	other, oe := b.payment(eth, 2, 1_000_000)
	top, te := b.topUp(5, 0)
	for range 2 {
		b.refuses(b.prepare(eth, other), oe, signer.ErrNonce)
		b.refuses(b.prepare(eth, top), te, signer.ErrNonce)
		b.open()
	}
	e.Attempt = 1
	b.signs(b.prepare(eth, p), e) // the same payment

	if err := b.signer.Void(t.Context(), eth, 1); err != nil {
		t.Fatal(err)
	}
	b.open()
	b.signs(b.prepare(eth, other), oe)
	for range 2 {
		third, e3 := b.payment(eth, 3, 1_000_000)
		b.refuses(b.prepare(eth, third), e3, signer.ErrNonce) // it is the second one's now
		b.open()
	}

	// Money that stays with the exchange holds no nonce.
	top, te = b.topUp(5, 1)
	b.signs(b.prepare(eth, top), te)
	fourth, e4 := b.payment(eth, 4, 1_000_000)
	fourth.Nonce, e4.Nonce = 1, 1
	b.signs(b.prepare(eth, fourth), e4)
}

// TestNoncesOfOldRecords takes the nonces of a record without payers from its bytes.
func TestNoncesOfOldRecords(t *testing.T) {
	b := newBench(t)
	p, e := b.payment(eth, 1, 1_000_000)
	p.Nonce, e.Nonce = 7, 7
	b.signs(b.prepare(eth, p), e)
	line, err := disk.ReadFile(b.disk, "signed.log")
	if err != nil {
		t.Fatal(err)
	}
	const sum = 8 + 1 // the checksum and a space
	old := regexp.MustCompile(`,"payer":\{[^}]*\}`).ReplaceAll(line[sum:len(line)-1], nil)
	old = fmt.Appendf(nil, "%08x %s\n", crc32.Checksum(old, crc32.MakeTable(crc32.Castagnoli)), old)
	if len(old) == len(line) {
		t.Fatalf("no payer is in %s", line)
	}
	if err := disk.Replace(b.disk, "signed.log", "signed.log.tmp", old); err != nil {
		t.Fatal(err)
	}
	b.open()
	other, oe := b.payment(eth, 2, 1_000_000)
	other.Nonce, oe.Nonce = 7, 7
	b.refuses(b.prepare(eth, other), oe, signer.ErrNonce)
}

// TestNoJournalTakesIt refuses nonces that no journal has: an exchange could never take over such an entry, and its
// network would sign nothing more.
func TestNoJournalTakesIt(t *testing.T) {
	b := newBench(t)
	p, e := b.payment(eth, 1, 1_000_000)
	p.Nonce, e.Nonce = 1<<62, 1<<62
	b.refuses(b.prepare(eth, p), e, signer.ErrMismatch)
	p.Nonce, e.Nonce = 1<<62-1, 1<<62-1
	b.signs(b.prepare(eth, p), e)
}
