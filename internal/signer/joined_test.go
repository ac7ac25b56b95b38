package signer_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// joined is a payment of several withdrawals that everything is right about, each of as many units as its id.
func (b *bench) joined(ids ...bourse.WalletID) (chain.Payment, signer.Expect) {
	b.t.Helper()
	p, e := b.payment(btc, ids[0], uint64(ids[0]))
	for _, id := range ids[1:] {
		other, _ := b.payment(btc, id, uint64(id))
		p.With = append(p.With, chain.Pay{To: other.To, Coin: other.Coin, Amount: other.Amount})
		e.With = append(e.With, signer.Part{ID: id, Amount: other.Amount, To: other.To})
	}
	e.Known = b.signer.Status().Networks[0].Signed
	return p, e
}

// alone returns the payment of one withdrawal of a joined one, by its inputs, and what is expected of it.
func alone(p chain.Payment, e signer.Expect, part int, attempt uint32) (chain.Payment, signer.Expect) {
	if part > 0 {
		pay := p.With[part-1]
		p.To, p.Amount = pay.To, pay.Amount
		e.ID, e.To, e.Amount = e.With[part-1].ID, pay.To, pay.Amount
	}
	p.With, e.With, e.Known, e.Attempt = nil, nil, 0, attempt
	return p, e
}

// blames wants a refusal because of one withdrawal.
func (b *bench) blames(u chain.Unsigned, e signer.Expect, id bourse.WalletID, want error) {
	b.t.Helper()
	_, err := b.signer.Sign(b.t.Context(), u, e)
	if part := new(signer.PartError); !errors.As(err, &part) || part.ID != id || !errors.Is(err, want) {
		b.t.Errorf("%v, and not %v because of %d", err, want, id)
	}
}

// TestJoined signs a transaction for three withdrawals, as one entry of the record, and gives it again to whoever asks
// for one of them.
func TestJoined(t *testing.T) {
	b := newBench(t)
	p, e := b.joined(1000, 2000, 3000)
	u := b.prepare(btc, p)
	signed := b.signs(u, e)
	want := []signer.Share{{1000, bourse.Units(1000)}, {2000, bourse.Units(2000)}, {3000, bourse.Units(3000)}}
	if signed.Record != 1 || !reflect.DeepEqual(signed.Shares, want) {
		t.Fatalf("%+v", signed)
	}
	for range 2 {
		_, list, err := b.signer.After(t.Context(), btc, 0)
		if err != nil || len(list) != 1 || !reflect.DeepEqual(list[0].Signed, signed) || list[0].ID != 1000 {
			t.Fatalf("%+v, %v", list, err)
		}
		b.refuses(u, e, signer.ErrBehind) // as if the answer were lost
		for part := range 3 {
			pay, one := alone(p, e, part, 0)
			if again := b.signs(b.prepare(btc, pay), one); !reflect.DeepEqual(again, signed) {
				t.Errorf("%+v", again)
			}
			one.Amount = one.Amount.Plus(bourse.Units(1))
			pay.Amount = one.Amount
			b.refuses(b.prepare(btc, pay), one, signer.ErrAnother)
		}
		b.open()
	}
	if verdict, err := b.clients[btc].Broadcast(t.Context(), signed.Raw); err != nil || verdict.Kind != chain.Accepted {
		t.Errorf("%v, %v", verdict, err)
	}
}

// TestJoinedIsWhatWasAsked refuses bytes that leave a withdrawal out, pay it twice, or pay somebody else, withdrawals
// out of order, and those to addresses of the exchange.
func TestJoinedIsWhatWasAsked(t *testing.T) {
	b := newBench(t)
	p, e := b.joined(1000, 2000, 3000)
	for name, change := range map[string]func(p *chain.Payment, e *signer.Expect){
		"left out": func(p *chain.Payment, _ *signer.Expect) { p.With = p.With[:1] },
		"twice":    func(p *chain.Payment, _ *signer.Expect) { p.With = append(p.With, p.With[0]) },
		"one output": func(_ *chain.Payment, e *signer.Expect) {
			e.With = append(e.With, signer.Part{4000, e.With[1].Amount, e.With[1].To})
		},
		"more":      func(p *chain.Payment, _ *signer.Expect) { p.With[0].Amount = bourse.Units(2001) },
		"elsewhere": func(p *chain.Payment, _ *signer.Expect) { p.With[0].To = p.To },
		"twice the same": func(p *chain.Payment, e *signer.Expect) {
			p.With, e.With = append(p.With, p.With[1]), append(e.With, e.With[1])
		},
		"out of order": func(_ *chain.Payment, e *signer.Expect) { e.With[0], e.With[1] = e.With[1], e.With[0] },
		"an id that no journal allots": func(_ *chain.Payment, e *signer.Expect) {
			e.With[1].ID = 1 << 62
		},
		"change": func(p *chain.Payment, e *signer.Expect) {
			p.With[0].To = b.clients[btc].Destination(chain.IndexChange)
			e.With[0].To = p.With[0].To
		},
		"a customer": func(p *chain.Payment, e *signer.Expect) {
			b.clients[btc].Watch(9)
			p.With[0].To = b.clients[btc].Destination(7)
			e.With[0].To = p.With[0].To
		},
	} {
		p, e := p, e
		p.With, e.With = append([]chain.Pay(nil), p.With...), append([]signer.Part(nil), e.With...)
		change(&p, &e)
		if _, err := b.signer.Sign(t.Context(), b.prepare(btc, p), e); !errors.Is(err, signer.ErrMismatch) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b.signer.Status().Networks[0].Signed != 0 {
		t.Error("something was signed")
	}
}

// TestJoinedAttempts signs further transactions for some of the withdrawals of joined ones. Each excludes all earlier
// ones of each of its withdrawals, and pays each as before.
func TestJoinedAttempts(t *testing.T) {
	b := newBench(t)
	p, e := b.joined(1001, 2000, 3000) // by output 1
	p.Inputs = b.outputs(btc)[1:3]
	b.signs(b.prepare(btc, p), e)

	one, oe := alone(p, e, 0, 1)
	one.Inputs = b.outputs(btc)[2:3]
	b.signs(b.prepare(btc, one), oe)

	// The two others exclude the first by another output of it; all three have to exclude both.
	two, te := p, e
	two.Inputs, te.Known = b.outputs(btc)[1:2], 2
	b.blames(b.prepare(btc, two), te, 1001, signer.ErrRival)
	_, te = alone(two, te, 1, 0)
	two.To, two.Amount, two.With = p.With[0].To, p.With[0].Amount, p.With[1:]
	te.With, te.Known = e.With[1:], 2
	swapped, se := two, te
	swapped.To, swapped.With = two.With[0].To, []chain.Pay{{To: two.To, Coin: two.Coin, Amount: bourse.Units(3000)}}
	se.To, se.With = te.With[0].To, []signer.Part{{3000, bourse.Units(3000), te.To}}
	b.blames(b.prepare(btc, swapped), se, 2000, signer.ErrAnother)
	b.signs(b.prepare(btc, two), te)
	b.open()

	if err := b.signer.Void(t.Context(), btc, 3000); err != nil {
		t.Fatal(err)
	}
	all, ae := p, e
	ae.Known = 3
	b.blames(b.prepare(btc, all), ae, 3000, signer.ErrVoid)
	all.With, ae.With = all.With[:1], ae.With[:1]
	b.signs(b.prepare(btc, all), ae)
}

// TestJoinedLimits counts every withdrawal of a joined transaction against the limits, once, and names the one that is
// too much. Its cost counts once.
func TestJoinedLimits(t *testing.T) {
	b := newBench(t)
	b.limits["BTC"] = signer.Limit{Payment: bourse.Units(3000), Hour: bourse.Units(6500), Day: bourse.Units(8000), Free: bourse.Units(2500)}
	p, e := b.joined(1000, 2000, 3000, 3001)
	b.blames(b.prepare(btc, p), e, 3001, signer.ErrSpent)
	p, e = b.joined(1000, 2000, 2400, 2401)
	b.blames(b.prepare(btc, p), e, 2401, signer.ErrSpent)
	p, e = b.joined(1000, 2501)
	b.blames(b.prepare(btc, p), e, 2501, signer.ErrUnapproved)
	if waiting := b.signer.Waiting(); len(waiting) != 1 || waiting[0].ID != 2501 {
		t.Errorf("%+v", waiting)
	}

	p, e = b.joined(1000, 2000, 2400)
	b.signs(b.prepare(btc, p), e)
	b.open()
	again, ae := p, e
	ae.Known, again.Replaces = 1, nil
	b.signs(b.prepare(btc, again), ae) // it excludes the first, and counts as no more
	p, e = b.joined(500, 601)
	b.blames(b.prepare(btc, p), e, 601, signer.ErrSpent)
	p, e = b.joined(500, 600)
	b.signs(b.prepare(btc, p), e)
}

// TestJoinedDecodesOnce replaces a joined transaction again and again: the signer decodes each earlier one once, and
// not for each of its withdrawals.
func TestJoinedDecodesOnce(t *testing.T) {
	b := newBench(t)
	p, e := b.joined(1000, 2000, 3000, 4000, 5000)
	u := b.prepare(btc, p)
	for earlier := range 4 {
		e.Known, b.decoded = uint64(earlier), 0
		b.signs(u, e)
		if b.decoded > 3+earlier { // the bytes twice, and the signed ones
			t.Errorf("%d were decoded beside %d earlier ones", b.decoded, earlier)
		}
	}
}
