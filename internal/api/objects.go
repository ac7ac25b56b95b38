package api

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Bools returns a field that is an object of booleans; nil if it is absent.
func (f *Form) Bools(name string) map[string]bool {
	list := map[string]bool{}
	if !f.object(name, "must be an object of true and false", func(word string, v jsontext.Value) bool {
		list[word] = v.Kind() == 't'
		return v.Kind() == 't' || v.Kind() == 'f'
	}) {
		return nil
	}
	return list
}

// Counts returns a field that is an object of at most most integers from 0 to 2^63-1; nil
// if it is absent.
func (f *Form) Counts(name string, most int) map[string]uint64 {
	list := map[string]uint64{}
	why := "must be an object of at most " + strconv.Itoa(most) + " integers from 0 to 9223372036854775807"
	if !f.object(name, why, func(word string, v jsontext.Value) bool {
		n, err := strconv.ParseUint(string(v), 10, 63)
		list[word] = n
		return err == nil && len(list) <= most
	}) {
		return nil
	}
	return list
}

// Object parses a field that is an object with fields of its own into inner, and reports
// whether there is one. It reports false after an error.
func (f *Form) Object(name string, inner *Form, fields Fields) bool {
	v := f.value(name)
	if v == nil {
		return false
	}

	err := inner.Parse(v, fields)
	if err == ErrNotObject { //nolint:errorlint // Parse returns it as it is
		err = Invalid(name, "must be an object")
	}
	f.Fail(err)
	return err == nil
}

// Objects returns a field that is an array of at most most objects, each to be parsed into a
// Form; nil if it is absent or after an error.
func (f *Form) Objects(name string, most int) [][]byte {
	v := f.value(name)
	if v == nil {
		return nil
	}

	list, ok := objects(v, most)
	if !ok {
		f.Fail(Invalid(name, "must be an array of at most "+strconv.Itoa(most)+" objects"))
		return nil
	}
	return list
}

// objects returns the elements of an array of at most most objects.
func objects(v jsontext.Value, most int) (list [][]byte, ok bool) {
	if v.Kind() != '[' {
		return nil, false
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(v))
	_, _ = d.ReadToken() // Form.Parse checked it

	for d.PeekKind() != ']' {
		e, err := d.ReadValue()
		if err != nil || e.Kind() != '{' || len(list) == most {
			return nil, false
		}
		end := d.InputOffset()
		list = append(list, v[end-int64(len(e)):end])
	}
	return list, true
}

// object passes the members of a field to take. It reports false if the field is absent or
// no object, or take refuses a member; the latter two fail with why.
func (f *Form) object(name, why string, take func(word string, v jsontext.Value) bool) bool {
	v := f.value(name)
	if v == nil {
		return false
	}
	if !members(v, take) {
		f.Fail(Invalid(name, why))
		return false
	}
	return true
}

// members passes the members of an object to take, until it refuses one.
func members(v jsontext.Value, take func(word string, v jsontext.Value) bool) bool {
	if v.Kind() != '{' {
		return false
	}

	d := jsontext.NewDecoder(bytes.NewReader(v))
	_, _ = d.ReadToken() // Form.Parse checked it
	for d.PeekKind() == '"' {
		member, err := d.ReadToken()
		if err != nil {
			return false
		}
		word := member.String()
		value, err := d.ReadValue()
		if err != nil || !take(word, value) {
			return false
		}
	}
	return true
}
