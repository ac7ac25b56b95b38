package accountv2

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

var (
	emailFields = api.Fields{"email", "password"}
	undoFields  = api.Fields{"email", "code"}
)

// email writes the account's address and the pending one.
func (a *Account) email(c *v2.Call) error {
	who, _, err := a.Accounts.ByID(c.Context, c.Who.Account)
	if err != nil {
		return err
	}
	c.Out.Maybe("email", who.Email)
	c.Out.Maybe("pendingChange", a.Accounts.PendingEmail(c.Who.Account))
	return nil
}

// changeEmail mails a code to the new address after the current second factor confirmed
// the change.
func (a *Account) changeEmail(c *v2.Call) error {
	given, act := texts(c, "email", "password"), c.Act(0)
	if err := c.Err(); err != nil {
		return err
	}

	if err := a.Accounts.ChangeEmail(c.Context, c.Who, given[0], given[1], act); err != nil {
		return err
	}
	return a.email(c)
}

// verifyEmail makes the new address the account's.
func (a *Account) verifyEmail(c *v2.Call) error {
	text := code(c)
	if err := c.Err(); err != nil {
		return err
	}

	if err := a.Accounts.VerifyEmail(c.Context, c.Who, text, c.Visit()); err != nil {
		return err
	}
	return a.email(c)
}

// cancelEmail cancels a session's pending change. With an old address and the code mailed
// there it reverts a change, without a key.
func (a *Account) cancelEmail(c *v2.Call) error {
	if c.Has("email") || c.Has("code") {
		return a.undoEmail(c)
	}
	switch {
	case c.Who.Account == 0:
		return api.Errorf(codes.Unauthorized, "Authorization is required: no API key was given")
	case !c.Who.Scopes.Has(account.ScopeAccount):
		return api.Forbidden(account.ScopeAccount)
	case !a.Accounts.CancelEmail(c.Who.Account):
		return bourse.Errorf(bourse.CodeNotFound, "No change is pending")
	}
	return a.email(c)
}

// undoEmail restores an old address of an account.
func (a *Account) undoEmail(c *v2.Call) error {
	given := texts(c, "email", "code")
	if err := c.Err(); err != nil {
		return err
	}

	return a.Accounts.UndoEmail(c.Context, given[0], given[1], c.Visit())
}
