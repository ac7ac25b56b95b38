package teller

import (
	"context"
	"crypto/sha256"

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
// there was one, and until when the account's money is held. Before a second factor
// is asked for, check has to find the request good. If it does not, the request may
// be one that was taken before, and now lacks what it took: then it passes to be
// answered once more, and refused is the answer if it was not. The errors are those
// of check and [account.Service.SecondFactor].
func (t *Teller) Clear(
	ctx context.Context, who account.Identity, act account.Act, asked *bourse.Withdraw, check func() error,
) (refused, err error) {
	if asked.NotBefore, err = t.Accounts.HeldUntil(ctx, who.Account); err != nil || who.Session == 0 {
		return nil, err
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
