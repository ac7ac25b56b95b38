package signer_test

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// approver returns the key of an approver.
func approver(number byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed([]byte{31: number})
}

func public(key ed25519.PrivateKey) ed25519.PublicKey {
	return ed25519.PublicKey(key[ed25519.SeedSize:])
}

// newApproved is a bench with two of three approvers, where a thousand units are free.
func newApproved(t *testing.T) *bench {
	b := newBench(t)
	b.approvers = signer.Approvers{
		Need: 2, Keys: []ed25519.PublicKey{public(approver(1)), public(approver(2)), public(approver(3))},
	}
	l := signer.Unlimited("BTC")
	l.Free = bourse.Units(1000)
	b.limits["BTC"] = l
	b.open()
	return b
}

func (b *bench) approve(p signer.Payment, by ...byte) {
	b.t.Helper()
	for _, number := range by {
		a := signer.Approve(p, approver(number), b.now+bourse.Day)
		if err := b.signer.Approve(&a); err != nil {
			b.t.Fatal(err)
		}
	}
}

// waits returns the one payment that waits for approvals.
func (b *bench) waits() signer.Payment {
	b.t.Helper()
	list := b.signer.Waiting()
	if len(list) != 1 {
		b.t.Fatalf("waiting: %+v", list)
	}
	return list[0]
}

// TestApprovals signs beyond what is free with two approvals of exactly this payment.
func TestApprovals(t *testing.T) {
	b := newApproved(t)
	p, e := b.payment(btc, 1, 1000)
	b.signs(b.prepare(btc, p), e)
	p, e = b.payment(btc, 2, 1001)
	u := b.prepare(btc, p)
	b.refuses(u, e, signer.ErrUnapproved)
	b.refuses(u, e, signer.ErrLimit)

	asked := b.waits()
	want := signer.Payment{
		Exchange: sandbox.ID, Sandbox: true, Incarnation: 1, Network: "BTC", Chain: "devnet:BTC", Coin: "BTC", Decimals: 8, ID: 2,
		Amount: "0.00001001", Address: p.To.Address,
	}
	if asked != want {
		t.Errorf("waiting is %+v, want %+v", asked, want)
	}
	b.approve(asked, 1, 1)
	b.refuses(u, e, signer.ErrUnapproved)
	b.approve(asked, 3)
	b.signs(u, e)
	if list := b.signer.Waiting(); len(list) > 0 {
		t.Errorf("%+v still waits", list)
	}
}

// TestEndedPaymentsDoNotWait shows approvers no withdrawal that has ended: a crowd of canceled ones would
// displace those that wait.
func TestEndedPaymentsDoNotWait(t *testing.T) {
	b := newApproved(t)
	for id := bourse.WalletID(1); id <= 2; id++ {
		p, e := b.payment(btc, id, 5000)
		b.refuses(b.prepare(btc, p), e, signer.ErrUnapproved)
	}
	if err := b.signer.Void(t.Context(), btc, 1); err != nil {
		t.Fatal(err)
	}
	if left := b.waits(); left.ID != 2 {
		t.Errorf("%+v waits", left)
	}
}

// TestApprovalsAreExact changes one field of what is approved at a time.
func TestApprovalsAreExact(t *testing.T) {
	b := newApproved(t)
	p, e := b.payment(btc, 2, 5000)
	u := b.prepare(btc, p)
	b.refuses(u, e, signer.ErrUnapproved)
	asked := b.waits()
	fields := map[string]func(*signer.Payment){
		"network":  func(p *signer.Payment) { p.Network = "LTC" },
		"chain":    func(p *signer.Payment) { p.Chain = "devnet:LTC" },
		"coin":     func(p *signer.Payment) { p.Coin = "ETH" },
		"decimals": func(p *signer.Payment) { p.Decimals = 6 },
		"id":       func(p *signer.Payment) { p.ID++ },
		"attempt":  func(p *signer.Payment) { p.Attempt++ },
		"amount":   func(p *signer.Payment) { p.Amount = "0.00005001" },
		"address":  func(p *signer.Payment) { p.Address += "q" },
		"memo":     func(p *signer.Payment) { p.Memo = "1" },
	}
	for name, change := range fields {
		forged := signer.Approve(asked, approver(1), b.now+bourse.Day)
		change(&forged.Payment)
		if err := b.signer.Approve(&forged); !errors.Is(err, signer.ErrApproval) {
			t.Errorf("%s was changed behind the signature: %v", name, err)
		}
		other := asked
		change(&other)
		b.approve(other, 1, 2)
		t.Run(name, func(*testing.T) { b.refuses(u, e, signer.ErrUnapproved) })
	}

	good := signer.Approve(asked, approver(1), b.now+bourse.Day)
	for name, change := range map[string]func(*signer.Approval){
		"signature": func(a *signer.Approval) { a.Signature[0] ^= 1 },
		"key":       func(a *signer.Approval) { copy(a.Key[:], public(approver(2))) },
		"field":     func(a *signer.Approval) { a.Amount = "9" },
		"expiry":    func(a *signer.Approval) { a.Expires++ },
		"exchange":  func(a *signer.Approval) { a.Exchange[0] ^= 1; *a = signer.Approve(a.Payment, approver(1), b.now+1) },
		"stranger":  func(a *signer.Approval) { *a = signer.Approve(a.Payment, approver(9), b.now+bourse.Day) },
		"incarnation": func(a *signer.Approval) {
			a.Incarnation++
			*a = signer.Approve(a.Payment, approver(1), b.now+bourse.Day)
		},
		"sandbox": func(a *signer.Approval) {
			a.Sandbox = false
			*a = signer.Approve(a.Payment, approver(1), b.now+bourse.Day)
		},
		"expired":  func(a *signer.Approval) { *a = signer.Approve(a.Payment, approver(1), b.now) },
		"for ever": func(a *signer.Approval) { *a = signer.Approve(a.Payment, approver(1), b.now+8*bourse.Day) },
		"an epoch's": func(a *signer.Approval) {
			other := signer.ApproveEpoch(sandbox, signer.Epoch{Incarnation: 1}, approver(1), b.now+bourse.Day)
			a.Signature = other.Signature
		},
	} {
		bad := good
		change(&bad)
		if err := b.signer.Approve(&bad); !errors.Is(err, signer.ErrApproval) {
			t.Errorf("%s: %v", name, err)
		}
	}

	b.approve(asked, 1, 2)
	b.now += bourse.Day
	b.refuses(u, e, signer.ErrUnapproved)
	b.approve(asked, 1, 2)
	b.signs(u, e)
}

// TestFurtherAttempts signs an attempt that excludes nothing with approvals of that attempt,
// and counts it against the limits.
func TestFurtherAttempts(t *testing.T) {
	b := newApproved(t)
	b.limits["BTC"] = signer.Limit{
		Payment: bourse.Units(1000), Hour: bourse.Units(1500), Day: bourse.Units(1500), Free: bourse.Units(1000),
	}
	b.open()
	p, e := b.payment(btc, 1, 600)
	b.signs(b.prepare(btc, p), e)
	asked := signer.Payment{
		Exchange: sandbox.ID, Sandbox: true, Incarnation: 1, Network: "BTC", Chain: "devnet:BTC", Coin: "BTC", Decimals: 8, ID: 1,
		Attempt: 1, Amount: e.Amount.Format(8), Address: e.To.Address,
	}
	p.Inputs = b.outputs(btc)[2:3]
	u := b.prepare(btc, p)
	e.Attempt = 1
	b.refuses(u, e, signer.ErrRival)
	b.approve(asked, 1, 2)
	b.signs(u, e)

	e.Attempt, asked.Attempt = 2, 2
	p.Inputs = b.outputs(btc)[3:4]
	b.approve(asked, 1, 2)
	b.refuses(b.prepare(btc, p), e, signer.ErrSpent)
	b.open() // the record remembers
	b.approve(asked, 1, 2)
	b.refuses(b.prepare(btc, p), e, signer.ErrSpent)
}

// TestAllowList pays a destination above what is free once it has been listed for a day, by the
// signer's own clock; one that was taken off begins anew.
func TestAllowList(t *testing.T) {
	b := newApproved(t)
	p, e := b.payment(btc, 1, 5000)
	b.allowed = []chain.Destination{p.To}
	b.open()
	u := b.prepare(btc, p)
	b.refuses(u, e, signer.ErrUnapproved)
	b.now += bourse.Day - 1
	b.open()
	b.refuses(u, e, signer.ErrUnapproved)

	b.allowed = nil
	b.open()
	b.allowed = []chain.Destination{p.To}
	b.open()
	b.now += bourse.Day - 1
	b.refuses(u, e, signer.ErrUnapproved)
	b.now++
	b.signs(u, e)
	other, oe := b.payment(btc, 2, 5000)
	b.refuses(b.prepare(btc, other), oe, signer.ErrUnapproved)
}

// TestWaitingIsBounded asks for more than is listed: the lowest ids are, and those that are not asked for any
// more make room. An approver who fills his own room leaves that of the others.
func TestWaitingIsBounded(t *testing.T) {
	b := newApproved(t)
	for id := bourse.WalletID(1); id <= 120; id++ {
		p, e := b.payment(btc, id, 5000)
		b.refuses(b.prepare(btc, p), e, signer.ErrUnapproved)
	}
	list := b.signer.Waiting()
	if len(list) != 100 || list[0].ID != 1 || list[99].ID != 100 {
		t.Errorf("%d wait, and %+v last", len(list), list[len(list)-1])
	}
	b.now += bourse.Hour - 1
	p, e := b.payment(btc, 90, 5000)
	b.refuses(b.prepare(btc, p), e, signer.ErrUnapproved)
	b.now++
	p, e = b.payment(btc, 121, 5000)
	b.refuses(b.prepare(btc, p), e, signer.ErrUnapproved)
	if now := b.signer.Waiting(); len(now) != 2 || now[0].ID != 90 || now[1].ID != 121 {
		t.Errorf("an hour later %d wait, %+v", len(now), now)
	}

	long := list[0]
	long.Memo = strings.Repeat("m", 4<<10)
	if a := signer.Approve(long, approver(1), b.now+bourse.Day); !errors.Is(b.signer.Approve(&a), signer.ErrApproval) {
		t.Error("an approval of more than 4 KiB is taken")
	}
	for n := range 1001 {
		p := list[0]
		p.Memo = fmt.Sprint(n)
		a := signer.Approve(p, approver(1), b.now+bourse.Day)
		if err := b.signer.Approve(&a); (err == nil) != (n < 1000) {
			t.Fatalf("approval %d: %v", n, err)
		}
	}
	b.approve(list[0], 2, 3)
}

// TestAdoptions wants the approvers' signatures of this epoch.
func TestAdoptions(t *testing.T) {
	b := newApproved(t)
	to := signer.Epoch{Incarnation: 2}
	good := func(by byte) signer.Adoption { return signer.ApproveEpoch(sandbox, to, approver(by), b.now+bourse.Day) }
	other := signer.Exchange{ID: signer.ExchangeID{1}, Sandbox: true}
	for name, list := range map[string][]signer.Adoption{
		"none":     nil,
		"one":      {good(1)},
		"twice":    {good(1), good(1)},
		"stranger": {good(1), good(9)},
		"epoch":    {good(1), signer.ApproveEpoch(sandbox, signer.Epoch{Incarnation: 3}, approver(2), b.now+bourse.Day)},
		"exchange": {good(1), signer.ApproveEpoch(other, to, approver(2), b.now+bourse.Day)},
		"expired":  {good(1), signer.ApproveEpoch(sandbox, to, approver(2), b.now)},
	} {
		if err := b.signer.Adopt(to, list); err == nil {
			t.Errorf("%s: adopted", name)
		}
	}
	if err := b.signer.Adopt(to, []signer.Adoption{good(1), good(3)}); err != nil {
		t.Error(err)
	}
	b.session(2, 1)
}

// TestApproversAreChecked refuses settings under which nobody or everybody approves.
func TestApproversAreChecked(t *testing.T) {
	b := newBench(t)
	one, two := public(approver(1)), public(approver(2))
	for _, a := range []signer.Approvers{
		{Need: 1}, {Need: 0, Keys: []ed25519.PublicKey{one}}, {Need: 3, Keys: []ed25519.PublicKey{one, two}},
		{Need: 2, Keys: []ed25519.PublicKey{one, one}}, {Need: 1, Keys: []ed25519.PublicKey{one[1:]}}, {Need: -1},
	} {
		if _, err := signer.Open(b.disk, signer.Options{New: true, Exchange: sandbox, Approvers: a}); err == nil {
			t.Errorf("%d of %d", a.Need, len(a.Keys))
		}
	}
}
