package stream

import (
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
)

// auth logs in, so that private streams can be subscribed to. A connection
// belongs to one account for its life.
func auth(c *conn, r *api.Request, _ string) error {
	if err := r.Require("api_key"); err != nil {
		return err
	}
	secret, err := r.Text("api_key")
	if err != nil {
		return err
	}
	who, err := c.authenticate(account.Secret(secret))
	if err != nil {
		return err
	}
	if !who.Scopes.Has(account.ScopeRead) {
		return api.Forbidden(account.ScopeRead)
	}
	if c.identity.Account != 0 && c.identity.Account != who.Account {
		return bourse.Errorf(bourse.CodeForbidden, "This connection belongs to another account")
	}
	before := c.key.Swap(uint64(who.Key))
	// A key that was revoked before Revoke could see it here is no good now.
	if who, err = c.authenticate(account.Secret(secret)); err != nil {
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
