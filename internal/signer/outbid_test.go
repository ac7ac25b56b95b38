package signer_test

import (
	"strings"
	"testing"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
)

// TestOutbid signs replacements at higher fees for a payment that is at its limits already: they are the same
// payment. A stolen exchange gets no second one by them, whatever inputs, nonces, receivers and costs it names.
func TestOutbid(t *testing.T) {
	for _, id := range []bourse.NetworkID{btc, eth} {
		b := newBench(t)
		p, e := b.payment(id, 1, 1_000_000)
		limit := bourse.Units(1_000_000)
		b.limits[p.Coin] = signer.Limit{Payment: limit, Hour: limit, Day: limit, Free: limit}
		first := b.signs(b.prepare(id, p), e)
		b.limits[p.Coin] = signer.Limit{Payment: limit, Hour: limit, Day: limit} // more is free no longer

		raws := [][]byte{first.Raw}
		for attempt := range uint32(3) {
			p.Replaces, e.Attempt = raws, attempt+1
			if id == btc {
				p.Inputs = b.outputs(id)[1 : attempt+3] // those of the first, and more
			}
			next := b.signs(b.prepare(id, p), e)
			raws = append(raws, next.Raw)
			b.open()
		}

		p.Replaces, e.Attempt = nil, 4
		b.hostile(id, p, e)
	}
}

// hostile asks for a further attempt at a payment in ways that would pay twice, or more than its cost.
func (b *bench) hostile(id bourse.NetworkID, p chain.Payment, e signer.Expect) {
	b.t.Helper()
	apart, ae := p, e
	if id == btc {
		apart.Inputs = b.outputs(id)[5:6]
	} else {
		apart.Nonce, ae.Nonce = 9, 9
	}
	b.refuses(b.prepare(id, apart), ae, signer.ErrRival)
	if id == btc {
		apart.Inputs = b.outputs(id)[3:4] // an input of the last attempt, and of none before
		b.refuses(b.prepare(id, apart), ae, signer.ErrRival)
	}

	more, me := p, e
	more.Amount, me.Amount = p.Amount.Plus(bourse.Units(1)), p.Amount.Plus(bourse.Units(1))
	b.refuses(b.prepare(id, more), me, signer.ErrAnother)
	other, _ := b.payment(id, 1, 1_000_000)
	elsewhere, oe := p, e
	elsewhere.To, oe.To = other.To, other.To
	b.refuses(b.prepare(id, elsewhere), oe, signer.ErrAnother)

	// Change that shrinks by more than the cost, and a purpose that is not the journal's.
	u := b.prepare(id, p)
	low := e
	low.CostCap = u.Cost.Minus(bourse.Units(1))
	b.refuses(u, low, signer.ErrMismatch)
	b.refuses(b.prepare(id, other), e, signer.ErrMismatch)
	late := e
	late.Attempt = 6
	b.refuses(u, late, signer.ErrMismatch)

	// Another withdrawal gets neither the limit nor, on networks of accounts, the nonce.
	second := e
	second.ID, second.Attempt = 2, 0
	want := signer.ErrSpent
	if id == eth {
		want = signer.ErrNonce
	}
	b.refuses(u, second, want)
}

// TestSplitChange signs a payment with several outputs of change. One of them that goes to the receiver, to a stranger or to
// another address of the exchange is refused.
func TestSplitChange(t *testing.T) {
	b := newBench(t)
	p, e := b.payment(btc, 1, 1_000_000)
	p.Change, p.LeastChange = 3, p.Amount
	change := b.clients[btc].Destination(chain.IndexChange).Address
	stranger, err := b.nodes[btc].NewAddress()
	if err != nil {
		t.Fatal(err)
	}

	u := b.prepare(btc, p)
	if got := strings.Count(string(u.Raw), change); got != 3 {
		t.Fatalf("%d outputs of change", got)
	}
	hot, customer := b.clients[btc].Destination(chain.IndexHot), b.clients[btc].Destination(1)
	for _, to := range []string{p.To.Address, stranger, hot.Address, customer.Address} {
		other := u
		other.Raw = []byte(strings.Replace(string(u.Raw), change, to, 1))
		b.refuses(other, e, signer.ErrMismatch)
	}
	again := p // the same amount to the receiver, as often as change
	again.Inputs[0].Amount = bourse.Units(5_000_000 + 2_500 + 2*400)
	twice := b.prepare(btc, again)
	last := strings.LastIndex(string(twice.Raw), change)
	twice.Raw = []byte(string(twice.Raw[:last]) + p.To.Address + string(twice.Raw[last+len(change):]))
	if strings.Count(string(twice.Raw), `"amount":"1000000"`) != 3 {
		t.Errorf("it pays %s", twice.Raw)
	}
	b.refuses(twice, e, signer.ErrMismatch)
	b.signs(u, e)
}
