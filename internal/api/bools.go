package api

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Bools returns a field that is an object whose members are true or false; absent
// is nil.
func (r *Request) Bools(name string) (map[string]bool, error) {
	v := r.value(name)
	if v == nil {
		return nil, nil //nolint:nilnil // absent is no error
	}
	wrong := Invalid(name, "must be an object of true and false")
	if v.Kind() != '{' {
		return nil, wrong
	}
	d := jsontext.NewDecoder(bytes.NewReader(v))
	_, _ = d.ReadToken() // it was read before
	list := map[string]bool{}
	for d.PeekKind() == '"' {
		member, err := d.ReadToken()
		if err != nil {
			return nil, wrong
		}
		word := member.String()
		value, err := d.ReadToken()
		if err != nil || value.Kind() != 't' && value.Kind() != 'f' {
			return nil, wrong
		}
		list[word] = value.Bool()
	}
	return list, nil
}
