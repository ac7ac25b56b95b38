package v2

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
	"github.com/bourse-exchange/bourse/internal/api/codes"
)

// Call is one request in an endpoint. It is valid until the endpoint returns.
type Call struct{ *api.Call }

// Accepts reports whether the header Accept names a media type.
func (c *Call) Accepts(kind string) bool {
	for part := range strings.SplitSeq(strings.Join(c.HTTP.Header.Values("Accept"), ","), ",") {
		name, _, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), kind) {
			return true
		}
	}
	return false
}

// Expose sets a header of the answer and lets pages of other origins read it, if they may
// read the answer.
func (c *Call) Expose(name, value string) {
	c.Header.Set(name, value)
	if c.Header.Get("Access-Control-Allow-Origin") != "" {
		c.Header.Set("Access-Control-Expose-Headers", name)
	}
}

// Endpoint is one method on one path of an interface.
type Endpoint struct {
	Method string
	// Path begins with a slash, below the interface's prefix; {name} matches a segment.
	Path string
	// Fields are the names that a request may hold: in the query of a GET, in the body of
	// any other method, where code2FA and assertion2FA are added.
	Fields api.Fields
	// Scope is required of the key; zero means that no key is needed.
	Scope account.Scopes
	// Guest refuses requests that show a key.
	Guest bool
	// KeyOnly keeps an endpoint from pages; see [api.Endpoint].
	KeyOnly bool
	// Query lets a method other than GET give its fields in the query as well; see
	// [api.Endpoint].
	Query bool
	// Class selects the limit that a request counts against.
	Class api.Class
	// Compress permits to compress large answers; see [api.Endpoint].
	Compress bool
	// Answer writes the answer's fields to c.Out. If it returns an error, its output is
	// dropped: clients read an *Error or *bourse.Error; any other error is answered as
	// internal.
	Answer func(c *Call) error
}

// The fields with a second factor: a code, or the assertion of a passkey.
const (
	fieldCode      = "code2FA"
	fieldAssertion = "assertion2FA"
)

// Segment returns the path's segment for {name}.
func (c *Call) Segment(name string) string { return c.HTTP.PathValue(name) }

// SegmentID parses the path's segment for {name} as an id; a malformed one is NotFound.
func (c *Call) SegmentID(name string) uint64 {
	id, err := api.ParseID(c.Segment(name))
	if err != nil {
		c.Fail(api.Errorf(codes.NotFound, "%s: there is none with this id", name))
	}
	return id
}

// Act describes the request, with its second factor, to the account service. A malformed one
// is an error, and so are two.
func (c *Call) Act(what account.Cases) account.Act {
	act := account.Act{Case: what, Digest: c.Digest(), Visit: c.Visit(), Code: c.FactorCode(fieldCode)}
	act.Assertion = c.Assertion(fieldAssertion)
	if act.Code != "" && act.Assertion != nil {
		c.Fail(api.Invalid(fieldAssertion, "must not come with "+fieldCode))
	}
	return act
}

// IdempotencyKey returns the header Idempotency-Key; zero if it is absent.
func (c *Call) IdempotencyKey() (id bourse.ClientID) {
	const name = "Idempotency-Key"
	given := c.HTTP.Header.Values(name)

	switch {
	case len(given) == 0:
		return id
	case len(given) > 1:
		c.Fail(api.Invalid(name, "is given twice"))
		return id
	}

	id, err := bourse.ParseClientID(given[0])
	if err != nil {
		c.Fail(api.Invalid(name, err.Error()))
	}
	return id
}

// Digest identifies the request by its account, method, path, query and body fields, these
// in any order, without a second factor. A second factor or an Idempotency-Key belongs to one
// digest.
func (c *Call) Digest() account.Digest {
	h := sha256.New()
	write := func(b []byte) {
		_ = binary.Write(h, binary.LittleEndian, uint64(len(b))) // a hash never fails
		_, _ = h.Write(b)
	}

	_ = binary.Write(h, binary.LittleEndian, uint64(c.Who.Account))
	write([]byte(c.HTTP.Method))
	write([]byte(c.HTTP.URL.EscapedPath()))
	write([]byte(c.HTTP.URL.RawQuery))
	members := c.members()
	for _, name := range slices.Sorted(maps.Keys(members)) {
		write([]byte(name))
		write(members[name])
	}
	return account.Digest(h.Sum(nil))
}

// members returns the fields of the body, including unknown ones, in compact form. The
// body was parsed strictly before.
func (c *Call) members() map[string]jsontext.Value {
	members := map[string]jsontext.Value{}
	if len(c.Body) == 0 {
		return members
	}
	d := jsontext.NewDecoder(bytes.NewReader(c.Body))

	_, _ = d.ReadToken()
	for d.PeekKind() == '"' {
		quoted, _ := d.ReadValue()
		name, _ := jsontext.AppendUnquote(nil, quoted)
		value, _ := d.ReadValue()
		value = value.Clone()
		if _ = value.Compact(); string(name) != fieldCode && string(name) != fieldAssertion {
			members[string(name)] = value
		}
	}
	return members
}
