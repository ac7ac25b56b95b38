package stream

import (
	"context"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
)

// auth authenticates a connection for the private streams. A connection keeps its account
// for its life. With cancel_on_close its end cancels the account's open orders.
func auth(c *session, f *api.Form, _ string) error {
	cancelOnClose := f.Bool("cancel_on_close")
	shown, err := readCredential(f, cancelOnClose)
	if err != nil {
		return err
	}

	return c.become(shown, cancelOnClose)
}

// become makes the connection that of a credential's account.
func (c *session) become(shown *credential, cancelOnClose bool) error {
	who, err := c.authenticate(shown)
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
	if who, err = c.confirm(shown); err == nil && cancelOnClose {
		err = c.arm(who.Account)
	}
	if err != nil {
		c.key.Store(before)
		return err
	}

	c.identity = who
	c.account.Store(uint64(who.Account))
	c.WatchExpiry(who.Expires)
	return nil
}

// credential is the secret or the signature of an auth operation.
type credential struct {
	secret account.Secret
	signed *account.Signed
}

// signingFields are the fields of a signed auth operation.
var signingFields = [...]string{"key", "timestamp", "window", "signature"}

// The parts of a signed auth operation that an HTTP request has in its request line.
const (
	signedMethod = "AUTH"
	signedPath   = "/stream"
	signedCancel = "cancel_on_close=true"
)

// readCredential reads the credential of an auth operation. Its signature covers
// cancel_on_close in the place of a query.
func readCredential(f *api.Form, cancelOnClose bool) (*credential, error) {
	signs := false
	for _, name := range signingFields {
		signs = signs || f.Has(name)
	}
	if !signs {
		f.Require("api_key")
		return &credential{secret: account.Secret(f.Text("api_key"))}, f.Err()
	}

	f.Require("key", "timestamp", "signature")
	if f.Has("api_key") {
		f.Fail(api.Invalid("api_key", "has no place beside a signature"))
	}
	r := &account.Signed{
		Key: account.Secret(f.Text("key")), Signature: f.Text("signature"), Method: signedMethod, Path: signedPath,
	}
	if cancelOnClose {
		r.Query = signedCancel
	}
	timestamp, window := f.Integer("timestamp"), f.Integer("window")
	if err := f.Err(); err != nil {
		return nil, err
	}
	return &credential{signed: r}, r.ParseTimes(timestamp, window)
}

// authenticate returns the holder of a credential. A signature is taken a single time.
func (c *session) authenticate(shown *credential) (account.Identity, error) {
	if shown.signed != nil {
		return c.server.Signed.VerifySigned(context.Background(), shown.signed, c.from, true)
	}
	return c.server.Who.Authenticate(context.Background(), shown.secret, c.from)
}

// confirm returns the holder of a credential that authenticate has taken, unless it has
// ended since.
func (c *session) confirm(shown *credential) (account.Identity, error) {
	if shown.signed != nil {
		return c.server.Signed.Signer(context.Background(), shown.signed.Key, c.from)
	}
	return c.server.Who.Authenticate(context.Background(), shown.secret, c.from)
}
