package accountv2

import (
	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/api"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

var emailFields = api.Fields{"email", "password"}

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

// changeEmail mails a code to the new address.
func (a *Account) changeEmail(c *v2.Call) error {
	given, err := texts(c, "email", "password")
	if err != nil {
		return err
	}
	if err := a.Accounts.ChangeEmail(c.Context, c.Who.Account, given[0], given[1], c.Visit()); err != nil {
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

// cancelEmail calls the change off.
func (a *Account) cancelEmail(c *v2.Call) error {
	if !a.Accounts.CancelEmail(c.Who.Account) {
		return bourse.Errorf(bourse.CodeNotFound, "No change is pending")
	}
	return a.email(c)
}
