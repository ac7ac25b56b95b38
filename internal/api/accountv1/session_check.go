package accountv1

import (
	"errors"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
)

// check tells whether a key, a session's or an API key, would be taken from this client.
func (a *Account) check(c *api.Call) error {
	c.Require("api_key")
	secret := account.Secret(c.Text("api_key"))
	if err := c.Err(); err != nil {
		return err
	}

	_, err := a.Who.Authenticate(c.Context, secret, c.From)
	if err != nil && !errors.Is(err, account.ErrUnauthorized) {
		return err
	}
	c.Out.Bool("valid", err == nil)
	return nil
}
