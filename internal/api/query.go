package api

import (
	"maps"
	"net/url"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bourse-exchange/bourse"
)

// ParseQuery reads the parameters of a query string, as strictly as Parse reads
// a body: a known name that comes twice or differs in case alone is refused.
// Numbers and truth values are written as they would be in JSON.
func (r *Request) ParseQuery(query string, fields Fields) error {
	r.fields, r.body, r.query = fields, nil, true
	r.values = [MaxFields]jsontext.Value{}
	given, err := url.ParseQuery(query)
	if err != nil {
		return bourse.Errorf(bourse.CodeInvalid, "The query string is malformed")
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		quoted, err := jsontext.AppendQuote(nil, name)
		if err != nil {
			return bourse.Errorf(bourse.CodeInvalid, "The query string is not UTF-8")
		}
		at, err := r.index(quoted)
		switch {
		case err != nil:
			return err
		case at < 0:
			continue
		case len(given[name]) > 1:
			return Invalid(name, "is given twice")
		}
		if r.values[at], err = jsontext.AppendQuote(nil, given[name][0]); err != nil {
			return Invalid(name, "is not UTF-8")
		}
	}
	return nil
}

// scalar returns the raw value of a field that is no text, or nil.
func (r *Request) scalar(name string) jsontext.Value {
	v := r.value(name)
	if v == nil || !r.query {
		return v
	}
	if bare := jsontext.Value(unquote(v)); bare.IsValid() {
		return bare
	}
	return v
}
