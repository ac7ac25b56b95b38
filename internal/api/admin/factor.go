package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

type factorArgs struct {
	Account bourse.AccountID `json:"account"`
	Reason  string           `json:"reason"`
}

// readFactor reads the arguments, and journals what is asked for and why.
func (s *Server) readFactor(ctx context.Context, args jsontext.Value, verb string) (bourse.AccountID, error) {
	var a factorArgs
	if err := read(args, &a); err != nil {
		return 0, err
	}
	if strings.TrimSpace(a.Reason) == "" {
		return 0, bourse.Errorf(bourse.CodeInvalid, "reason: must not be empty")
	}
	return a.Account, s.note(ctx, fmt.Sprintf("%s %d: %s", verb, a.Account, a.Reason))
}

// factorReset lets an account's codes come by e-mail again.
func (s *Server) factorReset(ctx context.Context, args jsontext.Value) (any, error) {
	id, err := s.readFactor(ctx, args, "factor reset")
	if err == nil {
		err = s.Accounts.ResetFactor(ctx, id)
	}
	return struct {
		Account bourse.AccountID `json:"account"`
	}{id}, withoutPerson(err)
}

// factorStolen freezes an account and ends every way into it.
func (s *Server) factorStolen(ctx context.Context, args jsontext.Value) (any, error) {
	id, err := s.readFactor(ctx, args, "factor stolen")
	if err == nil {
		_, err = s.do(ctx, &bourse.Command{Kind: bourse.CommandFreezeAccount, Account: id, On: true})
	}
	if err == nil {
		err = s.Accounts.EndAccess(ctx, id)
	}
	return struct {
		Account bourse.AccountID `json:"account"`
		Frozen  bool             `json:"frozen"`
	}{id, err == nil}, withoutPerson(err)
}

// withoutPerson tells an operator that an account is nobody's.
func withoutPerson(err error) error {
	if errors.Is(err, account.ErrNone) {
		return bourse.Errorf(bourse.CodeNotFound, "account: no person has it")
	}
	return err
}
