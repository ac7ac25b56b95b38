package accountv2_test

import (
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/bourse-exchange/bourse/internal/describe"
)

var validator = sync.OnceValues(describe.NewValidator)

// valid validates an answer, and the request if it succeeded, against the description.
func (e *exchange) valid(what, body string, got *httptest.ResponseRecorder) {
	e.Helper()
	v, err := validator()
	if err != nil {
		e.Fatal(err)
	}
	method, path, _ := strings.Cut(what, " ")
	if err := v.Exchange(method, "/account/v2"+path, []byte(body), got.Code, got.Body.Bytes()); err != nil {
		e.Errorf("%s %s: %d %s: %v", what, body, got.Code, got.Body, err)
	}
}
