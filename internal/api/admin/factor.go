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
