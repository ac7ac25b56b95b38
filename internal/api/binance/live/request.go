package live

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse/internal/api/binance"
)

// maxID bounds the text of a request's id.
const maxID = 64

// request is the parts of a message of a client.
type request struct {
	// id is as it was sent; null if it is absent.
	id     string
	method string
	// params is a JSON value as it was sent; empty if it is absent or null.
	params value
}

// value is a part of a message: its bytes, which are valid as long as the message, and a copy
// of them, whose parts may be kept.
type value struct {
	bytes []byte
	text  string
}

// slice returns a part of a value.
func (v value) slice(from, to int) value { return value{v.bytes[from:to], v.text[from:to]} }

// parser reads requests. Not safe for concurrent use.
type parser struct{ decoder jsontext.Decoder }

// The errors of messages that are no requests.
var (
	errNotJSON  = binance.Invalid("The message must be one JSON object with id, method and params.")
	errNoMethod = binance.Invalid("The request names no method.")
	errID       = binance.Invalid("The id must be an integer, a string of at most 62 bytes, or null.")
	errParams   = binance.Invalid("The parameters of a request are strings, numbers, booleans, or arrays of strings.")
)

const null = "null"

// parse reads a request of a message, which must not change. The id is known with most errors.
func (p *parser) parse(message []byte) (r request, err error) {
	r.id = null
	err = p.each(value{message, string(message)}, func(name string, v value, kind jsontext.Kind) error {
		switch name {
		case "id":
			if len(v.text) > maxID || kind != '"' && kind != 'n' && (kind != '0' || strings.ContainsAny(v.text, ".eE")) {
				return errID
			}
			r.id = v.text
		case "method":
			if kind != '"' {
				return errNoMethod
			}
			r.method = unquoted(v.text)
		case "params":
			if kind != 'n' {
				r.params = v
			}
		default: // other names are ignored
		}
		return nil
	})
	if err == nil && r.method == "" {
		err = errNoMethod
	}
	return r, err
}

// each calls member with the members of a JSON object, their values as they were sent.
func (p *parser) each(object value, member func(name string, v value, kind jsontext.Kind) error) error {
	d := &p.decoder
	d.Reset(bytes.NewBuffer(object.bytes))
	if begin, err := d.ReadToken(); err != nil || begin.Kind() != '{' {
		return errNotJSON
	}

	var first error
	for d.PeekKind() == '"' {
		name, err := d.ReadValue()
		if err != nil {
			return errNotJSON
		}
		end := int(d.InputOffset())
		word := unquoted(object.text[end-len(name) : end])
		read, err := d.ReadValue()
		if err != nil {
			return errNotJSON
		}
		end = int(d.InputOffset())
		if err := member(word, object.slice(end-len(read), end), read.Kind()); err != nil && first == nil {
			first = err
		}
	}
	if end, err := d.ReadToken(); err != nil || end.Kind() != '}' {
		return errNotJSON
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return errNotJSON
	}
	return first
}

// unquoted returns the content of a JSON string, without a copy unless it has escapes.
func unquoted(quoted string) string {
	if strings.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	plain, _ := jsontext.AppendUnquote(nil, quoted) // the decoder has checked it
	return string(plain)
}

// texts returns a JSON array of at most most strings.
func texts(v value, most int) (list []string, ok bool) {
	if v.text == "" {
		return nil, true
	}
	d := jsontext.NewDecoder(strings.NewReader(v.text))
	if begin, err := d.ReadToken(); err != nil || begin.Kind() != '[' {
		return nil, false
	}
	for d.PeekKind() != ']' {
		e, err := d.ReadValue()
		if err != nil || e.Kind() != '"' || len(list) == most {
			return nil, false
		}
		list = append(list, unquoted(string(e)))
	}
	return list, true
}

// pair returns the name and the value of a property: a JSON array of one or two values.
func (p *parser) pair(v value) (name, word string, err error) {
	d := jsontext.NewDecoder(strings.NewReader(v.text))
	if begin, err := d.ReadToken(); err != nil || begin.Kind() != '[' {
		return "", "", errProperty
	}
	var read [2]string
	for i := 0; d.PeekKind() != ']'; i++ {
		e, err := d.ReadValue()
		if err != nil || i == len(read) {
			return "", "", errProperty
		}
		read[i] = string(e)
	}
	return read[0], read[1], nil
}
