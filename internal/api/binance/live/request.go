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
	params string
}

// mostMembers bounds the members that are kept of a request's parameters: beside a signature, one more
// than a request may have, so that it is refused.
const mostMembers = binance.MaxParams + 2

// member is a member of the parameters of a request: its value as it was sent.
type member struct {
	name, text string
	kind       jsontext.Kind
}

// parser reads requests. Not safe for concurrent use.
type parser struct {
	decoder jsontext.Decoder
	// input is the decoder's input, and message a copy of it, whose parts may be kept.
	input   bytes.Buffer
	message string
	// members are those of parameters that are an object, without nulls, at most mostMembers; the next
	// request takes their place.
	members []member
}

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
	p.message = string(message)
	p.members = p.members[:0]
	p.input = *bytes.NewBuffer(message)
	p.decoder.Reset(&p.input)

	var first error
	err = p.object(func(name string) error {
		bad, err := p.part(&r, name)
		if first == nil {
			first = bad
		}
		return err
	})
	if _, end := p.decoder.ReadToken(); err != nil || !errors.Is(end, io.EOF) {
		return r, errNotJSON
	}
	if first == nil && r.method == "" {
		first = errNoMethod
	}
	return r, first
}

// part reads a part of a request. bad is the part's fault; err is set if the request is no JSON.
func (p *parser) part(r *request, name string) (bad, err error) {
	if name == "params" && p.decoder.PeekKind() == '{' {
		return nil, p.readMembers(r)
	}
	text, kind, err := p.read()
	if err != nil {
		return nil, err
	}

	switch name {
	case "id":
		if len(text) > maxID || kind != '"' && kind != 'n' && (kind != '0' || strings.ContainsAny(text, ".eE")) {
			return errID, nil
		}
		r.id = text
	case "method":
		if kind != '"' {
			return errNoMethod, nil
		}
		r.method = unquoted(text)
	case "params":
		if kind != 'n' {
			r.params = text
		}
	default: // other names are ignored
	}
	return nil, nil
}

// readMembers reads parameters that are an object.
func (p *parser) readMembers(r *request) error {
	from := p.decoder.InputOffset()
	err := p.object(func(name string) error {
		text, kind, err := p.read()
		if kind != 'n' && len(p.members) < mostMembers {
			p.members = append(p.members, member{name, text, kind})
		}
		return err
	})
	r.params = strings.TrimLeft(p.message[from:p.decoder.InputOffset()], ": \t\r\n")
	return err
}

// object reads a JSON object; member reads the value that a name has.
func (p *parser) object(member func(name string) error) error {
	d := &p.decoder
	if begin, err := d.ReadToken(); err != nil || begin.Kind() != '{' {
		return errNotJSON
	}
	for d.PeekKind() == '"' {
		name, _, err := p.read()
		if err != nil {
			return err
		}
		if err := member(unquoted(name)); err != nil {
			return err
		}
	}
	if end, err := d.ReadToken(); err != nil || end.Kind() != '}' {
		return errNotJSON
	}
	return nil
}

// read reads a value, which may be the name of a member.
func (p *parser) read() (string, jsontext.Kind, error) {
	read, err := p.decoder.ReadValue()
	if err != nil {
		return "", 0, errNotJSON
	}
	end := int(p.decoder.InputOffset())
	return p.message[end-len(read) : end], read.Kind(), nil
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
func texts(array string, most int) (list []string, ok bool) {
	if array == "" {
		return nil, true
	}
	d := jsontext.NewDecoder(strings.NewReader(array))
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
func pair(array string) (name, word string, err error) {
	d := jsontext.NewDecoder(strings.NewReader(array))
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
