package api

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/netip"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// Call is one request on its way through an endpoint. It is good until the
// endpoint returns.
type Call struct {
	*Request
	// Context ends with the client's patience, or ours.
	Context context.Context
	// Out takes the fields of the answer, behind success.
	Out *wire.Writer
	// Who is set for endpoints with a scope.
	Who account.Identity
	// From is the address that the request came from.
	From netip.Addr
	// Limits count the request in its Class.
	Limits *Limiter
	Class  Class

	// agent is what the client says it is.
	agent string
	// whole is the body of the answer, if the endpoint has it complete.
	whole []byte
}

// Payer returns what the request is counted against.
func (c *Call) Payer() Payer { return Payer{c.Who.Account, c.From} }

// Charge counts work beyond that of a usual request of its class, once it is known:
// levels that an order walked, rows that were read. The client's next requests
// wait for it; this one is answered.
func (c *Call) Charge(tokens int) { c.Limits.Charge(c.Class, c.Payer(), tokens) }

// Overdrawn reports whether the account owes for what its requests turned out to cause.
func (c *Call) Overdrawn() bool { return c.Limits.Overdrawn(c.Class, c.Who.Account) }

// Whole makes bytes the body of the answer in place of what Out has. They may be
// shared, and are never changed.
func (c *Call) Whole(body []byte) { c.whole = body }

// fieldCode brings the code of a second factor.
const fieldCode = "code_2fa"

// Act describes a request of V1 to who may ask for a second factor, with the code
// that came along. A code confirms a request to one path with the same fields.
func (c *Call) Act(what account.Cases, path string) (account.Act, error) {
	act := account.Act{Case: what, Visit: account.Visit{From: c.From, Agent: c.agent}}
	text, err := c.Text(fieldCode)
	if err == nil && c.Has(fieldCode) {
		err = account.CheckCode(fieldCode, text)
	}
	act.Code = text
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%d %q", c.Who.Account, path)
	for _, name := range c.fields {
		if name != fieldCode && name != "api_key" {
			_, _ = fmt.Fprintf(h, " %q %q", name, c.value(name))
		}
	}
	act.Digest = account.Digest(h.Sum(nil))
	return act, err
}

// Endpoint is one path of an interface.
type Endpoint struct {
	// Path begins with a slash, below the interface's prefix.
	Path string
	// Fields are what a request may hold; api_key is added where a scope is
	// needed.
	Fields Fields
	// Scope is what the key must allow; zero means that no key is needed.
	Scope account.Scopes
	// Class is which of the limits a request counts against.
	Class Class
	// Answer writes the answer's fields to c.Out. Nothing of what it wrote is
	// sent if it returns an error: an *bourse.Error is told to the caller,
	// anything else is ours.
	Answer func(c *Call) error
}

// Authenticator says who is asking. A secret that is no good, for whatever
// reason, is an *bourse.Error with CodeUnauthorized.
type Authenticator interface {
	Authenticate(ctx context.Context, secret account.Secret, from netip.Addr) (account.Identity, error)
}

// authenticate fills Who, from the field api_key.
func (c *Call) authenticate(who Authenticator) error {
	if err := c.Require("api_key"); err != nil {
		return err
	}

	secret, err := c.Text("api_key")
	if err != nil {
		return err
	}

	if c.Who, err = who.Authenticate(c.Context, account.Secret(secret), c.From); err != nil {
		c.Who = account.Identity{}
	}
	return err
}

// Pair returns the market that a required field names; find looks it up.
func (c *Call) Pair(name string, find func(bourse.Pair) *bourse.Market) (*bourse.Market, error) {
	if err := c.Require(name); err != nil {
		return nil, err
	}
	return c.OptionalPair(name, find)
}

// OptionalPair returns the market that a field names, or nil if it is absent.
func (c *Call) OptionalPair(name string, find func(bourse.Pair) *bourse.Market) (*bourse.Market, error) {
	if !c.Has(name) {
		return nil, nil //nolint:nilnil // absent is no error
	}
	pair, err := c.Text(name)
	if err != nil {
		return nil, err
	}
	m := find(bourse.Pair(pair))
	if m == nil {
		return nil, bourse.Errorf(bourse.CodeNotFound, "%s: unknown pair %q", name, cut(pair))
	}
	return m, nil
}

// Unknown returns the error for a field with a symbol that names nothing of a
// kind.
func Unknown(field, kind, symbol string) error {
	return bourse.Errorf(bourse.CodeNotFound, "%s: unknown %s %q", field, kind, cut(symbol))
}

// Named returns what a field names by its symbol, asset or network, which is also
// the field's name; find looks it up.
func Named[T any](c *Call, name string, find func(bourse.Symbol) *T) (*T, error) {
	symbol, err := c.Text(name)
	if err != nil {
		return nil, err
	}
	found := find(bourse.Symbol(symbol))
	if found == nil {
		return nil, Unknown(name, name, symbol)
	}
	return found, nil
}

// ClientID returns the field client_id; absent is none.
func ClientID(c *Call) (id bourse.ClientID, err error) {
	if !c.Has("client_id") {
		return id, nil
	}
	text, err := c.Text("client_id")
	if err != nil {
		return id, err
	}
	if id, err = bourse.ParseClientID(text); err != nil {
		return id, Invalid("client_id", err.Error())
	}
	return id, nil
}
