package v2

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api"
)

// Call is one request on its way through an endpoint. It is good until the
// endpoint returns.
type Call struct {
	*api.Call

	http *http.Request
	body []byte
	// answer is the answer's header, and other what it is unless it is JSON.
	answer http.Header
	other  *attachment
}

// attachment is an answer that is not JSON.
type attachment struct {
	kind string
	body []byte
}

// Accepts reports whether the client asks for a kind of answer by its header.
func (c *Call) Accepts(kind string) bool {
	for part := range strings.SplitSeq(strings.Join(c.http.Header.Values("Accept"), ","), ",") {
		name, _, _ := strings.Cut(part, ";")
		if strings.EqualFold(strings.TrimSpace(name), kind) {
			return true
		}
	}
	return false
}

// Attach makes the answer a text of another kind than JSON.
func (c *Call) Attach(kind string, body []byte) { c.other = &attachment{kind, body} }

// Header sets a header of the answer, which pages of other origins may read.
func (c *Call) Header(name, value string) {
	c.answer.Set(name, value)
	c.answer.Set("Access-Control-Expose-Headers", name)
}

// Endpoint is one method on one path of an interface.
type Endpoint struct {
	Method string
	// Path begins with a slash, below the interface's prefix; {name} stands for
	// a segment.
	Path string
	// Fields are what a request may hold: in the query of a GET, in the body of
	// any other. The field code2FA is added to the latter.
	Fields api.Fields
	// Scope is what the key must allow; zero means that no key is needed.
	Scope account.Scopes
	// Guest endpoints are for who has no key yet.
	Guest bool
	// Class is which of the limits a request counts against.
	Class api.Class
	// Answer writes the answer's fields to c.Out. Nothing of what it wrote is
	// sent if it returns an error: an *Error or *bourse.Error is told to the
	// caller, anything else is ours.
	Answer func(c *Call) error
}

// fieldCode brings the code of a second factor.
const fieldCode = "code2FA"

// Segment returns what stands in the path for {name}.
func (c *Call) Segment(name string) string { return c.http.PathValue(name) }

// SegmentID returns the id that stands in the path for {name}; what cannot be one
// names nothing.
func (c *Call) SegmentID(name string) (uint64, error) {
	id, err := api.ParseID(c.Segment(name))
	if err != nil {
		return 0, Errorf(NotFound, "%s: there is none with this id", name)
	}
	return id, nil
}

// Visit is where the request came from, and what the client says it is.
func (c *Call) Visit() account.Visit {
	return account.Visit{From: c.From, Agent: c.http.UserAgent()}
}

// Act describes the request to who may ask for a second factor, with the code that
// came along. A code that cannot be one is an error.
func (c *Call) Act(what account.Cases) (account.Act, error) {
	act := account.Act{Case: what, Digest: c.Digest(), Visit: c.Visit()}
	text, err := c.Text(fieldCode)
	if err == nil && c.Has(fieldCode) {
		err = account.CheckCode(fieldCode, text)
	}
	act.Code = text
	return act, err
}

// IdempotencyKey returns the header of this name; it need not be given.
func (c *Call) IdempotencyKey() (id bourse.ClientID, err error) {
	const name = "Idempotency-Key"
	given := c.http.Header.Values(name)
	switch {
	case len(given) == 0:
		return id, nil
	case len(given) > 1:
		return id, api.Invalid(name, "is given twice")
	}
	if id, err = bourse.ParseClientID(given[0]); err != nil {
		return id, api.Invalid(name, err.Error())
	}
	return id, nil
}

// Digest identifies the request: account, method, path and the fields of the body
// but the code of a second factor, in any order. What a code confirms, and what
// an Idempotency-Key stands for, is a request with one digest.
func (c *Call) Digest() account.Digest {
	h := sha256.New()
	write := func(b []byte) {
		_ = binary.Write(h, binary.LittleEndian, uint64(len(b))) // a hash takes everything
		_, _ = h.Write(b)
	}
	_ = binary.Write(h, binary.LittleEndian, uint64(c.Who.Account))
	write([]byte(c.http.Method))
	write([]byte(c.http.URL.EscapedPath()))
	members := c.members()
	for _, name := range slices.Sorted(maps.Keys(members)) {
		write([]byte(name))
		write(members[name])
	}
	return account.Digest(h.Sum(nil))
}

// members returns the fields of the body, unknown ones included, without spaces.
// The body has been read strictly before.
func (c *Call) members() map[string]jsontext.Value {
	members := map[string]jsontext.Value{}
	if len(c.body) == 0 {
		return members
	}
	d := jsontext.NewDecoder(bytes.NewReader(c.body))
	_, _ = d.ReadToken()
	for d.PeekKind() == '"' {
		quoted, _ := d.ReadValue()
		name, _ := jsontext.AppendUnquote(nil, quoted)
		value, _ := d.ReadValue()
		value = value.Clone()
		if _ = value.Compact(); string(name) != fieldCode {
			members[string(name)] = value
		}
	}
	return members
}
