package accountv2

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

var (
	emailFields = api.Fields{"email", "password"}
	undoFields  = api.Fields{"email", "code"}
)

// email shows the account's address, and the one that is about to be.
func (a *Account) email(c *v2.Call) error {
	who, _, err := a.Accounts.ByID(c.Context, c.Who.Account)
	if err != nil {
		return err
	}
	c.Out.Maybe("email", who.Email)
	c.Out.Maybe("pendingChange", a.Accounts.PendingEmail(c.Who.Account))
	return nil
}

// changeEmail mails a code to the new address, when the factor in use has confirmed
// the change.
func (a *Account) changeEmail(c *v2.Call) error {
	given, err := texts(c, "email", "password")
	if err != nil {
		return err
	}
	act, err := c.Act(0)
	if err != nil {
		return err
	}
	if err := a.Accounts.ChangeEmail(c.Context, c.Who, given[0], given[1], act); err != nil {
		return err
	}
	return a.email(c)
}

// verifyEmail makes the new address the account's.
func (a *Account) verifyEmail(c *v2.Call) error {
	text, err := code(c)
	if err != nil {
		return err
	}
	if err := a.Accounts.VerifyEmail(c.Context, c.Who, text, c.Visit()); err != nil {
		return err
	}
	return a.email(c)
}

// cancelEmail calls a change off, for a session. With an old address and the code that
// was mailed there it takes a change back, which nobody needs a key for.
func (a *Account) cancelEmail(c *v2.Call) error {
	if c.Has("email") || c.Has("code") {
		return a.undoEmail(c)
	}
	switch {
	case c.Who.Account == 0:
		return v2.Errorf(v2.Unauthorized, "Authorization is required: no API key was given")
	case !c.Who.Scopes.Has(account.ScopeAccount):
		return api.Forbidden(account.ScopeAccount)
	case !a.Accounts.CancelEmail(c.Who.Account):
		return bourse.Errorf(bourse.CodeNotFound, "No change is pending")
	}
	return a.email(c)
}

// undoEmail makes an old address that of its account again.
func (a *Account) undoEmail(c *v2.Call) error {
	given, err := texts(c, "email", "code")
	if err != nil {
		return err
	}
	return a.Accounts.UndoEmail(c.Context, given[0], given[1], c.Visit())
}
