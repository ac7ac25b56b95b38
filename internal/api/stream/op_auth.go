package stream

import (
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
)

// auth authenticates a connection for the private streams. A connection keeps its account
// for its life. With cancel_on_close its end cancels the account's open orders.
func auth(c *conn, f *api.Form, _ string) error {
	f.Require("api_key")
	secret, cancelOnClose := f.Text("api_key"), f.Bool("cancel_on_close")
	if err := f.Err(); err != nil {
		return err
	}

	who, err := c.authenticate(account.Secret(secret))
	if err != nil {
		return err
	}
	if !who.Scopes.Has(account.ScopeRead) {
		return api.Forbidden(account.ScopeRead)
	}
	if cancelOnClose && !who.Scopes.Has(account.ScopeTrade) {
		return api.Forbidden(account.ScopeTrade)
	}
	if c.identity.Account != 0 && c.identity.Account != who.Account {
		return bourse.Errorf(bourse.CodeForbidden, "This connection belongs to another account")
	}

	before := c.key.Swap(uint64(who.Key))
	// Revoke may have missed this connection until now, so check the key once more.
	if who, err = c.authenticate(account.Secret(secret)); err == nil && cancelOnClose {
		err = c.arm(who.Account)
	}
	if err != nil {
		c.key.Store(before)
		return err
	}

	c.identity = who
	c.server.watchExpiry(c, who.Expires)
	return nil
}

func (c *conn) authenticate(secret account.Secret) (account.Identity, error) {
	return c.server.Who.Authenticate(context.Background(), secret, c.from)
}
