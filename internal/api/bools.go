package api

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Bools returns a field that is an object of booleans; nil if it is absent.
func (f *Form) Bools(name string) map[string]bool {
	v := f.value(name)
	if v == nil {
		return nil
	}
	list, ok := bools(v)
	if !ok {
		f.Fail(Invalid(name, "must be an object of true and false"))
		return nil
	}
	return list
}

// bools reads an object of booleans.
func bools(v jsontext.Value) (list map[string]bool, ok bool) {
	if v.Kind() != '{' {
		return nil, false
	}
	d := jsontext.NewDecoder(bytes.NewReader(v))

	_, _ = d.ReadToken() // Form.Parse checked it
	list = map[string]bool{}
	for d.PeekKind() == '"' {
		member, err := d.ReadToken()
		if err != nil {
			return nil, false
		}
		word := member.String()
		value, err := d.ReadToken()
		if err != nil || value.Kind() != 't' && value.Kind() != 'f' {
			return nil, false
		}
		list[word] = value.Bool()
	}

	return list, true
}
