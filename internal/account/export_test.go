package account

import (
	"context"

	"github.com/bourse-exchange/bourse"
)

// ForgePerson changes the row of a person as no request can, with a command.
func (s *Service) ForgePerson(ctx context.Context, id bourse.AccountID, change func(*AccountRow)) error {
	return s.changePerson(ctx, &bourse.Command{Kind: bourse.CommandSetPerson, Account: id}, func(row *AccountRow) error {
		change(row)
		return nil
	})
}

// ChangePerson changes how a person gets in as a request of a session does that was let
// in before.
func (s *Service) ChangePerson(ctx context.Context, who Identity, change func(*AccountRow)) error {
	return s.secure(ctx, s.secureCommand(who.Account, who.Session), func(row *AccountRow) error {
		change(row)
		return nil
	})
}
