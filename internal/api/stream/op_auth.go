package stream

import (
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
)

// auth logs in, so that private streams can be subscribed to. A connection
// belongs to one account for its life.
func auth(c *conn, r *api.Request, _ int64) error {
	if err := r.Require("api_key"); err != nil {
		return err
	}
	secret, err := r.Text("api_key")
	if err != nil {
		return err
	}
	who, err := c.server.Who.Authenticate(context.Background(), account.Secret(secret), c.from)
	if err != nil {
		return err
	}
	if !who.Scopes.Has(account.ScopeRead) {
		return api.Forbidden(account.ScopeRead)
	}
	if c.identity.Account != 0 && c.identity.Account != who.Account {
		return bourse.Errorf(bourse.CodeForbidden, "This connection belongs to another account")
	}
	c.identity = who
	c.key.Store(uint32(who.Key))
	return nil
}
