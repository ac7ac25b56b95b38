package api

import (
	"context"
	"net/http"
	"net/netip"
	"strings"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
)

// The headers of a signed request.
const (
	headerKey       = "Bourse-Key"
	headerTimestamp = "Bourse-Timestamp"
	headerWindow    = "Bourse-Window"
	headerSignature = "Bourse-Signature"
)

// Verifier checks signed requests. The errors are those of [account.Service].
type Verifier interface {
	// Signer returns the identity that a key claims, for the limit that its account has.
	Signer(ctx context.Context, key account.Secret, from netip.Addr) (account.Identity, error)
	// VerifySigned returns the identity that a signature proves. With once, it takes a request a
	// single time.
	VerifySigned(ctx context.Context, r *account.Signed, from netip.Addr, once bool) (account.Identity, error)
}

// errTwoKeys is the error for a request that is signed and shows a key as well.
var errTwoKeys = bourse.Errorf(bourse.CodeInvalid, "The request is signed and shows a key as well: send one of them")

// isSigned reports whether a request names a signing key.
func isSigned(h http.Header) bool { return len(h[headerKey]) > 0 }

// readSigned returns the signed request that the headers make of c; nil without Bourse-Key.
func (c *Call) readSigned() (*account.Signed, error) {
	h := c.HTTP.Header
	if !isSigned(h) {
		return nil, nil //nolint:nilnil // most requests are not signed, and that is no error
	}
	for _, name := range [...]string{headerKey, headerTimestamp, headerWindow, headerSignature} {
		switch values := h[name]; {
		case len(values) > 1:
			return nil, Invalid(name, "is given twice")
		case len(values) == 0 && name != headerWindow:
			return nil, Missing(name)
		}
	}

	r := &account.Signed{
		Key: account.Secret(h.Get(headerKey)), Signature: h.Get(headerSignature),
		Method: c.HTTP.Method, Body: c.Body,
	}
	r.Path, r.Query, _ = strings.Cut(c.HTTP.RequestURI, "?")
	return r, r.ParseTimes(h.Get(headerTimestamp), h.Get(headerWindow))
}

// once reports whether a signed request is taken a single time: it changes something, and
// its fields do not make a repeat harmless.
func (e *Endpoint) once(c *Call) bool {
	return e.Scope&^account.ScopeRead != 0 && (e.Repeatable == "" || !c.Has(e.Repeatable))
}

// verify checks the signature of a request whose account was charged for it. Without a good
// one, nothing is told of the account's limit.
func (p *path) verify(c *Call, e *Endpoint) (err error) {
	ctx, cancel := p.patient(c.HTTP.Context())
	defer cancel()
	if c.Who, err = p.signed.VerifySigned(ctx, c.signed, c.From, e.once(c)); err != nil {
		c.Who, c.standing = account.Identity{}, Standing{}
	}
	return p.unauthorized(err)
}
