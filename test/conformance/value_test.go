package conformance

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// value is a JSON value that keeps the order of fields and the text of numbers, because
// both are part of the contract.
type value struct {
	// kind is one of jsontext's: n f t " 0 { [.
	kind jsontext.Kind
	// text is the content of a string or the literal of a number.
	text    string
	members []member
	items   []*value
}

type member struct {
	name  string
	value *value
}

var errTrailing = errors.New("something follows the JSON value")

// parseValue parses exactly one value; duplicate names and invalid UTF-8 are errors.
func parseValue(b []byte) (*value, error) {
	d := jsontext.NewDecoder(bytes.NewReader(b))
	v, err := readValue(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errTrailing
	}
	return v, nil
}

func readValue(d *jsontext.Decoder) (*value, error) {
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	v := &value{kind: token.Kind()}
	switch v.kind { //nolint:exhaustive // the others are all in their kind
	case '"', '0':
		v.text = token.String()
	case '{':
		for d.PeekKind() != '}' {
			name, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			m := member{name: name.String()}
			if m.value, err = readValue(d); err != nil {
				return nil, err
			}
			v.members = append(v.members, m)
		}
		_, err = d.ReadToken()
	case '[':
		for d.PeekKind() != ']' {
			item, err := readValue(d)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, item)
		}
		_, err = d.ReadToken()
	}
	return v, err
}

// String returns the value as JSON.
func (v *value) String() string {
	var b strings.Builder
	v.write(&b)
	return b.String()
}

func (v *value) write(b *strings.Builder) {
	switch v.kind {
	case '"':
		quoted, _ := jsontext.AppendQuote(nil, v.text)
		b.Write(quoted)
	case '0':
		b.WriteString(v.text)
	case '{':
		b.WriteByte('{')
		for i, m := range v.members {
			if i > 0 {
				b.WriteByte(',')
			}
			quoted, _ := jsontext.AppendQuote(nil, m.name)
			b.Write(quoted)
			b.WriteByte(':')
			m.value.write(b)
		}
		b.WriteByte('}')
	case '[':
		b.WriteByte('[')
		for i, item := range v.items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.write(b)
		}
		b.WriteByte(']')
	default:
		b.WriteString(v.kind.String())
	}
}

// clone returns a deep copy.
func (v *value) clone() *value {
	c := *v
	c.members, c.items = nil, nil
	for _, m := range v.members {
		c.members = append(c.members, member{m.name, m.value.clone()})
	}
	for _, item := range v.items {
		c.items = append(c.items, item.clone())
	}
	return &c
}

// nothing is the value of an absent field.
var nothing = &value{kind: 'n'}

// get returns a field of an object, or nothing.
func (v *value) get(name string) *value {
	for _, m := range v.members {
		if m.name == name {
			return m.value
		}
	}
	return nothing
}

// has reports whether an object has a field.
func (v *value) has(name string) bool { return v.get(name) != nothing }

// names returns the names of an object's fields in order.
func (v *value) names() string {
	list := make([]string, len(v.members))
	for i, m := range v.members {
		list[i] = m.name
	}
	return strings.Join(list, " ")
}

// column returns a field of each row of an array as text.
func (v *value) column(name string) []string {
	list := make([]string, len(v.items))
	for i, item := range v.items {
		list[i] = item.get(name).text
	}
	return list
}
