package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

type factorArgs struct {
	Account bourse.AccountID `json:"account"`
	Reason  string           `json:"reason"`
	// Email is the holder's address, required if the account's row fails its check.
	Email string `json:"email,omitempty"`
}

// noteFactor checks the arguments and journals the verb with its reason.
func (s *Server) noteFactor(ctx context.Context, a *factorArgs, verb string) (err error) {
	if strings.TrimSpace(a.Reason) == "" {
		return bourse.Errorf(bourse.CodeInvalid, "reason: must not be empty")
	}
	if a.Email != "" {
		if a.Email, err = account.NormalizeEmail(a.Email); err != nil {
			return err
		}
	}
	return s.note(ctx, fmt.Sprintf("%s %d: %s", verb, a.Account, a.Reason))
}

// factorReset switches an account's codes back to e-mail.
func (s *Server) factorReset(ctx context.Context, a factorArgs) (any, error) {
	err := s.noteFactor(ctx, &a, "factor reset")
	if err == nil {
		err = s.Accounts.ResetFactor(ctx, a.Account)
	}
	return struct {
		Account bourse.AccountID `json:"account"`
	}{a.Account}, withoutPerson(err)
}

type accountResetArgs struct {
	Account bourse.AccountID `json:"account"`
	// Factors takes the authenticator application and the passkeys away.
	Factors bool `json:"factors,omitzero"`
	// Email is the new address; empty leaves the old one.
	Email string `json:"email,omitempty"`
}

// accountReset takes the second factors of an account's holder away, or gives the account another
// address, for a holder who lost them. All sessions and keys end, and withdrawals are held. It is an act
// of two owners, or of broken glass.
func (s *Server) accountReset(ctx context.Context, a accountResetArgs) (any, error) {
	cmd, err := s.Accounts.PrepareReset(ctx, account.Reset{Account: a.Account, Factors: a.Factors, Email: a.Email})
	if err != nil {
		return nil, withoutPerson(err)
	}
	// The row waits for the outcome, whether or not the operator does.
	ctx = context.WithoutCancel(ctx)
	_, err = s.noted(ctx, fmt.Sprintf("account reset %d %s", a.Account, bourse.ResetParts(cmd.Level)), &cmd)
	s.Accounts.Ordered(ctx, &cmd, err)
	if err != nil {
		return nil, err
	}
	return struct {
		Account bourse.AccountID `json:"account"`
		Factors bool             `json:"factors"`
		Email   string           `json:"email,omitempty"`
	}{a.Account, a.Factors, a.Email}, s.Accounts.Confirm(ctx)
}

// factorStolen freezes an account and ends all access to it.
func (s *Server) factorStolen(ctx context.Context, a factorArgs) (any, error) {
	err := s.noteFactor(ctx, &a, "factor stolen")
	if err == nil {
		_, err = s.do(ctx, &bourse.Command{Kind: bourse.CommandFreezeAccount, Account: a.Account, On: true})
	}
	if err == nil {
		err = s.Accounts.EndAccess(ctx, a.Account, a.Email)
	}
	return struct {
		Account bourse.AccountID `json:"account"`
		Frozen  bool             `json:"frozen"`
	}{a.Account, err == nil}, withoutPerson(err)
}

// withoutPerson translates errors for the operator: the account has no person, its row
// was changed from outside, or its address is taken.
func withoutPerson(err error) error {
	switch {
	case errors.Is(err, account.ErrNone):
		return bourse.Errorf(bourse.CodeNotFound, "account: no person has it")
	case errors.Is(err, account.ErrForged):
		return bourse.Errorf(bourse.CodeRefused,
			"account: its row was changed from outside; factor stolen --email sets the holder's address")
	case errors.Is(err, account.ErrTaken):
		return bourse.Errorf(bourse.CodeConflict, "email: another account has it")
	}
	return err
}
