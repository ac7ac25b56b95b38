package ledger

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-exchange/bourse"
)

const asset = bourse.AssetID(1)

// books is the ledger in big integers: what each account has available and has
// held; own accounts are below zero when they owe.
type books struct {
	available, held map[bourse.AccountID]*big.Int
}

func (b *books) of(m map[bourse.AccountID]*big.Int, id bourse.AccountID) *big.Int {
	if m[id] == nil {
		m[id] = new(big.Int)
	}
	return m[id]
}

func toBig(a bourse.Amount) *big.Int {
	n := new(big.Int).SetUint64(a.Hi)
	return n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(a.Lo))
}

func drawAmount(t *rapid.T) bourse.Amount {
	a := bourse.Units(rapid.Uint64Range(1, 1000).Draw(t, "units"))
	if rapid.IntRange(0, 9).Draw(t, "huge") == 0 {
		a.Hi = rapid.Uint64().Draw(t, "high")
	}
	return a
}

// TestPostings draws postings, and wants each to move what it says between the
// accounts that it names, or nothing at all, and the sums to stay equal.
func TestPostings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l Ledger
		var ev bourse.Events
		b := &books{map[bourse.AccountID]*big.Int{}, map[bourse.AccountID]*big.Int{}}
		for range rapid.IntRange(1, 60).Draw(t, "postings") {
			post(t, &l, &ev, b)
			if err := l.Check(asset); err != nil {
				t.Fatal(err)
			}
		}
		compare(t, &l, b)
	})
}

func post(t *rapid.T, l *Ledger, ev *bourse.Events, b *books) {
	ids := []bourse.AccountID{1, 2, 3, bourse.AccountSandbox, bourse.AccountTreasury, bourse.AccountFees, bourse.NetworkAccount(1)}
	customer := func(label string) bourse.AccountID { return rapid.SampledFrom(ids[:3]).Draw(t, label) }
	amount := drawAmount(t)
	n := toBig(amount)
	switch rapid.IntRange(0, 3).Draw(t, "posting") {
	case 0:
		from, to := rapid.SampledFrom(ids).Draw(t, "from"), rapid.SampledFrom(ids).Draw(t, "to")
		if l.Transfer(ev, from, to, asset, amount) {
			b.of(b.available, from).Sub(b.of(b.available, from), n)
			b.of(b.available, to).Add(b.of(b.available, to), n)
		}
	case 1:
		id := customer("holder")
		if l.Of(asset).Hold(ev, id, amount) != (b.of(b.available, id).Cmp(n) >= 0) {
			t.Fatalf("a hold of %s by account %d was decided wrongly", n, id)
		} else if b.of(b.available, id).Cmp(n) >= 0 {
			b.of(b.available, id).Sub(b.of(b.available, id), n)
			b.of(b.held, id).Add(b.of(b.held, id), n)
		}
	case 2:
		id := customer("holder")
		if b.of(b.held, id).Cmp(n) >= 0 {
			l.Of(asset).Release(ev, id, amount)
			b.of(b.held, id).Sub(b.of(b.held, id), n)
			b.of(b.available, id).Add(b.of(b.available, id), n)
		}
	case 3:
		settle(t, l, ev, b, customer("payer"), customer("payee"))
	}
}

// settle pays half of what a customer holds, with a fee and a refund.
func settle(t *rapid.T, l *Ledger, ev *bourse.Events, b *books, from, to bourse.AccountID) {
	held := l.Balance(from, asset).Held
	if held.IsZero() {
		return
	}
	amount, _ := held.Div64(2)
	fee, _ := amount.Div64(rapid.Uint64Range(1, 9).Draw(t, "fee"))
	refund, _ := held.Div64(4)
	l.Of(asset).Give(ev, from, amount, refund)
	l.Of(asset).Receive(ev, to, amount, fee)
	b.of(b.held, from).Sub(b.of(b.held, from), toBig(amount.Plus(refund)))
	b.of(b.available, from).Add(b.of(b.available, from), toBig(refund))
	b.of(b.available, to).Add(b.of(b.available, to), toBig(amount.Minus(fee)))
	fees := b.of(b.available, bourse.AccountFees)
	fees.Add(fees, toBig(fee))
}

func compare(t *rapid.T, l *Ledger, b *books) {
	sum := new(big.Int)
	for _, id := range []bourse.AccountID{1, 2, 3} {
		got := l.Balance(id, asset)
		if toBig(got.Available).Cmp(b.of(b.available, id)) != 0 || toBig(got.Held).Cmp(b.of(b.held, id)) != 0 {
			t.Fatalf("account %d has %+v, want %s and %s", id, got, b.available[id], b.held[id])
		}
		sum.Add(sum, toBig(got.Available)).Add(sum, toBig(got.Held))
	}
	last := bourse.AccountID(0)
	for _, own := range l.Own(asset) {
		if own.Account <= last {
			t.Fatalf("account %d comes after %d", own.Account, last)
		}
		last = own.Account
		n := new(big.Int).Sub(toBig(own.Has), toBig(own.Owes))
		if n.Cmp(b.of(b.available, own.Account)) != 0 {
			t.Fatalf("own account %d stands at %s, want %s", own.Account, n, b.available[own.Account])
		}
		sum.Add(sum, n)
	}
	if sum.Sign() != 0 {
		t.Fatalf("the postings sum to %s", sum)
	}
}

// TestRefusals wants what would break an invariant to change nothing.
func TestRefusals(t *testing.T) {
	var l Ledger
	var ev bourse.Events
	if !l.Transfer(&ev, bourse.AccountSandbox, 1, asset, bourse.MaxAmount) {
		t.Fatal("all that fits is refused")
	}
	for name, ok := range map[string]bool{
		"more than fits": l.Transfer(&ev, bourse.NetworkAccount(1), 2, asset, bourse.Units(1)),
		"another's":      l.Transfer(&ev, 2, 1, asset, bourse.Units(1)),
		"fees":           l.Transfer(&ev, bourse.AccountFees, 1, asset, bourse.Units(1)),
		"hold":           l.Of(asset).Hold(&ev, 2, bourse.Units(1)),
		"other asset":    l.Of(7).Hold(&ev, 1, bourse.Units(1)),
	} {
		if ok {
			t.Errorf("%s: not refused", name)
		}
	}
	if b := l.Balance(1, asset); b.Available != bourse.MaxAmount {
		t.Errorf("account 1 has %+v", b)
	}
	if err := l.Check(asset); err != nil {
		t.Error(err)
	}
}

// TestRestoreOwn refuses what no ledger could have written.
func TestRestoreOwn(t *testing.T) {
	one := bourse.Units(1)
	for name, own := range map[string]Own{
		"customer":  {Account: 1, Has: one},
		"both":      {Account: bourse.AccountTreasury, Has: one, Owes: one},
		"fees owe":  {Account: bourse.AccountFees, Owes: one},
		"owes more": {Account: bourse.AccountTreasury, Owes: one},
	} {
		var l Ledger
		if !l.RestoreOwn(asset, Own{Account: bourse.AccountSandbox, Owes: bourse.MaxAmount}) {
			t.Fatal("the sandbox may owe all that fits")
		}
		if l.RestoreOwn(asset, own) {
			t.Errorf("%s: restored", name)
		}
	}
}
