package describe

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// restV2Files are the documents of REST V2, whose operations are a method on a path.
var restV2Files = []string{accountFile, wallet2File, webFile, pagesFile, operatorFile}

// operation is a method on a path of REST V2.
type operation struct {
	method string
	// segments are those of the path; a {name} matches any.
	segments []string
	// request is nil for a method without a body, answer for one that is no JSON.
	request, answer, failure *jsonschema.Schema
}

// methods are the methods of operations, as OpenAPI names them.
var methods = []string{"get", "post", "put", "patch", "delete"}

func (v *Validator) addRestV2(file string) error {
	doc, c, err := open(file)
	if err != nil {
		return err
	}

	// body compiles the schema that a part of an operation refers to; nil if its body is no JSON.
	body := func(part document) (*jsonschema.Schema, error) {
		at := strings.Split(strings.TrimPrefix(part.text("$ref"), "#/"), "/")
		if doc.at(slices.Concat(at, jsonBody)...) == nil {
			return nil, nil
		}
		return compile(c, file, at, jsonBody)
	}

	for path := range doc.at("paths") {
		for _, method := range methods {
			described := doc.at("paths", path, method)
			if described == nil {
				continue
			}

			o := operation{method: strings.ToUpper(method), segments: strings.Split(doc.prefix()+path, "/")}
			if part := described.at("requestBody"); part != nil {
				if o.request, err = body(part); err != nil {
					return err
				}
			}

			if o.answer, err = body(described.at("responses", "200")); err != nil {
				return err
			}
			if o.failure, err = body(described.at("responses", "4XX")); err != nil {
				return err
			}

			v.operations = append(v.operations, o)
		}
	}
	return nil
}

// Exchange validates an accepted request of REST V2 and its answer. A refused request may
// be anything; only its answer is validated.
func (v *Validator) Exchange(method, path string, request []byte, status int, answer []byte) error {
	o := v.operation(method, path)
	if o == nil {
		return fmt.Errorf("%w: %s %s", ErrUnknown, method, path)
	}

	if status == http.StatusOK && o.answer == nil {
		return nil
	}

	given, err := parse(answer)
	if err != nil {
		return err
	}

	if status != http.StatusOK {
		return o.failure.Validate(given)
	}
	if err := o.answer.Validate(given); err != nil || o.request == nil || len(request) == 0 {
		return err
	}

	asked, err := parse(request)
	if err != nil {
		return err
	}
	return o.request.Validate(asked)
}

// operation returns the operation of a path; one without placeholders takes precedence.
func (v *Validator) operation(method, path string) *operation {
	path, _, _ = strings.Cut(path, "?")
	segments := strings.Split(path, "/")
	var found *operation
	for i := range v.operations {
		o := &v.operations[i]
		if o.method != method || len(o.segments) != len(segments) {
			continue
		}

		exact, fits := true, true
		for j, s := range o.segments {
			exact = exact && s == segments[j]
			fits = fits && (s == segments[j] || strings.HasPrefix(s, "{"))
		}

		if exact {
			return o
		}
		if fits {
			found = o
		}
	}
	return found
}
