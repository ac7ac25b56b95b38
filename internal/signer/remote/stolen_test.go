package remote_test

import (
	"crypto/ed25519"
	"errors"
	"testing"
	"time"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/chain"
	"github.com/bourse-exchange/bourse/internal/signer"
	"github.com/bourse-exchange/bourse/internal/signer/remote"
)

// TestStolenExchange has the exchange's credentials and asks for all that it can think of. It
// gets at most the limits of an hour in free amounts, one payment for each id, and nothing
// else.
func TestStolenExchange(t *testing.T) {
	r := newRig(t)
	thief := r.client(r.of(1, 1))
	var stolen, most uint64
	for xid := bourse.WalletID(1); xid <= 60; xid++ {
		for _, amount := range []uint64{100_000, 1001, 1000, 101, 100} {
			u, e := r.payment(btc, xid, amount)
			_, err := thief.Sign(t.Context(), u, e)
			switch {
			case err == nil:
				stolen, most = stolen+amount, max(most, amount)
			case !errors.Is(err, signer.ErrLimit):
				t.Errorf("%d to anybody: %v", amount, err)
			}
		}
	}
	if stolen != 3000 || most != 100 {
		t.Errorf("%d were stolen, %d at most at once: want the 3000 of an hour, 100 at once", stolen, most)
	}

	// What was signed once is not signed for somebody else, and no attempt pays again.
	u, e := r.payment(btc, 1, 100)
	if _, err := thief.Sign(t.Context(), u, e); !errors.Is(err, signer.ErrAnother) {
		t.Errorf("another destination: %v", err)
	}
	e.Attempt = 1
	if _, err := thief.Sign(t.Context(), u, e); !errors.Is(err, signer.ErrAnother) {
		t.Errorf("another attempt for another destination: %v", err)
	}
	e.Attempt = 5
	if _, err := thief.Sign(t.Context(), u, e); !errors.Is(err, signer.ErrMismatch) {
		t.Errorf("an attempt without those before it: %v", err)
	}
	if err := thief.Void(t.Context(), btc, 61); err != nil {
		t.Error(err)
	}
	u, e = r.payment(btc, 61, 100)
	if _, err := thief.Sign(t.Context(), u, e); !errors.Is(err, signer.ErrVoid) {
		t.Errorf("a withdrawal that was ended: %v", err)
	}
	_, list, err := thief.After(t.Context(), btc, 0)
	if err != nil || len(list) != 30 {
		t.Errorf("%d on record, %v", len(list), err)
	}
}

// TestStolenKinds passes payments to strangers off as sweeps and top-ups, and burns costs.
func TestStolenKinds(t *testing.T) {
	r := newRig(t)
	thief := r.client(r.of(1, 1))
	for _, kind := range []bourse.SignedKind{bourse.SignedSweep, bourse.SignedTopUp, bourse.SignedCool, 0, 99} {
		for _, id := range []bourse.NetworkID{btc, eth, 99} {
			u, e := r.payment(max(btc, min(id, eth)), 3, 100)
			e.Network, e.Kind, e.ID, e.Account = id, kind, 0, 7
			if _, err := thief.Sign(t.Context(), u, e); !errors.Is(err, signer.ErrMismatch) {
				t.Errorf("kind %d on network %d: %v", kind, id, err)
			}
		}
	}

	var burned bourse.Amount
	hot := r.clients[eth].Destination(7)
	for nonce := range uint64(500) {
		p := chain.Payment{
			Kind: bourse.SignedTopUp, Coin: "ETH", Amount: bourse.Units(1), To: hot, CostCap: bourse.Units(1e15), Nonce: nonce,
		}
		u, err := r.clients[eth].Prepare(t.Context(), &p)
		if err != nil {
			t.Fatal(err)
		}
		_, err = thief.Sign(t.Context(), u, signer.Expect{
			Network: eth, Kind: p.Kind, Coin: p.Coin, Amount: p.Amount, To: p.To, CostCap: p.CostCap, Account: 7, Nonce: nonce,
		})
		if err == nil {
			burned = burned.Plus(u.Cost)
		} else if !errors.Is(err, signer.ErrCosts) {
			t.Fatal(err)
		}
	}
	if burned.IsZero() || bourse.Units(5e15).Less(burned) {
		t.Errorf("%s were burned", burned.Format(0))
	}
}

// TestStolenAllowList pays above what is free to destinations of the allow-list alone, within
// the hour; approvals of others do not come from the exchange.
func TestStolenAllowList(t *testing.T) {
	r := newRig(t)
	friend, err := r.nodes[btc].NewAddress()
	if err != nil {
		t.Fatal(err)
	}
	n := r.networks[btc-10]
	n.Allowed = []chain.Destination{{Address: friend}}
	r.networks[btc-10] = n
	r.options.Approvers = signer.Approvers{Need: 1, Keys: []ed25519.PublicKey{ed25519.PublicKey(approver(1)[32:])}}
	r.end()
	r.open()
	r.now += bourse.Day
	r.listen()

	thief, signed := r.client(r.of(1, 1)), 0
	for xid := bourse.WalletID(1); xid <= 8; xid++ {
		u, e := r.pay(btc, xid, 1000, friend)
		if _, err := thief.Sign(t.Context(), u, e); err == nil {
			signed++
		} else if !errors.Is(err, signer.ErrSpent) {
			t.Error(err)
		}
	}
	if signed != 3 {
		t.Errorf("%d payments of 1000 to the allow-list, and 3000 are the hour's", signed)
	}

	r.now += bourse.Hour
	u, e := r.payment(btc, 9, 1000)
	if _, err := thief.Sign(t.Context(), u, e); !errors.Is(err, signer.ErrUnapproved) {
		t.Fatal(err)
	}
	operators := &remote.Operators{Socket: r.operators, Now: time.Now}
	status, err := operators.Status(t.Context())
	if err != nil || len(status.Waiting) != 1 {
		t.Fatalf("%+v, %v", status, err)
	}
	forged := signer.Approve(status.Waiting[0], approver(2), r.now+bourse.Hour)
	if err := operators.Approve(t.Context(), &forged); !errors.Is(err, signer.ErrApproval) {
		t.Errorf("a stranger's approval: %v", err)
	}
	good := signer.Approve(status.Waiting[0], approver(1), r.now+bourse.Hour)
	if err := operators.Approve(t.Context(), &good); err != nil {
		t.Error(err)
	}
	other, oe := r.payment(btc, 9, 1000)
	if _, err := thief.Sign(t.Context(), other, oe); !errors.Is(err, signer.ErrUnapproved) {
		t.Errorf("another destination with the approval: %v", err)
	}
	if _, err := thief.Sign(t.Context(), u, e); err != nil {
		t.Errorf("what was approved: %v", err)
	}
	if status, err = operators.Status(t.Context()); err != nil || status.Networks[0].Signed != 4 {
		t.Errorf("%+v, %v", status, err)
	}
}

// TestStolenEpochs comes back as an old process, as another incarnation, and as one far ahead;
// none of it keeps the exchange out.
func TestStolenEpochs(t *testing.T) {
	r := newRig(t)
	u, e := r.payment(btc, 1, 100)
	old := r.client(r.of(1, 5))
	signed, err := old.Sign(t.Context(), u, e)
	if err != nil {
		t.Fatal(err)
	}
	own := r.client(r.of(1, 6))
	if again, err := own.Sign(t.Context(), u, e); err != nil || again.Hash != signed.Hash {
		t.Errorf("%x, %v", again.Hash, err)
	}
	for name, c := range map[string]struct {
		options remote.Options
		want    error
	}{
		"a lower term":           {r.of(1, 5), signer.ErrEpoch},
		"a term far ahead":       {r.of(1, 1<<63), signer.ErrAdopt},
		"another incarnation":    {r.of(2, 0), signer.ErrAdopt},
		"no incarnation":         {r.of(0, 9), signer.ErrEpoch},
		"another exchange":       {func() remote.Options { o := r.of(1, 7); o.Exchange.ID[0]++; return o }(), signer.ErrExchange},
		"an exchange of money":   {func() remote.Options { o := r.of(1, 7); o.Exchange.Sandbox = false; return o }(), signer.ErrExchange},
		"a sandbox on a chain":   {r.with(1, 7, func(a *signer.Account) { a.Chain = "bitcoin:main" }), signer.ErrKeys},
		"with keys of its own":   {r.with(1, 7, func(a *signer.Account) { a.Public = "devnet(00)" }), signer.ErrKeys},
		"with another's network": {r.with(1, 7, func(a *signer.Account) { a.Name = "LTC" }), signer.ErrKeys},
	} {
		if _, _, err := r.client(c.options).After(t.Context(), btc, 0); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := old.Sign(t.Context(), u, e); !errors.Is(err, signer.ErrEpoch) {
		t.Errorf("an old connection: %v", err)
	}
	if _, list, err := own.After(t.Context(), btc, 0); err != nil || len(list) != 1 {
		t.Errorf("the exchange itself: %d, %v", len(list), err)
	}

	// A restored exchange learns what was paid, once somebody has been at the signer.
	if err := r.local.Adopt(signer.Epoch{Incarnation: 2}, nil); err != nil {
		t.Fatal(err)
	}
	restored := r.client(r.of(2, 1))
	if _, list, err := restored.After(t.Context(), btc, 0); err != nil || len(list) != 1 || list[0].Hash != signed.Hash {
		t.Errorf("the restored exchange: %+v, %v", list, err)
	}
	if _, err := own.Sign(t.Context(), u, e); !errors.Is(err, signer.ErrEpoch) {
		t.Errorf("the incarnation before: %v", err)
	}
}

// with are options with one network changed.
func (r *rig) with(incarnation bourse.Incarnation, term uint64, change func(*signer.Account)) remote.Options {
	o := r.of(incarnation, term)
	a := o.Networks[btc]
	change(&a)
	o.Networks[btc] = a
	return o
}
