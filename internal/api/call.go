package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/netip"

	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/coding"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// Call is one request in an endpoint. It is valid until the endpoint returns.
type Call struct {
	*Form
	// Context ends Server.Patience after the endpoint began, or earlier if net/http sees the client leave.
	Context context.Context
	// Out takes the fields of the answer after success.
	Out *wire.Writer
	// Who identifies the caller. Account is zero for an unauthenticated request.
	Who account.Identity
	// From is the client's address.
	From netip.Addr
	// Limits count the request under Class.
	Limits *Limiter
	Class  Class

	// HTTP is the request as received, Body its body once read, and Header the answer's
	// header.
	HTTP   *http.Request
	Body   []byte
	Header http.Header

	// signed is the request if a signature has to prove Who.
	signed *account.Signed
	// standing is the state of the limit that the request was counted against.
	standing Standing
	// whole, if set, is the body of the answer in place of Out; kind is its Content-Type.
	// document, if set, has whole for many clients.
	whole    []byte
	kind     []string
	document *coding.Document
	// flow, if set, writes the body of the answer. If an error takes its place, unused is called.
	flow   func(*Flow) error
	unused func()
	// encoded, if set, is the compressed body; compress permits it.
	encoded  []byte
	compress bool
}

// Payer returns the account or source that pays for the request.
func (c *Call) Payer() Payer { return Payer{c.Who.Account, c.From} }

// Charge counts work beyond that of a usual request of its class, such as levels that an
// order walked or rows read. This request is still answered; the client's next ones wait.
func (c *Call) Charge(tokens int) { _, c.standing = c.Limits.charge(c.Class, c.Payer(), tokens) }

// chargeAnswer counts the answer by its size.
func (c *Call) chargeAnswer() {
	if more := len(c.answered()) / weighedBytes; more > 0 {
		c.Charge(more)
	}
}

// RetryLater sets the header Retry-After of a request that a limit refused with an error: one
// of its own, or that of requests.
func (c *Call) RetryLater(err error) {
	wait := c.standing.Next
	var limit *account.LimitError
	if errors.As(err, &limit) {
		wait = limit.Wait
	}
	retryAfter(c.Header, wait)
}

// skippedInARequest is the number of rows of a filtered list that a request may skip:
// reading them takes about as long as the rest of it.
const skippedInARequest = 1000

// ChargeSkipped counts the rows that a request for a page skips, of a list whose rows
// are at most count.
func (c *Call) ChargeSkipped(skip int, count uint64) {
	if more := min(uint64(skip), count) / skippedInARequest; more > 0 {
		c.Charge(int(more))
	}
}

// Whole replaces the body of the answer. The bytes may be shared and are never changed.
func (c *Call) Whole(body []byte) { c.whole = body }

// Share replaces the body of the answer by a document that many clients get.
func (c *Call) Share(d *coding.Document) { c.whole, c.document = d.In(coding.Identity, nil), d }

// fieldCode names the field with the code of a second factor.
const fieldCode = "code_2fa"

// Attach replaces the body of the answer, with a Content-Type other than JSON.
func (c *Call) Attach(kind string, body []byte) { c.whole, c.kind = body, []string{kind} }

// Visit returns the request's source and user agent.
func (c *Call) Visit() account.Visit {
	return account.Visit{From: c.From, Agent: c.HTTP.UserAgent()}
}

// Act describes a V1 request, with its second-factor code, to the account service. A code
// confirms requests to one path with the same fields.
func (c *Call) Act(what account.Cases, path string) account.Act {
	act := account.Act{Case: what, Visit: c.Visit(), Code: c.FactorCode(fieldCode)}
	h := sha256.New()

	_, _ = fmt.Fprintf(h, "%d %q", c.Who.Account, path)
	for _, name := range c.fields {
		if name != fieldCode && name != "api_key" {
			_, _ = fmt.Fprintf(h, " %q %q", name, c.raw(name))
		}
	}
	act.Digest = account.Digest(h.Sum(nil))

	return act
}

// Endpoint is one path of an interface, or one method on it in V2.
type Endpoint struct {
	// Method is empty for an endpoint of V1, which takes GET and POST.
	Method string
	// Path begins with a slash, below the interface's prefix.
	Path string
	// Fields are the names that a request may hold; V1 adds api_key if it takes a key.
	Fields Fields
	// Scope is required of the key; zero means that no key is needed.
	Scope account.Scopes
	// OptionalKey lets a V1 endpoint that needs no key take one.
	OptionalKey bool
	// Guest refuses requests that show a key.
	Guest bool
	// Query lets a method other than GET give its fields, which must be strings, in the
	// query as well. No endpoint that a second factor may confirm has it: the code would be
	// part of the digest that it confirms.
	Query bool
	// Private keeps an endpoint of V1 that needs no key from taking its fields in a query:
	// they are secrets, and addresses are logged on their way.
	Private bool
	// KeyOnly keeps an endpoint that takes or hands out a session's secret from pages, whose
	// secret is in a cookie that scripts cannot read.
	KeyOnly bool
	// Repeatable names the field with which a request has its effect once, however often it
	// is sent: a signed request that has it may be repeated. Empty for none.
	Repeatable string
	// Class selects the limit that a request counts against.
	Class Class
	// Compress permits to compress large answers. Their length then tells of their content:
	// they must have no credential, and no stranger's text beside an account's own data.
	Compress bool
	// Answer writes the answer's fields to c.Out. If it returns an error, its output is
	// dropped: clients read the message of an *bourse.Error; any other error is logged
	// and answered as ErrInternal.
	Answer func(c *Call) error

	// label names the endpoint to Server.Observe.
	label string
}

// takesKey reports whether requests may show a key in V1.
func (e *Endpoint) takesKey() bool { return e.Scope != 0 || e.OptionalKey }

// Authenticator finds the holder of a secret. The error for an invalid secret, for
// whatever reason, is an *bourse.Error with CodeUnauthorized.
type Authenticator interface {
	Authenticate(ctx context.Context, secret account.Secret, from netip.Addr) (account.Identity, error)
}
