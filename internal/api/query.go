package api

import (
	"maps"
	"net/url"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
)

// ParseQuery reads a query string as strictly as Parse reads a body: a known name that is
// given twice or differs in case alone is refused. Numbers and booleans are written as in
// JSON.
func (f *Form) ParseQuery(query string, fields Fields) error {
	f.fields, f.body, f.query, f.err = fields, nil, true, nil
	f.values = [MaxFields]jsontext.Value{}
	return f.AddQuery(query)
}

// AddQuery adds the fields of a query string to those of a body, as strings. A field that
// both give is refused.
func (f *Form) AddQuery(query string) error {
	given, err := url.ParseQuery(query)
	if err != nil {
		return bourse.Errorf(bourse.CodeInvalid, "The query string is malformed")
	}

	for _, name := range slices.Sorted(maps.Keys(given)) {
		quoted, err := jsontext.AppendQuote(nil, name)
		if err != nil {
			return bourse.Errorf(bourse.CodeInvalid, "The query string is not UTF-8")
		}
		at, err := f.index(quoted)
		switch {
		case err != nil:
			return err
		case at < 0:
			continue
		case len(given[name]) > 1 || f.values[at] != nil:
			return Invalid(name, "is given twice")
		}
		if f.values[at], err = jsontext.AppendQuote(nil, given[name][0]); err != nil {
			return Invalid(name, "is not UTF-8")
		}
	}
	return nil
}

// scalar returns the raw value of a field that is not a string, or nil.
func (f *Form) scalar(name string) jsontext.Value {
	v := f.value(name)
	if v == nil || !f.query {
		return v
	}
	if bare := jsontext.Value(unquote(v)); bare.IsValid() {
		return bare
	}
	return v
}
