package teller

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/core/terms"
)

// Once returns the identity of a request under a key, with its digest.
func Once(key bourse.ClientID, digest account.Digest) (o bourse.Once) {
	sum := sha256.Sum256(key[:])
	copy(o.Key[:], sum[:])
	copy(o.Body[:], digest[:])
	return o
}

// Payment is a request to move money out of an account.
type Payment struct {
	Who   account.Identity
	Act   account.Act
	Asked *bourse.Withdraw
	// Check returns the error with which the exchange would refuse the request now.
	Check func() error
	// Send sends the request to the engine.
	Send func() (bourse.Outcome, error)

	// refusal is the answer if a request sent as a repetition turns out to be new.
	refusal error
}

// Pay clears and sends a request. The outcome may be a refusal of the engine. Errors come
// from Check, Send and [account.Service.SecondFactor].
func (t *Teller) Pay(ctx context.Context, p *Payment) (bourse.Outcome, error) {
	if err := t.clear(ctx, p); err != nil {
		return bourse.Outcome{}, err
	}

	o, err := p.Send()
	if o.Reason == bourse.NotAskedBefore {
		return bourse.Outcome{}, p.refusal
	}
	return o, err
}

// clear checks the second factor of a session's request, if the account demands one; a
// key's request needs none. Before that, Check must find the request good. A request with
// a name that Check refuses may repeat an earlier one whose success used up the balance;
// it is sent as a repetition.
//
// A request without a name is always checked and, if refused, not journaled: no first
// answer has to be kept for it.
func (t *Teller) clear(ctx context.Context, p *Payment) error {
	named := p.Asked.Named()
	if !named {
		if err := p.Check(); err != nil {
			return err
		}
	}
	if p.Who.Session == 0 {
		return nil
	}

	factors, err := t.Accounts.Factors(ctx, p.Who.Account)
	if err != nil || !factors.Cases.Has(p.Act.Case) {
		return err
	}
	if err := p.Check(); err != nil {
		if !named {
			return err
		}
		p.Asked.Again, p.refusal = true, err
		return nil
	}

	if err := t.Accounts.SecondFactor(ctx, p.Who, p.Act); err != nil {
		return err
	}
	p.Asked.Factor = true
	return nil
}

// RefusesCancel returns the reason for which the view refuses the cancel of a withdrawal,
// or zero. Its refusals are not journaled, because they are free. A transfer is no
// withdrawal here, as in the engine. The view has every id that a client knows until the
// withdrawal is final.
func (t *Teller) RefusesCancel(id bourse.AccountID, withdrawal bourse.WalletID) bourse.Reason {
	switch _, w := t.View.OpenMovement(id, withdrawal); {
	case w == nil || w.Transfer() || w.Ending:
		return bourse.WithdrawalNotFound
	case w.Signed:
		return bourse.WithdrawalSigned
	default:
		return 0
	}
}

// Says describes a withdrawal in plain words for the letter of a second factor.
func (r *Route) Says(asked *bourse.Withdraw) string {
	text := fmt.Sprintf("Withdraw %s %s over %s to %s", asked.Amount.Format(r.Asset.Scale), r.Asset.Symbol,
		r.Listed.Symbol, account.Plain(asked.Address))
	if asked.Memo != "" {
		text += ", memo " + account.Plain(asked.Memo)
	}
	return text + ", fee " + asked.Fee.Format(r.Asset.Scale) + " " + string(r.Asset.Symbol)
}

// Precheck returns the reason for which the engine would refuse a request now, as far as
// the view shows, or zero. A transfer's route has only the asset.
func (t *Teller) Precheck(id bourse.AccountID, r *Route, asked *bourse.Withdraw) bourse.Reason {
	standing, _ := t.View.Account(id)
	_, recipient := t.View.Account(asked.Internal)
	c := terms.Case{
		Asked: asked, Asset: r.Asset, Network: r.Listed, Terms: r.Terms,
		Frozen: standing.Frozen, Recipient: recipient,
		Open: t.View.OpenWithdrawals(id), Available: t.View.Balance(id, asked.Asset).Available,
		Limit: t.View.Catalogue().Tiers.Limit(standing.Tier, asked.Asset, bourse.FlowWithdrawal),
		Moved: t.View.Moved(id, asked.Asset, bourse.FlowWithdrawal),
	}
	return c.Refusal()
}
