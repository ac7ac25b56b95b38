package teller

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// Once returns what makes a request with a key and a digest happen once.
func Once(key bourse.ClientID, digest account.Digest) (o bourse.Once) {
	sum := sha256.Sum256(key[:])
	copy(o.Key[:], sum[:])
	copy(o.Body[:], digest[:])
	return o
}

// Clear lets a request for money to leave pass: a session's with the second factor
// that the account asks for, a key's without one. It notes in the request whether
// there was one. Before a second factor
// is asked for, check has to find the request good. If it does not, the request may
// be one that was taken before, and now lacks what it took: then it passes to be
// answered once more, and refused is the answer if it was not. A request without a
// name that check refuses is not journaled, whoever sends it: no first answer has to
// be kept for it. The errors are those
// of check and [account.Service.SecondFactor].
func (t *Teller) Clear(
	ctx context.Context, who account.Identity, act account.Act, asked *bourse.Withdraw, check func() error,
) (refused, err error) {
	if !asked.Named() {
		if err := check(); err != nil {
			return nil, err
		}
	}
	if who.Session == 0 {
		return nil, nil
	}

	factors, err := t.Accounts.Factors(ctx, who.Account)
	if err != nil || !factors.Cases.Has(act.Case) {
		return nil, err
	}
	switch err := check(); {
	case err != nil && asked.Named():
		asked.Again = true
		return err, nil
	case err != nil:
		return nil, err
	}
	if err := t.Accounts.SecondFactor(ctx, who, act); err != nil {
		return nil, err
	}
	asked.Factor = true
	return nil, nil
}

// RefusesCancel returns why the engine would refuse the cancel of a withdrawal, as
// far as the view shows; zero if it does not. What the view refuses is not
// journaled, because the refusal costs its sender nothing. An id that a client was
// told is in the view until the withdrawal is over.
func (t *Teller) RefusesCancel(id bourse.AccountID, withdrawal bourse.WalletID) bourse.Reason {
	switch _, w := t.View.OpenMovement(id, withdrawal); {
	case w == nil:
		return bourse.WithdrawalNotFound
	case w.Sent:
		return bourse.WithdrawalSent
	default:
		return 0
	}
}

// Says says in plain words where a withdrawal takes how much, for the letter of a
// second factor.
func (r *Route) Says(asked *bourse.Withdraw) string {
	text := fmt.Sprintf("Withdraw %s %s over %s to %s", asked.Amount.Format(r.Asset.Scale), r.Asset.Symbol,
		r.Listed.Symbol, account.Plain(asked.Address))
	if asked.Memo != "" {
		text += ", memo " + account.Plain(asked.Memo)
	}
	return text + ", fee " + asked.Fee.Format(r.Asset.Scale) + " " + string(r.Asset.Symbol)
}

// Precheck says why the exchange would refuse a request now, as far as the view
// shows; zero if it does not. Of a transfer the route has the asset alone.
func (t *Teller) Precheck(id bourse.AccountID, r *Route, asked *bourse.Withdraw) bourse.Reason {
	total, fits := asked.Amount.Add(asked.Fee)
	if asked.Internal != 0 {
		total, fits = asked.Amount, true
	}
	standing, _ := t.View.Account(id)
	switch {
	case standing.Frozen:
		return bourse.AccountFrozen
	case !r.Asset.Enabled:
		return bourse.WithdrawalsClosed
	case !fits:
		return bourse.Overflow
	}
	if !asked.Transfer() {
		switch {
		case !r.Listed.Enabled, !r.Terms.Enabled:
			return bourse.WithdrawalsClosed
		case asked.Amount.Less(r.Terms.MinWithdrawal):
			return bourse.BelowMinWithdrawal
		case r.Terms.FeeMax.Less(asked.Fee), asked.Fee.Less(r.LeastFee(asked)):
			return bourse.FeeOutOfRange
		}
	}
	if t.View.Balance(id, asked.Asset).Available.Less(total) {
		return bourse.InsufficientFunds
	}
	return 0
}
