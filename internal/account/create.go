package account

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/bourse-exchange/bourse"
)

// Create makes an account for an e-mail address. The errors are those of a command, and
// *bourse.Errors with CodeInvalid, and CodeConflict if the address has an account.
func (s *Service) Create(ctx context.Context, email string) (bourse.AccountID, error) {
	email, err := NormalizeEmail(email)
	if err != nil {
		return 0, err
	}
	return s.create(ctx, email, "")
}

var errEmailTaken = bourse.Errorf(bourse.CodeConflict, "email: taken")

// create makes an account with a password hash, which may be empty.
func (s *Service) create(ctx context.Context, email, password string) (bourse.AccountID, error) {
	if err := s.Ready(bourse.CommandCreateAccount); err != nil {
		return 0, err
	}

	row := &AccountRow{
		Account: Account{Email: email, Created: s.now()}, Person: Person{Password: password, Cases: s.Cases},
	}
	var err error
	if row.Salt, err = s.newSalt(); err != nil {
		return 0, err
	}
	if row.Token, err = s.newToken(); err != nil {
		return 0, err
	}

	if err := s.Store.AddAccount(ctx, row); errors.Is(err, ErrTaken) {
		return 0, errEmailTaken
	} else if err != nil {
		return 0, err
	}
	cmd := &bourse.Command{
		Kind: bourse.CommandCreateAccount, Token: row.Token, Access: &bourse.Access{Digest: row.digest()},
	}
	id, err := s.decide(ctx, cmd, nil)
	return bourse.AccountID(id), err
}

func (s *Service) newToken() (t bourse.Token, err error) {
	if _, err := io.ReadFull(s.Random, t[:]); err != nil {
		return t, fmt.Errorf("drawing a token: %w", err)
	}
	return t, nil
}

// Freeze stops an account from placing orders (on), or lets it place them again.
func (s *Service) Freeze(ctx context.Context, account bourse.AccountID, on bool) error {
	_, err := s.do(ctx, &bourse.Command{Kind: bourse.CommandFreezeAccount, Account: account, On: on})
	return err
}
