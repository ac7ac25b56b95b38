package accountv1

import "github.com/bourse-exchange/bourse/internal/api"

// logOut ends the session that asks.
func (a *Account) logOut(c *api.Call) error {
	return a.Accounts.EndSession(c.Context, c.Who.Account, c.Who.Session, c.Visit())
}
