package api

import (
	"errors"
	"net/http"
	"slices"

	"github.com/bourse-exchange/bourse"
	"github.com/bourse-exchange/bourse/internal/account"
	"github.com/bourse-exchange/bourse/internal/api/codes"
	"github.com/bourse-exchange/bourse/internal/wire"
)

// v1 is the dialect of the V1 interfaces: POST or GET with a JSON object, or GET with a
// query string if no key is needed. Every answer is a JSON object with success; a request
// that is taken has status 200.
var v1 = &Dialect{
	SecretInside: true, Secret: secretV1, NoSecret: Missing("api_key"), Begin: beginV1, Fail: failV1,
}

// statusesV1 are the statuses of requests that are not taken.
var statusesV1 = map[*bourse.Error]int{
	ErrNoEndpoint: http.StatusNotFound,
	ErrMethod:     http.StatusMethodNotAllowed,
	ErrTooLong:    http.StatusRequestEntityTooLarge,
	ErrBrokenOff:  http.StatusBadRequest,
	ErrLeft:       http.StatusBadRequest,
	ErrInternal:   http.StatusInternalServerError,
}

// Handle registers the endpoints of a V1 interface below a prefix.
func (s *Server) Handle(mux *http.ServeMux, prefix string, endpoints []Endpoint) {
	for i := range endpoints {
		e := &endpoints[i]
		if e.takesKey() {
			e.Fields = slices.Concat(Fields{"api_key"}, e.Fields)
		}
		mux.Handle(prefix+e.Path, s.Path(v1, e.Path, map[string]*Endpoint{http.MethodGet: e, http.MethodPost: e}))
	}
}

// HandlePages registers the endpoints of a V1 interface for pages below a prefix: by POST
// alone, with a session's secret in place of the key. secret returns it.
func (s *Server) HandlePages(mux *http.ServeMux, prefix string, secret SecretOf, endpoints []Endpoint) {
	forPages := &Dialect{Secret: secret, NoSecret: ErrNoSession, Begin: beginV1, Fail: failV1}
	for i := range endpoints {
		if e := &endpoints[i]; !e.KeyOnly {
			mux.Handle(prefix+e.Path, s.Path(forPages, prefix+e.Path, map[string]*Endpoint{http.MethodPost: e}))
		}
	}
}

// secretV1 returns the field api_key or, without it, the key in the header Authorization.
// Programs that send that header for another interface go on as before. A query string has
// no key: addresses are logged.
func secretV1(c *Call) (account.Secret, bool, error) {
	if !c.query && c.Has("api_key") {
		secret := c.Text("api_key")
		return account.Secret(secret), true, c.Err()
	}
	secret, _, ok := Bearer(c.HTTP.Header)
	return secret, ok, nil
}

func beginV1(out *wire.Writer) {
	out.Object()
	out.Bool("success", true)
}

// SucceedV1 returns the body of a successful answer with fields, outside of a request.
func SucceedV1(fields func(*wire.Writer)) []byte {
	out := wire.NewWriter(nil)
	beginV1(out)
	fields(out)
	out.EndObject()
	return out.Bytes()
}

// FailV1 returns the body for an error that is known, outside of a request.
func FailV1(err error) []byte {
	out := wire.NewWriter(nil)
	writeErrorV1(out, Known(err))
	out.EndObject()
	return out.Bytes()
}

// writeErrorV1 begins the object of a failure.
func writeErrorV1(out *wire.Writer, e *Error) {
	out.Object()
	out.Bool("success", false)
	out.Text("error", e.Message)
	out.Word("code", string(e.Code))
}

func failV1(c *Call, err error) int {
	e := Known(err)
	if e == nil {
		return 0
	}

	writeErrorV1(c.Out, e)
	var factor *account.FactorError
	if errors.As(err, &factor) {
		c.Out.Bool("need_2fa", true)
		c.Out.Word("provider_2fa", string(factor.Provider))
	}
	c.Out.EndObject()

	if e.Code == codes.RateLimit {
		c.RetryLater(err)
		return http.StatusTooManyRequests
	}
	var known *bourse.Error
	if errors.As(err, &known) && statusesV1[known] != 0 {
		return statusesV1[known]
	}
	return http.StatusOK
}

// Missing returns the handler of paths that V1 does not have.
func (s *Server) Missing() http.Handler { return s.Path(v1, "/", nil) }
