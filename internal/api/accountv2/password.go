package accountv2

import (
	"github.com/bourse-exchange/bourse/internal/api"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

var (
	passwordFields = api.Fields{"oldPassword", "password"}
	resetFields    = api.Fields{"email", "code", "password"}
)

// changePassword sets a new one.
func (a *Account) changePassword(c *v2.Call) error {
	given, err := texts(c, "oldPassword", "password")
	if err != nil {
		return err
	}
	act, err := c.Act(0)
	if err != nil {
		return err
	}
	act.What = "Change the password"
	return a.Accounts.ChangePassword(c.Context, c.Who, given[0], given[1], act)
}

// forgotPassword mails a code that resets it.
func (a *Account) forgotPassword(c *v2.Call) error {
	email, err := texts(c, "email")
	if err != nil {
		return err
	}
	return a.Accounts.ForgotPassword(c.Context, email[0], c.Visit())
}

// resetPassword sets a new one with the code.
func (a *Account) resetPassword(c *v2.Call) error {
	given, err := texts(c, "email", "code", "password")
	if err != nil {
		return err
	}
	text, err := code(c)
	if err != nil {
		return err
	}
	return a.Accounts.ResetPassword(c.Context, given[0], text, given[2], c.Visit())
}
