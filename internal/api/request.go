package api

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
)

// MaxFields bounds the fields that an endpoint may know.
const MaxFields = 16

// Fields are the names that a request may hold; others are ignored.
type Fields []string

// Request is a JSON object whose known fields are looked up by name. It is
// strict: names that come twice or differ from a known one in case alone,
// invalid UTF-8 and trailing data are refused.
type Request struct {
	fields Fields
	// values holds the raw value of each known field, a part of body; nil where
	// it is absent or null.
	values  [MaxFields]jsontext.Value
	body    []byte
	decoder jsontext.Decoder
	// query says that the values come from a query string, where all are texts.
	query bool
}

// ErrNotObject says that a body is not one JSON object, strictly read.
var ErrNotObject = bourse.Errorf(bourse.CodeInvalid, "Request must be one JSON object")

// Parse reads a body, which must stay as it is while the request is used. The
// error is an *bourse.Error. Unless it is ErrNotObject, the fields can be read
// all the same.
func (r *Request) Parse(body []byte, fields Fields) error {
	r.fields, r.body, r.query = fields, body, false
	r.values = [MaxFields]jsontext.Value{}
	r.decoder.Reset(bytes.NewBuffer(body))
	misnamed, err := r.members()
	if err != nil {
		return err
	}
	if _, err := r.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return ErrNotObject
	}
	return misnamed
}

// members reads the object. misnamed is about the first name that differs from a
// known one in case alone.
func (r *Request) members() (misnamed, err error) {
	begin, err := r.decoder.ReadToken()
	if err != nil || begin.Kind() != '{' {
		return nil, ErrNotObject
	}
	for r.decoder.PeekKind() == '"' {
		name, err := r.decoder.ReadValue()
		if err != nil {
			return nil, ErrNotObject
		}
		at, err := r.index(name)
		if misnamed == nil {
			misnamed = err
		}
		value, err := r.decoder.ReadValue()
		if err != nil {
			return nil, ErrNotObject
		}
		if at >= 0 && value.Kind() != 'n' {
			end := r.decoder.InputOffset()
			r.values[at] = r.body[end-int64(len(value)) : end]
		}
	}
	if end, err := r.decoder.ReadToken(); err != nil || end.Kind() != '}' {
		return nil, ErrNotObject
	}
	return misnamed, nil
}

// index returns which known field a quoted name is, or -1.
func (r *Request) index(quoted jsontext.Value) (int, error) {
	name := text(quoted)
	for i, known := range r.fields {
		if string(name) == known {
			return i, nil
		}
	}
	for _, known := range r.fields {
		if strings.EqualFold(string(name), known) {
			return -1, bourse.Errorf(bourse.CodeInvalid, "Unknown field %s, did you mean %s?", strconv.Quote(cut(string(name))), known)
		}
	}
	return -1, nil
}

func unquote(v jsontext.Value) string { return string(text(v)) }

// text returns what a string says: a part of it, if nothing in it is escaped.
func text(v jsontext.Value) []byte {
	if bytes.IndexByte(v, '\\') < 0 {
		return v[1 : len(v)-1]
	}
	plain, _ := jsontext.AppendUnquote(nil, v) // the decoder has checked it
	return plain
}

// value returns the raw value of a field, or nil.
func (r *Request) value(name string) jsontext.Value {
	for i, known := range r.fields {
		if name == known {
			return r.values[i]
		}
	}
	bourse.Impossible("field %s is not declared", name)
	return nil
}

// Has reports whether a field is there and not null.
func (r *Request) Has(name string) bool { return r.value(name) != nil }

// Missing returns the error for a required field that is absent.
func Missing(name string) error {
	return &bourse.Error{Code: bourse.CodeMissing, Message: "Missing data: " + name}
}

// Invalid returns the error for a field that is malformed.
func Invalid(name, why string) error {
	return bourse.Errorf(bourse.CodeInvalid, "%s: %s", name, why)
}

// Require returns the error for the first of these fields that is absent.
func (r *Request) Require(names ...string) error {
	for _, name := range names {
		if !r.Has(name) {
			return Missing(name)
		}
	}
	return nil
}

// Text returns a string field; absent is empty.
func (r *Request) Text(name string) (string, error) {
	v := r.value(name)
	switch {
	case v == nil:
		return "", nil
	case v.Kind() != '"':
		return "", Invalid(name, "must be a string")
	}
	return unquote(v), nil
}

// Bool returns a boolean field; absent is false.
func (r *Request) Bool(name string) (bool, error) {
	v := r.scalar(name)
	switch {
	case v == nil:
		return false, nil
	case v.Kind() != 't' && v.Kind() != 'f':
		return false, Invalid(name, "must be true or false")
	}
	return v.Kind() == 't', nil
}

// Int returns an integer field in [low, high]; absent is low. Zero has no sign.
func (r *Request) Int(name string, low, high int64) (int64, error) {
	v := r.scalar(name)
	if v == nil {
		return low, nil
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if v.Kind() != '0' || err != nil || n < low || n > high || n == 0 && len(v) > 1 {
		return 0, Invalid(name, "must be an integer from "+strconv.FormatInt(low, 10)+" to "+strconv.FormatInt(high, 10))
	}
	return n, nil
}

// Integer returns an integer field as it was written, of any size; absent is
// empty.
func (r *Request) Integer(name string) (string, error) {
	v := r.scalar(name)
	if v != nil && (v.Kind() != '0' || bytes.ContainsAny(v, ".eE")) {
		return "", Invalid(name, "must be an integer")
	}
	return string(v), nil
}

// MaxOffset is the largest offset of a list.
const MaxOffset = 1<<31 - 1

// Offset returns how many rows of a list to pass over.
func (r *Request) Offset() (int, error) {
	n, err := r.Int("offset", 0, MaxOffset)
	return int(n), err
}

// ID returns an id field, which may be an integer or a string of digits; absent
// is zero.
func (r *Request) ID(name string) (uint64, error) {
	v := r.value(name)
	if v == nil {
		return 0, nil
	}
	digits := string(v)
	if v.Kind() == '"' {
		digits = unquote(v)
	}
	n, err := ParseID(digits)
	if err != nil {
		return 0, Invalid(name, err.Error())
	}
	return n, nil
}

var errNotID = errors.New("must be a positive integer")

// ParseID reads an id in digits.
func ParseID(digits string) (uint64, error) {
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return 0, errNotID
		}
	}
	if n, err := strconv.ParseUint(digits, 10, 63); err == nil {
		return n, nil
	}
	return 0, errNotID
}

// Texts returns a field that is an array of at most this many strings; in a query
// string commas separate them.
func (r *Request) Texts(name string, most int) ([]string, error) {
	v := r.value(name)
	if v == nil {
		return nil, nil
	}
	wrong := Invalid(name, "must be an array of at most "+strconv.Itoa(most)+" strings")
	if r.query {
		list := strings.SplitN(unquote(v), ",", most+1)
		if len(list) > most {
			return nil, wrong
		}
		return list, nil
	}
	if v.Kind() != '[' {
		return nil, wrong
	}
	var list []string
	d := jsontext.NewDecoder(bytes.NewReader(v))
	if _, err := d.ReadToken(); err != nil {
		return nil, wrong
	}
	for d.PeekKind() != ']' {
		e, err := d.ReadValue()
		if err != nil || e.Kind() != '"' || len(list) == most {
			return nil, wrong
		}
		list = append(list, unquote(e))
	}
	return list, nil
}

// TextOrTexts returns a field that is a string or an array of at most this many
// strings.
func (r *Request) TextOrTexts(name string, most int) ([]string, error) {
	v := r.value(name)
	switch {
	case v != nil && v.Kind() == '"':
		return []string{unquote(v)}, nil
	case v != nil && v.Kind() != '[':
		return nil, Invalid(name, "must be a string or an array of strings")
	}
	return r.Texts(name, most)
}

// Word returns a field that must be one of the words that parse knows; absent
// is zero.
func Word[E ~uint8](r *Request, name string, parse func(string) (E, bool)) (E, error) {
	if !r.Has(name) {
		return 0, nil
	}
	s, err := r.Text(name)
	if err != nil {
		return 0, err
	}
	e, ok := parse(s)
	if !ok {
		return 0, Invalid(name, strconv.Quote(cut(s))+" is none of the values it may have")
	}
	return e, nil
}

// cut shortens a text that comes back in an error.
func cut(s string) string {
	const most = 64
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}
