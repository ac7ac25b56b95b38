package accountv1

import (
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
)

var loginFields = api.Fields{"email", "password", "remember", fieldCode}

// logIn starts a session.
func (a *Account) logIn(c *api.Call) error {
	c.Require("email", "password")
	in := account.LogIn{
		Email: c.Text("email"), Password: c.Text("password"), Remember: c.Bool("remember"),
		Act: c.Act(account.CaseLogin, "/login"),
	}
	if err := c.Err(); err != nil {
		return err
	}

	secret, err := a.Accounts.LogIn(c.Context, in)
	if err != nil {
		return err
	}
	c.Out.Word("api_key", string(secret))
	return nil
}
