package accountv2

import (
	"github.com/bourse-exchange/bourse/internal/api"
	v2 "github.com/bourse-exchange/bourse/internal/api/v2"
)

var (
	passwordFields = api.Fields{"oldPassword", "password"}
	resetFields    = api.Fields{"email", "code", "password"}
)

// changePassword sets a new password.
func (a *Account) changePassword(c *v2.Call) error {
	given, act := texts(c, "oldPassword", "password"), c.Act(0)
	if err := c.Err(); err != nil {
		return err
	}

	act.What = "Change the password"
	return a.Accounts.ChangePassword(c.Context, c.Who, given[0], given[1], act)
}

// forgotPassword mails a code for resetPassword.
func (a *Account) forgotPassword(c *v2.Call) error {
	email := texts(c, "email")
	if err := c.Err(); err != nil {
		return err
	}

	return a.Accounts.ForgotPassword(c.Context, email[0], c.Visit())
}

// resetPassword sets a new password with a mailed code.
func (a *Account) resetPassword(c *v2.Call) error {
	given := texts(c, "email", "code", "password")
	text := code(c)
	if err := c.Err(); err != nil {
		return err
	}

	return a.Accounts.ResetPassword(c.Context, given[0], text, given[2], c.Visit())
}
